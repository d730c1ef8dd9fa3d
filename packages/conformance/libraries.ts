import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import * as kinds from './kinds.ts'
import { sharedEntry } from './shared-records.ts'
import { bodyOf, descriptionsOf, expectAnswer, type Stage } from './stage.ts'
import type { Statement } from './statement.ts'
import { headOf, namesIn } from './transfer.ts'

const listed = async ({ user }: Stage, type?: string): Promise<{ id: string; owner: string }[]> =>
  bodyOf(await user.get('/api2/repos/', { type }))

const trashOf = async ({ user }: Stage, library: string, scan_stat?: string) =>
  bodyOf(await user.get(`/api/v2.1/repos/${library}/trash/`, { scan_stat }))

const remove = async ({ user }: Stage, library: string, p: string) =>
  expectAnswer(await user.delete(`/api2/repos/${library}/file/`, { query: { p } }), 'success')

const EMPTY_TRASH = { scan_stat: null, data: [], more: false }

/** The endpoints of section 4.1. */
export const libraryStatements: Statement[] = [
  {
    id: '4.1/default-repo-get',
    statement: '`GET /api2/default-repo/` returns `{repo_id, exists}`',
    note: '`repo_id` is empty if there is none; the reference omits it.',
    async run(stage) {
      const user = await stage.signUp()
      const before = bodyOf(await user.get('/api2/default-repo/'))
      assert.equal(before.exists, false)
      if (stage.checksNotes) assert.equal(before.repo_id, '')
      const { repo_id } = bodyOf(await user.post('/api2/default-repo/'))
      expectAnswer(await user.get('/api2/default-repo/'), { repo_id, exists: true })
    },
  },
  {
    id: '4.1/default-repo-post',
    statement: '`POST /api2/default-repo/` returns `{repo_id, exists}`',
    note: 'The library is always stored as the default; the reference does not store it if there is no template.',
    async run(stage) {
      const user = await stage.signUp()
      const { repo_id } = bodyOf(await user.post('/api2/default-repo/'))
      expectAnswer(await user.post('/api2/default-repo/'), { repo_id, exists: true })
      assert.deepEqual(await namesIn(user, repo_id), [])
    },
  },
  {
    id: '4.1/list',
    statement: '`GET /api2/repos/` returns an array of all libraries the caller may read',
    async run(stage) {
      const [first, second] = [await stage.library(), await stage.library()]
      const theirs = await stage.other.createLibrary()
      const ids = (await listed(stage)).map(({ id }) => id)
      assert.ok(ids.includes(first) && ids.includes(second))
      assert.ok(!ids.includes(theirs))
    },
  },
  {
    id: '4.1/list-mine',
    statement: '`type=mine` lists the libraries the caller owns',
    async run(stage) {
      const library = await stage.library()
      const mine = await listed(stage, 'mine')
      assert.ok(mine.some(({ id }) => id === library))
      assert.ok(mine.every(({ owner }) => owner === stage.user.email))
    },
  },
  {
    id: '4.1/list-shared',
    statement: '`type=shared` lists the libraries shared with the caller',
    async run(stage) {
      const { id } = await sharedEntry(stage)
      const mine = await stage.library()
      const ids = (await listed(stage, 'shared')).map((entry) => entry.id)
      assert.ok(ids.includes(String(id)) && !ids.includes(mine))
    },
  },
  {
    id: '4.1/list-group',
    statement: '`type=group` lists the libraries of the caller’s groups',
    async run(stage) {
      const { user, other } = stage
      const group = bodyOf(
        await other.post('/api/v2.1/groups/', { form: { name: `Group ${randomUUID()}` } }),
        201,
      )
      const members = `/api/v2.1/groups/${group.id}/members/`
      bodyOf(await other.post(members, { form: { email: user.email } }), 201)
      const made = bodyOf(
        await other.post(`/api/v2.1/groups/${group.id}/libraries/`, { form: { repo_name: 'Ours' } }),
      )
      const ids = (await listed(stage, 'group')).map(({ id }) => id)
      assert.ok(ids.includes(made.repo_id), 'the library of the group is not listed')
    },
  },
  {
    id: '4.1/list-org',
    statement: '`type=org` lists the libraries shared with everyone',
    async run(stage) {
      const admin = await stage.admin()
      const id = await admin.createLibrary('For all')
      const query = { share_type: 'public', permission: 'r' }
      expectAnswer(await admin.put(`/api2/shared-repos/${id}/`, { query }), 'success')
      const ids = (await listed(stage, 'org')).map((entry) => entry.id)
      assert.ok(ids.includes(id), 'the shared library is not listed')
    },
  },
  {
    id: '4.1/create-v21',
    statement: '`POST /api/v2.1/repos/` with the form `repo_name` returns 200 and the library',
    note: 'The reference has no such call any more.',
    async run({ user }) {
      const made = bodyOf(await user.post('/api/v2.1/repos/', { form: { repo_name: 'Plans' } }))
      assert.equal(made.repo_name, 'Plans')
      assert.equal(bodyOf(await user.get(`/api2/repos/${made.repo_id}/`)).name, 'Plans')
    },
  },
  {
    id: '4.1/delete',
    statement: '`DELETE /api2/repos/{repo-id}/` returns the string `success`',
    async run(stage) {
      const library = await stage.library()
      expectAnswer(await stage.user.delete(`/api2/repos/${library}/`), 'success')
      assert.equal((await stage.user.get(`/api2/repos/${library}/`)).status, 404)
    },
  },
  {
    id: '4.1/rename',
    statement:
      '`POST /api2/repos/{repo-id}/?op=rename` with the form `repo_name` returns the string `success`',
    async run(stage) {
      const library = await stage.library()
      const options = { query: { op: 'rename' }, form: { repo_name: 'Drawings' } }
      expectAnswer(await stage.user.post(`/api2/repos/${library}/`, options), 'success')
      assert.equal(bodyOf(await stage.user.get(`/api2/repos/${library}/`)).name, 'Drawings')
    },
  },
  {
    id: '4.1/owner-put',
    statement: '`PUT /api2/repos/{repo-id}/owner/` with the form `owner` returns `{success: true}`',
    async run(stage) {
      const library = await stage.library()
      const form = { owner: stage.other.email }
      expectAnswer(await stage.user.put(`/api2/repos/${library}/owner/`, { form }), { success: true })
      expectAnswer(await stage.other.get(`/api2/repos/${library}/owner/`), form)
    },
  },
  {
    id: '4.1/owner-get',
    statement: '`GET /api2/repos/{repo-id}/owner/` returns `{owner}`',
    async run(stage) {
      const reply = await stage.user.get(`/api2/repos/${await stage.library()}/owner/`)
      expectAnswer(reply, { owner: stage.user.email })
    },
  },
  {
    id: '4.1/detail',
    statement: '`GET /api2/repos/{repo-id}/` returns the library detail',
    async run(stage) {
      const library = await stage.library({ '/a.txt': 'hello' })
      const detail = bodyOf(await stage.user.get(`/api2/repos/${library}/`))
      assert.deepEqual([detail.id, detail.size, detail.file_count], [library, 5, 1])
    },
  },
  {
    id: '4.1/history',
    statement: '`GET /api/v2.1/repos/{repo_id}/history/` returns `{data, more}`, `more` being a boolean',
    note: 'At most 1,000 commits a page; the reference has no limit.',
    async run(stage) {
      const library = await stage.library({ '/a.txt': 'hello' })
      const page = bodyOf(await stage.user.get(`/api/v2.1/repos/${library}/history/`))
      assert.deepEqual([Object.keys(page).toSorted(), page.more], [['data', 'more'], false])
      assert.equal(page.data[0].commit_id, await headOf(stage.user, library))
      if (!stage.checksNotes) return
      assert.deepEqual(await descriptionsOf(stage, library), ['Added "a.txt".', 'Created library'])
      const first = bodyOf(await stage.user.get(`/api/v2.1/repos/${library}/history/`, { per_page: 1 }))
      assert.deepEqual([first.data.length, first.more], [1, true])
    },
  },
  {
    id: '4.1/history-limit-get',
    statement: '`GET /api2/repos/{repo-id}/history-limit/` returns `{keep_days}`',
    async run(stage) {
      const reply = await stage.user.get(`/api2/repos/${await stage.library()}/history-limit/`)
      assert.ok(kinds.integer.holds(bodyOf(reply).keep_days), reply.text)
      if (stage.checksNotes) expectAnswer(reply, { keep_days: -1 })
    },
  },
  {
    id: '4.1/history-limit-put',
    statement: '`PUT /api2/repos/{repo-id}/history-limit/` with the form `keep_days` returns `{keep_days}`',
    note: 'Negative keeps everything, 0 nothing.',
    async run(stage) {
      const path = `/api2/repos/${await stage.library()}/history-limit/`
      for (const keep_days of stage.checksNotes ? [7, 0, -1] : [7]) {
        expectAnswer(await stage.user.put(path, { form: { keep_days } }), { keep_days })
        expectAnswer(await stage.user.get(path), { keep_days })
      }
    },
  },
  {
    id: '4.1/trash',
    statement: '`GET /api/v2.1/repos/{repo_id}/trash/` returns `{scan_stat, data, more}`',
    note: 'A deletion is listed as soon as it is acknowledged; in the reference later.',
    async run(stage) {
      const library = await stage.library({ '/a.txt': 'hello' })
      assert.deepEqual(await trashOf(stage, library), EMPTY_TRASH)
      await remove(stage, library, '/a.txt')
      const { data, ...rest } = await trashOf(stage, library)
      assert.deepEqual(rest, { scan_stat: null, more: false })
      assert.deepEqual([data.length, data[0].obj_name], [1, 'a.txt'])
    },
  },
  {
    id: '4.1/trash-scan-stat',
    statement: '`scan_stat` of one response requests the next page of the trash',
    async run(stage) {
      const names = Array.from({ length: 120 }, (_, index) => `${index}.txt`)
      const library = await stage.library(Object.fromEntries(names.map((name) => [`/${name}`, name])))
      for (const name of names) await remove(stage, library, `/${name}`)
      const found: string[] = []
      let parts = 0
      for (let cursor: string | undefined, more = true; more; parts += 1) {
        const page = await trashOf(stage, library, cursor)
        found.push(...page.data.map((item: { obj_name: string }) => item.obj_name))
        assert.equal(page.more, page.scan_stat !== null)
        ;({ more } = page)
        cursor = page.scan_stat ?? undefined
      }
      assert.ok(parts > 1, 'it came in one part')
      assert.deepEqual(found.toSorted(), names.toSorted())
    },
  },
  {
    id: '4.1/trash-empty',
    statement: '`DELETE /api/v2.1/repos/{repo_id}/trash/` returns `{success: true}`',
    async run(stage) {
      const reply = await stage.user.delete(`/api/v2.1/repos/${await stage.library()}/trash/`)
      expectAnswer(reply, { success: true })
    },
  },
  {
    id: '4.1/trash-emptied',
    statement: 'An emptied trash returns `{scan_stat: null, data: [], more: false}`',
    note: 'Later deletions are listed, even within the same second.',
    async run(stage) {
      const library = await stage.library({ '/a.txt': 'hello', '/b.txt': 'hello' })
      await remove(stage, library, '/a.txt')
      await stage.user.delete(`/api/v2.1/repos/${library}/trash/`)
      assert.deepEqual(await trashOf(stage, library), EMPTY_TRASH)
      await remove(stage, library, '/b.txt')
      assert.equal((await trashOf(stage, library)).data.length, 1)
    },
  },
  {
    id: '4.1/commit',
    statement: '`GET /api/v2.1/repos/{repo_id}/commits/{commit_id}/` returns the commit and its changes',
    async run(stage) {
      const library = await stage.library({ '/a.txt': 'hello' })
      const head = await headOf(stage.user, library)
      const detail = bodyOf(await stage.user.get(`/api/v2.1/repos/${library}/commits/${head}/`))
      assert.deepEqual(Object.keys(detail).toSorted(), ['commit_diffs', 'commit_info'])
      assert.equal(detail.commit_info.creator_email, stage.user.email)
      assert.ok(kinds.list.holds(detail.commit_diffs))
    },
  },
]
