import assert from 'node:assert/strict'
import type { Client } from './client.ts'
import { fieldCases } from './fields.ts'
import * as kinds from './kinds.ts'
import { bodyOf, type Stage } from './stage.ts'
import type { Case, Statement } from './statement.ts'
import { uploadFile } from './transfer.ts'

interface Diff {
  readonly op_type: string
  readonly path: string
  readonly new_path: string
}

/** The description of the newest commit of a library. */
async function newestCommit(user: Client, library: string) {
  const { data } = bodyOf(await user.get(`/api/v2.1/repos/${library}/history/`))
  return bodyOf(await user.get(`/api/v2.1/repos/${library}/commits/${data[0].commit_id}/`))
}

/** Initial files and folders, a change, and the description of its commit. */
type Change = [op_type: string, change: (stage: Stage, library: string) => Promise<unknown>, path: string]

const remove =
  (path: string): Change[1] =>
  async (stage, library) =>
    stage.user.delete(`/api2/repos/${library}/file/`, { query: { p: path } })

const changes: Change[] = [
  ['new', ({ user }, library) => uploadFile(user, library, '/b.txt', 'b'), '/b.txt'],
  ['modified', ({ user }, library) => uploadFile(user, library, '/a.txt', 'b', { replace: true }), '/a.txt'],
  ['removed', remove('/a.txt'), '/a.txt'],
  ['newdir', ({ user }, library) => makeFolder(user, library, '/pics'), '/pics'],
  ['deldir', remove('/docs'), '/docs'],
]

const makeFolder = (user: Client, library: string, path: string) =>
  user.post(`/api2/repos/${library}/dir/`, { query: { p: path }, form: { operation: 'mkdir' } })

const withContent = (stage: Stage) => stage.library({ '/a.txt': 'hello', '/docs/c.txt': 'hello' })

async function renamed(stage: Stage) {
  const library = await withContent(stage)
  const form = { operation: 'rename', newname: 'b.txt' }
  await stage.user.post(`/api2/repos/${library}/file/`, { query: { p: '/a.txt' }, form })
  return newestCommit(stage.user, library)
}

/** Sections 2.12 to 2.14. */
export const historyRecordStatements: Statement[] = [
  ...fieldCases({
    section: '2.12',
    name: 'a history entry',
    fields: {
      commit_id: kinds.objectId,
      time: kinds.isoTime,
      description: kinds.filled,
      creator: kinds.account,
    },
    more: {
      fields: ['email', 'name', 'contact_email', 'client_version', 'device_name', 'second_parent_id', 'tags'],
      why: 'newer releases of the reference send these and no `creator`.',
    },
    async sample(stage) {
      const library = await stage.library({ '/a.txt': 'hello' })
      return bodyOf(await stage.user.get(`/api/v2.1/repos/${library}/history/`)).data[0]
    },
  }),
  ...fieldCases({
    section: '2.13',
    name: 'a trash item',
    fields: {
      commit_id: kinds.objectId,
      scan_stat: kinds.orNull(kinds.text),
      obj_id: kinds.objectId,
      deleted_time: kinds.isoTime,
      obj_name: kinds.here(kinds.text, 'a.txt'),
      is_dir: kinds.here(kinds.flag, false),
      parent_dir: kinds.here(kinds.text, '/'),
      size: kinds.here(kinds.integer, 5),
    },
    notes: {
      size: '0 for a folder; the reference sends an empty string.',
      obj_id: 'Empty for a folder, as in the reference.',
    },
    async sample(stage) {
      const library = await withContent(stage)
      await remove('/a.txt')(stage, library)
      return bodyOf(await stage.user.get(`/api/v2.1/repos/${library}/trash/`)).data[0]
    },
  }),
  {
    id: '2.13/folder',
    statement: 'A deleted folder is one trash item whose `is_dir` is true',
    async run(stage) {
      const library = await withContent(stage)
      await remove('/docs')(stage, library)
      const { data } = bodyOf(await stage.user.get(`/api/v2.1/repos/${library}/trash/`))
      assert.deepEqual([data.length, data[0].obj_name, data[0].is_dir, data[0].size], [1, 'docs', true, 0])
    },
  },
  ...fieldCases({
    section: '2.14',
    name: 'a commit info',
    fields: {
      description: kinds.filled,
      creator_name: kinds.text,
      creator_email: kinds.account,
      creator_contact_email: kinds.text,
      device_name: kinds.orNull(kinds.text),
      time: kinds.isoTime,
    },
    notes: { device_name: 'Null unless the commit came from a sync client, as in the reference.' },
    sample: async (stage) => (await renamed(stage)).commit_info,
  }),
  ...fieldCases({
    section: '2.14',
    name: 'a commit diff',
    fields: { op_type: kinds.filled, path: kinds.filled, new_path: kinds.text },
    sample: async (stage) => (await renamed(stage)).commit_diffs[0],
  }),
  ...changes.map(
    ([op_type, change, path]): Case => ({
      id: `2.14/${op_type}`,
      statement: `\`op_type\` may be \`${op_type}\`, and \`new_path\` is then empty`,
      async run(stage) {
        const library = await withContent(stage)
        await change(stage, library)
        const expected: Diff[] = [{ op_type, path, new_path: '' }]
        assert.deepEqual((await newestCommit(stage.user, library)).commit_diffs, expected)
      },
    }),
  ),
  {
    id: '2.14/renamed',
    statement: '`op_type` may be `renamed`, and `new_path` is then the new path',
    note: 'For folders and for moves too; the reference has an empty `op_type` for a folder.',
    async run(stage) {
      const expected: Diff[] = [{ op_type: 'renamed', path: '/a.txt', new_path: '/b.txt' }]
      assert.deepEqual((await renamed(stage)).commit_diffs, expected)
    },
  },
]
