import assert from 'node:assert/strict'
import { fieldCases } from './fields.ts'
import * as kinds from './kinds.ts'
import { bodyOf, type Stage } from './stage.ts'
import type { Statement } from './statement.ts'
import { postForm, uploadFile, uploadLink } from './transfer.ts'

async function copied({ user }: Stage, library: string, path: string, folder: string) {
  const form = { operation: 'copy', dst_repo: library, dst_dir: folder }
  return bodyOf(await user.post(`/api2/repos/${library}/file/`, { query: { p: path }, form }))
}

/** Sections 2.5 to 2.8. */
export const fileRecordStatements: Statement[] = [
  ...fieldCases({
    section: '2.5',
    name: 'a file detail',
    fields: {
      name: kinds.here(kinds.text, 'a.txt'),
      id: kinds.objectId,
      type: kinds.exactly('file'),
      size: kinds.bytes,
      permission: kinds.here(kinds.text, 'rw'),
      starred: kinds.flag,
      mtime: kinds.unixTime,
      last_modified: kinds.isoTime,
      upload_time: kinds.isoTime,
      uploader_name: kinds.text,
      uploader_email: kinds.account,
      uploader_contact_email: kinds.text,
      last_modifier_name: kinds.text,
      last_modifier_email: kinds.account,
      last_modifier_contact_email: kinds.text,
    },
    notes: {
      starred: 'The caller’s own star; the reference returns anybody’s.',
      upload_time: 'Newer releases of the reference omit it.',
      uploader_name: 'Newer releases of the reference omit it.',
      uploader_email: 'Newer releases of the reference omit it.',
      uploader_contact_email: 'Newer releases of the reference omit it.',
    },
    more: { fields: ['last_modifier_avatar', 'comment_total', 'can_edit'], why: 'mobile clients read them.' },
    async sample(stage) {
      const id = await stage.library({ '/a.txt': 'hello' })
      return bodyOf(await stage.user.get(`/api2/repos/${id}/file/detail/`, { p: '/a.txt' }))
    },
  }),
  ...fieldCases({
    section: '2.6',
    name: 'a created file',
    fields: {
      is_locked: kinds.flag,
      mtime: kinds.isoTime,
      obj_id: kinds.objectId,
      obj_name: kinds.here(kinds.text, 'note.txt'),
      parent_dir: kinds.here(kinds.text, '/docs'),
      repo_id: kinds.libraryId,
      size: kinds.bytes,
      type: kinds.exactly('file'),
    },
    more: { fields: ['can_preview', 'can_edit'], why: 'web clients read them.' },
    async sample(stage) {
      const id = await stage.library({ '/docs/a.txt': 'hello' })
      const query = { p: '/docs/note.txt' }
      const form = { operation: 'create' }
      return bodyOf(await stage.user.post(`/api/v2.1/repos/${id}/file/`, { query, form }))
    },
  }),
  ...fieldCases({
    section: '2.7',
    name: 'a copied file',
    fields: {
      repo_id: kinds.libraryId,
      parent_dir: kinds.here(kinds.text, '/docs/'),
      obj_name: kinds.here(kinds.text, 'a.txt'),
    },
    async sample(stage) {
      const id = await stage.library({ '/a.txt': 'hello', '/docs/b.txt': 'hello' })
      return copied(stage, id, '/a.txt', '/docs')
    },
  }),
  {
    id: '2.7/taken-file-name',
    statement: 'A file whose name is taken gets ` (n)` before its extension',
    note: '`.bashrc` becomes `.bashrc (1)`, so that it stays hidden.',
    async run(stage) {
      const id = await stage.library({ '/a.txt': 'hello' })
      const names = [
        (await copied(stage, id, '/a.txt', '/')).obj_name,
        (await copied(stage, id, '/a.txt', '/')).obj_name,
      ]
      assert.deepEqual(names, ['a (1).txt', 'a (2).txt'])
    },
  },
  {
    id: '2.7/taken-folder-name',
    statement: 'A folder whose name is taken gets ` (n)`',
    note: 'A dot in its name counts as the start of an extension, as in the reference: `v1 (1).2`.',
    async run(stage) {
      const id = await stage.library({ '/docs/a.txt': 'a', '/v1.2/a.txt': 'a' })
      assert.equal((await copied(stage, id, '/docs', '/')).obj_name, 'docs (1)')
      assert.equal((await copied(stage, id, '/v1.2', '/')).obj_name, 'v1 (1).2')
    },
  },
  ...fieldCases({
    section: '2.8',
    name: 'an item of an upload response',
    fields: {
      name: kinds.here(kinds.text, 'a.txt'),
      id: kinds.objectId,
      size: kinds.here(kinds.integer, 5),
    },
    async sample(stage) {
      return { ...(await uploadFile(stage.user, await stage.library(), '/a.txt', 'hello')) }
    },
  }),
  {
    id: '2.8/stored-name',
    statement: '`name` of an item is the name the file was stored under',
    async run(stage) {
      const link = await uploadLink(stage.user, await stage.library({ '/a.txt': 'hello' }))
      const parts = [['parent_dir', '/'] as const, { filename: 'a.txt', bytes: 'again' }]
      assert.equal(bodyOf(await postForm(link, parts, { query: 'ret-json=1' }))[0].name, 'a (1).txt')
    },
  },
]
