import assert from 'node:assert/strict'
import { startArchive } from './archive-calls.ts'
import { fieldCases } from './fields.ts'
import * as kinds from './kinds.ts'
import { linkRecord } from './links.ts'
import { bodyOf } from './stage.ts'
import type { Statement } from './statement.ts'
import { batchOf, startTask } from './tasks.ts'
import { uploadLink } from './transfer.ts'

/** Section 2 about all records. */
export const conventionStatements: Statement[] = [
  {
    id: '2/ids',
    statement: 'The ids of libraries and tasks, and tokens, are strings',
    async run(stage) {
      const [from, to] = [await stage.library({ '/a.txt': 'hello' }), await stage.library()]
      const task = await startTask(stage.user, 'copy', batchOf(from, ['a.txt'], to))
      const archive = await startArchive(stage.user, from, '/', ['a.txt'])
      for (const id of [from, task, archive, stage.user.token]) assert.ok(kinds.filled.holds(id), String(id))
    },
  },
  {
    id: '2/object-ids',
    statement: 'The ids of objects and commits are 40 hexadecimal digits',
    async run(stage) {
      const library = await stage.library({ '/a.txt': 'hello' })
      const file = bodyOf(await stage.user.get(`/api2/repos/${library}/file/detail/`, { p: '/a.txt' }))
      const { root, head_commit_id } = bodyOf(await stage.user.get(`/api2/repos/${library}/`))
      for (const id of [file.id, root, head_commit_id]) assert.ok(kinds.objectId.holds(id), id)
    },
  },
  {
    id: '2/times',
    statement: 'Times are Unix seconds or ISO 8601 strings with an offset from UTC',
    note: 'Always in UTC; the reference uses the time zone of the server.',
    async run(stage) {
      const library = await stage.library({ '/a.txt': 'hello' })
      const file = bodyOf(await stage.user.get(`/api2/repos/${library}/file/detail/`, { p: '/a.txt' }))
      assert.equal(Date.parse(file.last_modified), file.mtime * 1000)
      const [entry] = bodyOf(await stage.user.get(`/api/v2.1/repos/${library}/history/`)).data
      const { mtime } = bodyOf(await stage.user.get(`/api2/repos/${library}/`))
      assert.equal(Date.parse(entry.time), mtime * 1000)
      const zone = stage.checksNotes ? /\+00:00$/ : /[+-]\d\d:\d\d$|Z$/
      for (const text of [file.last_modified, entry.time]) assert.match(text, zone)
    },
  },
  {
    id: '2/paths',
    statement: 'Paths start with a slash',
    note: 'Also accepted without one.',
    async run(stage) {
      const library = await stage.library({ '/docs/a.txt': 'hello' })
      for (const p of stage.checksNotes ? ['/docs/a.txt', 'docs/a.txt'] : ['/docs/a.txt']) {
        const detail = await stage.user.get(`/api2/repos/${library}/file/detail/`, { p })
        assert.equal(bodyOf(detail).name, 'a.txt')
      }
      const query = { p: '/docs/b.txt' }
      const made = await stage.user.post(`/api/v2.1/repos/${library}/file/`, {
        query,
        form: { operation: 'create' },
      })
      assert.equal(bodyOf(made).parent_dir, '/docs')
    },
  },
  {
    id: '2/folder-paths',
    statement: 'The path of a folder may end with a slash',
    async run(stage) {
      const library = await stage.library({ '/docs/a.txt': 'hello' })
      for (const folder of ['/docs', '/docs/']) {
        assert.ok(kinds.url.holds(await uploadLink(stage.user, library, folder)), folder)
      }
    },
  },
]

const bothLinks = {
  view_count: kinds.integer,
  name: kinds.filled,
  creator_name: kinds.filled,
  create_by: kinds.account,
  token: kinds.filled,
  create_time: kinds.plainOffsetTime,
  path: kinds.path,
}

/** Section 2.16. */
export const sharedLinkRecordStatements: Statement[] = [
  ...fieldCases({
    section: '2.16',
    name: 'a download link',
    fields: {
      ...bothLinks,
      share_type: kinds.here(kinds.shareType, 'f'),
      size: kinds.here(kinds.sizeText, '5'),
    },
    sample: (stage) => linkRecord(stage, 'download', '/docs/a.txt'),
  }),
  {
    id: '2.16/download-link-of-folder',
    statement: '`share_type` of a download link of a folder is `d`, and its `size` is empty',
    async run(stage) {
      const { share_type, size } = await linkRecord(stage, 'download')
      assert.deepEqual([share_type, size], ['d', ''])
    },
  },
  ...fieldCases({
    section: '2.16',
    name: 'an upload link',
    fields: bothLinks,
    sample: (stage) => linkRecord(stage, 'upload'),
  }),
]

/** Section 2.17. */
export const smallRecordStatements: Statement[] = [
  ...fieldCases({
    section: '2.17',
    name: 'a default library',
    fields: { repo_id: kinds.libraryId, exists: kinds.here(kinds.flag, true) },
    notes: { repo_id: 'Empty if there is none; the reference omits it.' },
    sample: async ({ user }) => bodyOf(await user.post('/api2/default-repo/')),
  }),
  ...fieldCases({
    section: '2.17',
    name: 'a smart link',
    fields: { smart_link: kinds.url },
    more: { fields: ['smart_link_token', 'name'], why: 'newer releases of the reference send them.' },
    async sample(stage) {
      const repo_id = await stage.library({ '/a.txt': 'hello' })
      const query = { repo_id, path: '/a.txt', is_dir: false }
      return bodyOf(await stage.user.get('/api/v2.1/smart-link/', query))
    },
  }),
  ...fieldCases({
    section: '2.17',
    name: 'a history retention',
    fields: { keep_days: kinds.integer },
    sample: async (stage) =>
      bodyOf(await stage.user.get(`/api2/repos/${await stage.library()}/history-limit/`)),
  }),
  ...fieldCases({
    section: '2.17',
    name: 'a library owner',
    fields: { owner: kinds.account },
    sample: async (stage) => bodyOf(await stage.user.get(`/api2/repos/${await stage.library()}/owner/`)),
  }),
]
