import { randomUUID } from 'node:crypto'
import type { Client, Params } from './client.ts'
import { fieldCases } from './fields.ts'
import * as kinds from './kinds.ts'
import { sharedFieldCases, storeCases } from './shared-records.ts'
import { bodyOf } from './stage.ts'
import type { Statement } from './statement.ts'

/** The form of a client for an encrypted library; `more` is sent along. */
export function encryption(more: Params = {}): Params {
  return {
    name: 'Secret',
    repo_id: randomUUID(),
    magic: 'a1'.repeat(32),
    random_key: 'b2'.repeat(48),
    enc_version: 2,
    ...more,
  }
}

/** Creates a library through the older call and returns the body of the response. */
export async function created(user: Client, form: Params) {
  return bodyOf(await user.post('/api2/repos/', { form }))
}

const newer = 'newer clients read them'

/** Sections 2.1 to 2.4. */
export const libraryRecordStatements: Statement[] = [
  ...fieldCases({
    section: '2.1',
    name: 'an owned library in the list',
    fields: {
      id: kinds.libraryId,
      name: kinds.filled,
      type: kinds.exactly('repo'),
      permission: kinds.here(kinds.text, 'rw'),
      owner: kinds.account,
      owner_name: kinds.text,
      owner_contact_email: kinds.text,
      modifier_email: kinds.account,
      modifier_name: kinds.text,
      modifier_contact_email: kinds.text,
      mtime: kinds.unixTime,
      mtime_relative: kinds.timeElement,
      encrypted: kinds.flag,
      version: kinds.integer,
      head_commit_id: kinds.objectId,
      root: kinds.text,
      salt: kinds.text,
      size: kinds.bytes,
      size_formatted: kinds.size,
      virtual: kinds.flag,
    },
    notes: {
      root: 'Always empty, as in the reference; the detail has it.',
      salt: 'Empty below encryption version 3, as in the reference.',
      size: 'Current at once; the reference updates it later.',
    },
    async sample(stage) {
      const id = await stage.library({ '/a.txt': 'hello' })
      const list = bodyOf(await stage.user.get('/api2/repos/'))
      return list.find((item: { id: string }) => item.id === id)
    },
  }),
  ...sharedFieldCases,
  ...storeCases,
  ...fieldCases({
    section: '2.2',
    name: 'a library detail',
    fields: {
      permission: kinds.here(kinds.text, 'rw'),
      encrypted: kinds.flag,
      mtime: kinds.unixTime,
      owner: kinds.exactly('self'),
      modifier_contact_email: kinds.text,
      id: kinds.libraryId,
      modifier_name: kinds.text,
      size: kinds.bytes,
      modifier_email: kinds.account,
      name: kinds.filled,
      root: kinds.objectId,
      file_count: kinds.integer,
      type: kinds.exactly('repo'),
    },
    more: { fields: ['head_commit_id'], why: 'sync clients compare it.' },
    async sample(stage) {
      const id = await stage.library({ '/a.txt': 'hello' })
      return bodyOf(await stage.user.get(`/api2/repos/${id}/`))
    },
  }),
  ...fieldCases({
    section: '2.2',
    name: 'the detail of an encrypted library',
    fields: {
      magic: kinds.filled,
      enc_version: kinds.integer,
      salt: kinds.text,
      random_key: kinds.filled,
    },
    async sample(stage) {
      const { repo_id } = await created(stage.user, encryption())
      const plain = bodyOf(await stage.user.get(`/api2/repos/${await stage.library()}/`))
      const detail = bodyOf(await stage.user.get(`/api2/repos/${repo_id}/`))
      return Object.fromEntries(Object.entries(detail).filter(([field]) => !(field in plain)))
    },
  }),
  ...fieldCases({
    section: '2.3',
    name: 'a library created in v2.1',
    fields: {
      repo_size: kinds.bytes,
      repo_id: kinds.libraryId,
      encrypted: kinds.flag,
      mtime: kinds.unixTime,
      email: kinds.account,
      repo_name: kinds.filled,
    },
    sample: async ({ user }) => bodyOf(await user.post('/api/v2.1/repos/', { form: { repo_name: 'Plans' } })),
  }),
  ...fieldCases({
    section: '2.4',
    name: 'an encrypted library created in api2',
    fields: {
      email: kinds.account,
      enc_version: kinds.integer,
      encrypted: kinds.exactly(1),
      head_commit_id: kinds.objectId,
      magic: kinds.filled,
      mtime: kinds.unixTime,
      mtime_relative: kinds.timeElement,
      random_key: kinds.filled,
      relay_addr: kinds.filled,
      relay_id: kinds.filled,
      relay_port: kinds.integer,
      repo_desc: kinds.text,
      repo_id: kinds.libraryId,
      repo_name: kinds.filled,
      repo_size: kinds.bytes,
      repo_size_formatted: kinds.size,
      repo_version: kinds.integer,
      salt: kinds.text,
      token: kinds.filled,
    },
    notes: {
      encrypted: 'An empty string for a plain library, as in the reference.',
      relay_addr: 'An unused constant.',
      relay_id: 'An unused constant.',
      relay_port: 'Newer releases of the reference send a string.',
    },
    more: {
      fields: ['permission', 'last_modified', 'pwd_hash', 'pwd_hash_algo', 'pwd_hash_params'],
      why: `${newer}.`,
    },
    sample: ({ user }) => created(user, encryption()),
  }),
]
