import assert from 'node:assert/strict'
import * as kinds from './kinds.ts'
import { bodyOf, expectAnswer, fetched, type Stage } from './stage.ts'
import type { Case } from './statement.ts'
import { namesIn } from './transfer.ts'

const post = ({ user }: Stage, library: string, p: string, form: Record<string, string>) =>
  user.post(`/api2/repos/${library}/file/`, { query: { p }, form })

const put = ({ user }: Stage, library: string, operation: string, p: string) =>
  user.put(`/api2/repos/${library}/file/`, { form: { operation, p } })

/** The endpoints of section 4.2. */
export const fileStatements: Case[] = [
  {
    id: '4.2/download-link',
    statement: '`GET /api2/repos/{repo-id}/file/?p=` returns a JSON string, the download URL',
    async run(stage) {
      const library = await stage.library({ '/docs/a b.txt': 'hello' })
      const reply = await stage.user.get(`/api2/repos/${library}/file/`, { p: '/docs/a b.txt' })
      assert.match(reply.text, /^"http[^"]+"$/)
      assert.equal((await fetched(bodyOf(reply))).text, 'hello')
    },
  },
  {
    id: '4.2/download-link-reuse',
    statement: '`reuse` may be sent along',
    note: 'As in the reference: with `1` the URL works many times, otherwise once.',
    async run(stage) {
      const library = await stage.library({ '/a.txt': 'hello' })
      for (const [reuse, second] of [
        ['1', 200],
        ['0', 403],
      ] as const) {
        if (reuse === '0' && !stage.checksNotes) return
        const link = bodyOf(await stage.user.get(`/api2/repos/${library}/file/`, { p: '/a.txt', reuse }))
        const statuses = [(await fetched(link)).status, (await fetched(link)).status]
        assert.deepEqual(statuses, [200, second], `reuse=${reuse}`)
      }
    },
  },
  {
    id: '4.2/detail',
    statement: '`GET /api2/repos/{repo-id}/file/detail/?p=` returns the file detail',
    async run(stage) {
      const library = await stage.library({ '/docs/a.txt': 'hello' })
      const detail = bodyOf(await stage.user.get(`/api2/repos/${library}/file/detail/`, { p: '/docs/a.txt' }))
      assert.deepEqual([detail.name, detail.size], ['a.txt', 5])
    },
  },
  {
    id: '4.2/create',
    statement: '`POST /api/v2.1/repos/{repo_id}/file/?p=` with `operation=create` returns the created file',
    async run(stage) {
      const library = await stage.library()
      const options = { query: { p: '/a.txt' }, form: { operation: 'create' } }
      const made = bodyOf(await stage.user.post(`/api/v2.1/repos/${library}/file/`, options))
      assert.deepEqual([made.repo_id, made.obj_name, made.size], [library, 'a.txt', 0])
      assert.deepEqual(await namesIn(stage.user, library), ['a.txt'])
    },
  },
  {
    id: '4.2/rename',
    statement:
      '`POST /api2/repos/{repo-id}/file/?p=` with `operation=rename` and `newname` returns 301 and `success`',
    note: '`Location` is the file under its final name.',
    async run(stage) {
      const library = await stage.library({ '/a.txt': 'hello' })
      const reply = await post(stage, library, '/a.txt', { operation: 'rename', newname: 'b.txt' })
      expectAnswer(reply, 'success', 301)
      if (stage.checksNotes) assert.match(reply.headers.get('location') ?? '', /\/file\/\?p=\/b\.txt$/)
      assert.deepEqual(await namesIn(stage.user, library), ['b.txt'])
    },
  },
  {
    id: '4.2/lock',
    statement: '`PUT /api2/repos/{repo-id}/file/` with `operation=lock` and `p` returns 200 and `success`',
    note: 'The free edition of the reference has no locks.',
    async run(stage) {
      const library = await stage.library({ '/a.txt': 'hello' })
      expectAnswer(await put(stage, library, 'lock', '/a.txt'), 'success')
    },
  },
  {
    id: '4.2/unlock',
    statement: '`PUT /api2/repos/{repo-id}/file/` with `operation=unlock` and `p` returns 200 and `success`',
    async run(stage) {
      const library = await stage.library({ '/a.txt': 'hello' })
      await put(stage, library, 'lock', '/a.txt')
      expectAnswer(await put(stage, library, 'unlock', '/a.txt'), 'success')
    },
  },
  {
    id: '4.2/move',
    statement:
      '`POST /api2/repos/{repo-id}/file/?p=` with `operation=move`, `dst_repo`, `dst_dir` returns 301 and the location of the file',
    note: 'The documentation’s text says `success`, its example a record: the record is sent.',
    async run(stage) {
      const [from, to] = [
        await stage.library({ '/a.txt': 'hello' }),
        await stage.library({ '/docs/a.txt': 'x' }),
      ]
      const reply = await post(stage, from, '/a.txt', { operation: 'move', dst_repo: to, dst_dir: '/docs' })
      expectAnswer(reply, { repo_id: to, parent_dir: '/docs/', obj_name: 'a (1).txt' }, 301)
      assert.deepEqual(await namesIn(stage.user, from), [])
      assert.deepEqual(await namesIn(stage.user, to, '/docs'), ['a (1).txt', 'a.txt'])
    },
  },
  {
    id: '4.2/copy',
    statement:
      '`POST /api2/repos/{repo-id}/file/?p=` with `operation=copy`, `dst_repo`, `dst_dir` returns 200 and the location of the copy',
    note: 'The documentation’s text says `success`, its example a record: the record is sent.',
    async run(stage) {
      const [from, to] = [
        await stage.library({ '/a.txt': 'hello' }),
        await stage.library({ '/docs/b.txt': 'x' }),
      ]
      const reply = await post(stage, from, '/a.txt', { operation: 'copy', dst_repo: to, dst_dir: '/docs' })
      expectAnswer(reply, { repo_id: to, parent_dir: '/docs/', obj_name: 'a.txt' })
      assert.deepEqual(await namesIn(stage.user, from), ['a.txt'])
      assert.deepEqual(await namesIn(stage.user, to, '/docs'), ['a.txt', 'b.txt'])
    },
  },
  {
    id: '4.2/delete',
    statement: '`DELETE /api2/repos/{repo-id}/file/?p=` returns 200 and `success`',
    async run(stage) {
      const library = await stage.library({ '/a.txt': 'hello' })
      const reply = await stage.user.delete(`/api2/repos/${library}/file/`, { query: { p: '/a.txt' } })
      expectAnswer(reply, 'success')
      assert.deepEqual(await namesIn(stage.user, library), [])
    },
  },
  {
    id: '4.2/delete-folder',
    statement: 'The same call deletes folders',
    note: 'Not the root: 400. The reference returns `success` and does nothing.',
    async run(stage) {
      const library = await stage.library({ '/docs/a.txt': 'hello' })
      const path = `/api2/repos/${library}/file/`
      expectAnswer(await stage.user.delete(path, { query: { p: '/docs' } }), 'success')
      assert.deepEqual(await namesIn(stage.user, library), [])
      if (!stage.checksNotes) return
      assert.equal((await stage.user.delete(path, { query: { p: '/' } })).status, 400)
    },
  },
  {
    id: '4.2/smart-link',
    statement: '`GET /api/v2.1/smart-link/` with `repo_id`, `path` and `is_dir` returns `{smart_link}`',
    note: 'The link follows the file when it is renamed or moved.',
    async run(stage) {
      const repo_id = await stage.library({ '/docs/a.txt': 'hello' })
      for (const [path, is_dir] of [
        ['/docs/a.txt', 'false'],
        ['/docs', 'true'],
      ] as const) {
        const answer = bodyOf(await stage.user.get('/api/v2.1/smart-link/', { repo_id, path, is_dir }))
        assert.ok(kinds.url.holds(answer.smart_link), answer.smart_link)
      }
    },
  },
]
