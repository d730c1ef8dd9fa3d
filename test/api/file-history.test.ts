import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client, Reply } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'
import { assertError, assertReply, NOON, Workspace } from './folders-support.ts'

const DAY = 86_400
const UNKNOWN = '11111111-2222-4333-8444-555555555555'
const NO_COMMIT = 'c'.repeat(40)
let clock = NOON
let server: TestServer
let stranger: Client
before(async () => {
  server = await startServer({ now: () => clock })
  stranger = await server.signUp()
})
after(() => server[Symbol.asyncDispose]())

/** The change kinds of new_history and the texts of their commits, newest first. */
const STORY = [
  ['move', 'Moved directory "d"'],
  ['edit', 'Added "c.txt".'],
  ['rename', 'Renamed "b.txt"'],
  ['move', 'Moved "b.txt"'],
  ['edit', 'Added "b.txt".'],
  ['rename', 'Renamed "a.txt"'],
  ['edit', 'Added "a.txt".'],
  ['create', 'Added "a.txt".'],
] as const
const PATHS = ['/e/d/c.txt', '/d/c.txt', '/d/c.txt', '/d/b.txt', '/b.txt', '/b.txt', '/a.txt', '/a.txt']
const OLD = ['/d/c.txt', null, '/d/b.txt', '/b.txt', null, '/a.txt', null, null]

/** Edits, renames and moves a file, alone and with its folder, one change a day, and returns the commits. */
async function storied(): Promise<{ space: Workspace; commits: string[]; ids: string[] }> {
  clock = NOON
  const space = await Workspace.make(server)
  await space.folder('/d')
  await space.folder('/e')
  const commits: string[] = []
  const ids: string[] = []
  let id = ''
  const change = async (work: () => Promise<unknown>) => {
    clock += DAY
    await work()
    commits.unshift(await space.head())
    ids.unshift(id)
  }
  const write = (path: string, text: string) =>
    change(async () => {
      id = (await uploadFile(space.client, space.id, path, text, { replace: true })).id
    })
  const post = (path: string, form: Record<string, string>) =>
    change(async () => {
      const reply = await space.client.post(space.v21('file/'), { query: { p: path }, form })
      assert.equal(reply.status, 200, reply.text)
    })
  await write('/a.txt', '1')
  await write('/a.txt', '22')
  await post('/a.txt', { operation: 'rename', newname: 'b.txt' })
  await write('/b.txt', '333')
  await post('/b.txt', { operation: 'move', dst_repo: space.id, dst_dir: '/d' })
  await post('/d/b.txt', { operation: 'rename', newname: 'c.txt' })
  await write('/d/c.txt', '4444')
  await change(async () => {
    const json = {
      src_repo_id: space.id,
      src_parent_dir: '/',
      src_dirents: ['d'],
      dst_repo_id: space.id,
      dst_parent_dir: '/e',
    }
    const reply = await space.client.post('/api/v2.1/repos/sync-batch-move-item/', { json })
    assert.equal(reply.status, 200, reply.text)
  })
  return { space, commits, ids }
}

describe('the history of a file', () => {
  let space: Workspace
  let commits: string[]
  let ids: string[]
  before(async () => {
    ;({ space, commits, ids } = await storied())
  })
  const descriptions = STORY.map(([, text]) => text)
  const sizes = [4, 4, 3, 3, 3, 2, 2, 1]
  const timeOf = (index: number) =>
    `${new Date((NOON + (8 - index) * DAY) * 1000).toISOString().slice(0, 19)}+00:00`
  const creator = () => ({
    creator_email: space.client.email,
    creator_name: space.client.email.split('@')[0],
    creator_contact_email: space.client.email,
    creator_avatar_url: `${server.url}/media/avatars/default.png`,
  })

  it('is followed through edits, renames and moves, with every field', async () => {
    const reply = await space.client.get(space.v21('file/history/'), { path: '/e/d/c.txt' })
    const data = commits.map((commit_id, index) => ({
      commit_id,
      ctime: timeOf(index),
      size: sizes[index],
      rev_file_id: ids[index],
      path: PATHS[index],
      ...creator(),
      description: descriptions[index],
      rev_renamed_old_path: OLD[index],
    }))
    assertReply(reply, 200, { data, next_start_commit: false })
  })

  it('is paged with the change of each commit, with every field', async () => {
    const items = commits.map((commit_id, index) => ({
      commit_id,
      ctime: timeOf(index),
      size: sizes[index],
      rev_file_id: ids[index],
      path: PATHS[index],
      ...creator(),
      op_type: STORY[index]?.[0],
      old_path: OLD[index] ?? '',
    }))
    const pages: [query: object, page: number, from: number, to: number][] = [
      [{}, 1, 0, 8],
      [{ page: 1, per_page: 3 }, 1, 0, 3],
      [{ page: 2, per_page: 3 }, 2, 3, 6],
      [{ page: 3, per_page: 3 }, 3, 6, 8],
      [{ page: 4, per_page: 3 }, 4, 8, 8],
      [{ page: 0, per_page: 3 }, 1, 0, 3],
      [{ page: 2, per_page: 0 }, 2, 8, 8],
      [{ page: 'x', per_page: 3 }, 1, 0, 8],
      [{ page: '9'.repeat(30), per_page: '9'.repeat(30) }, Number.MAX_SAFE_INTEGER, 8, 8],
    ]
    for (const [query, page, from, to] of pages) {
      const reply = await space.client.get(space.v21('file/new_history/'), { path: '/e/d/c.txt', ...query })
      const body = { data: items.slice(from, to), page, total_count: 8 }
      assertReply(reply, 200, body, JSON.stringify(query))
    }
  })

  it('is listed for older clients with every field', async () => {
    const reply = await space.client.get(space.v2('file/history/'), { p: '/e/d/c.txt' })
    assert.equal(reply.status, 200, reply.text)
    const records = reply.body.commits
    assert.deepEqual(
      records.map((one: Record<string, unknown>) => [one['id'], one['rev_renamed_old_path'], one['desc']]),
      commits.map((id, index) => [id, OLD[index], descriptions[index]]),
    )
    const { root_id, parent_id, ...rest } = records[4]
    assert.match(root_id, /^[0-9a-f]{40}$/)
    assert.equal(parent_id, commits[5])
    assert.deepEqual(rest, {
      id: commits[4],
      creator_name: space.client.email,
      creator: '0'.repeat(40),
      desc: 'Added "b.txt".',
      ctime: NOON + 4 * DAY,
      repo_id: space.id,
      second_parent_id: null,
      version: 1,
      new_merge: false,
      conflict: false,
      rev_file_id: ids[4],
      rev_file_size: 3,
      rev_renamed_old_path: null,
      device_name: null,
      client_version: null,
      user_info: {
        email: space.client.email,
        name: space.client.email.split('@')[0],
        contact_email: space.client.email,
      },
    })
  })

  it('continues from the commit that each page names, at the path of its last item', async () => {
    for (const limit of [1, 2, 3, 5, 8]) {
      const seen: string[] = []
      let [path, start]: [string, string | undefined] = ['/e/d/c.txt', undefined]
      for (;;) {
        const query = { path, limit, commit_id: start }
        const reply: Reply = await space.client.get(space.v21('file/history/'), query)
        assert.equal(reply.status, 200, reply.text)
        seen.push(...reply.body.data.map(({ commit_id }: { commit_id: string }) => commit_id))
        const last = reply.body.data.at(-1)
        if (reply.body.next_start_commit === false) break
        start = reply.body.next_start_commit
        path = last.rev_renamed_old_path ?? last.path
      }
      assert.deepEqual(seen, commits, `limit ${limit}`)
    }
  })

  it('also continues at the current path of the file', async () => {
    const query = { path: '/e/d/c.txt', commit_id: commits[4], limit: 2 }
    const reply = await space.client.get(space.v21('file/history/'), query)
    assert.deepEqual(
      reply.body.data.map(({ commit_id }: { commit_id: string }) => commit_id),
      commits.slice(4, 6),
    )
    assert.equal(reply.body.next_start_commit, commits[6])
  })

  for (const limit of ['0', '-1', 'x', '', '9'.repeat(30), '\u0000']) {
    it(`returns everything for the limit ${JSON.stringify(limit).slice(0, 20)}`, async () => {
      const reply = await space.client.get(space.v21('file/history/'), { path: '/e/d/c.txt', limit })
      assert.deepEqual([reply.status, reply.body.data?.length], [200, 8])
    })
  }

  it('returns a link to the file at each of its commits', async () => {
    for (const [index, commit_id] of commits.entries()) {
      const reply = await space.client.get(space.v2('file/revision/'), { p: PATHS[index], commit_id })
      assert.equal(reply.status, 200, reply.text)
      assert.equal(reply.headers.get('oid'), ids[index])
      const name = PATHS[index]?.split('/').at(-1)
      assert.match(reply.body, new RegExp(`^${server.url}/seafhttp/files/[-0-9a-f]{36}/${name}$`))
      const file = await fetch(reply.body)
      assert.equal(await file.text(), String(sizes[index]).repeat(sizes[index] ?? 0))
    }
  })

  it('of a deleted file is found by a commit that contains it', async () => {
    const other = await Workspace.make(server)
    await other.file('/x')
    const head = await other.head()
    await other.client.delete(other.v21('file/'), { query: { p: '/x' } })
    assertError(await other.client.get(other.v21('file/history/'), { path: '/x' }), 404, 'File /x not found.')
    const reply = await other.client.get(other.v21('file/history/'), { path: '/x', commit_id: head })
    assert.deepEqual([reply.status, reply.body.data.length], [200, 1])
  })

  it('ends where the file was added, whatever was at the path before', async () => {
    const other = await Workspace.make(server)
    await other.file('/x')
    await other.client.delete(other.v21('file/'), { query: { p: '/x' } })
    await other.file('/x')
    const reply = await other.client.get(other.v21('file/new_history/'), { path: '/x' })
    assert.deepEqual([reply.body.total_count, reply.body.data[0].op_type], [1, 'create'])
  })

  it('marks the restoration of a file', async () => {
    const other = await Workspace.make(server)
    await other.folder('/f')
    await other.file('/f/x')
    const commit_id = await other.head()
    await other.client.delete(other.v21('dir/'), { query: { p: '/f' } })
    const form = { path: ['/f'], commit_id }
    await other.client.post(other.v21('trash/revert-dirents/'), { form })
    const reply = await other.client.get(other.v21('file/new_history/'), { path: '/f/x' })
    assert.deepEqual([reply.body.total_count, reply.body.data[0].op_type], [1, 'recover'])
  })

  it('is cut at the retention limit, except for the current and the previous revision', async () => {
    const { space: kept, commits: all } = await storied()
    const set = (keep_days: number) => kept.client.put(kept.v2('history-limit/'), { form: { keep_days } })
    const count = async () => {
      const [older, newer, oldest] = await Promise.all([
        kept.client.get(kept.v21('file/history/'), { path: '/e/d/c.txt' }),
        kept.client.get(kept.v21('file/new_history/'), { path: '/e/d/c.txt' }),
        kept.client.get(kept.v2('file/history/'), { p: '/e/d/c.txt' }),
      ])
      assert.equal(older.body.data.length, newer.body.total_count)
      assert.equal(older.body.data.length, oldest.body.commits.length)
      return older.body.data.length
    }
    clock += 100
    // The first commit at or before the cut is the base of the later ones.
    for (const [days, shown] of [
      [-1, 8],
      [100, 8],
      [3, 4],
      [2, 3],
      [0, 2],
    ] as const) {
      await set(days)
      assert.equal(await count(), shown, `${days} days`)
    }
    const link = (index: number, p = PATHS[index]) =>
      kept.client.get(kept.v2('file/revision/'), { p, commit_id: all[index] })
    assert.equal((await link(0)).status, 200)
    assertError(await link(5), 404, 'Revision not found.')
    const other = await Workspace.make(server, kept.client)
    await uploadFile(other.client, other.id, '/x', '1')
    const first = await other.head()
    await uploadFile(other.client, other.id, '/x', '2', { replace: true })
    await other.file('/y')
    await other.client.put(other.v2('history-limit/'), { form: { keep_days: 0 } })
    const shown = await other.client.get(other.v2('file/revision/'), { p: '/x', commit_id: first })
    assert.equal(shown.status, 200, 'a listed revision can be downloaded')
    const page = await other.client.get(other.v21('file/history/'), { path: '/x', limit: 1 })
    const next = { path: '/x', commit_id: page.body.next_start_commit }
    const rest = await other.client.get(other.v21('file/history/'), next)
    assert.deepEqual([rest.body.data.length, rest.body.next_start_commit], [1, false])
    const unlisted = { p: '/y', commit_id: first }
    assertError(await other.client.get(other.v2('file/revision/'), unlisted), 404, 'Revision not found.')
  })

  const hostile = ['/none', '/d', '/', '..', '/a/../b', 'a\u0000b', '%ff', 'x'.repeat(300), 'a/'.repeat(2000)]
  for (const p of hostile) {
    it(`is not found for ${JSON.stringify(p).slice(0, 30)}`, async () => {
      const { client } = space
      const replies = [
        await client.get(space.v21('file/history/'), { path: p }),
        await client.get(space.v21('file/new_history/'), { path: p }),
        await client.get(space.v2('file/history/'), { p }),
      ]
      for (const reply of replies) {
        assert.equal(reply.status, 404)
        assert.match(reply.body.error_msg, /^File [\s\S]* not found\.$/)
      }
      const revision = await client.get(space.v2('file/revision/'), { p, commit_id: commits[0] })
      assertError(revision, 404, 'Revision not found.')
    })
  }

  const refused: [call: string, query: Record<string, string>, status: number, words: string][] = [
    ['v21 file/history/', {}, 400, 'path invalid.'],
    ['v21 file/history/', { path: '' }, 400, 'path invalid.'],
    ['v21 file/history/', { path: '/e/d/c.txt', commit_id: 'x' }, 400, 'commit_id invalid.'],
    [
      'v21 file/history/',
      { path: '/e/d/c.txt', commit_id: NO_COMMIT },
      404,
      `Commit ${NO_COMMIT} not found.`,
    ],
    ['v21 file/new_history/', {}, 400, 'path invalid.'],
    ['v2 file/history/', {}, 400, 'Path is missing.'],
    ['v2 file/revision/', {}, 400, 'Path is missing.'],
    ['v2 file/revision/', { p: '/e/d/c.txt' }, 404, 'Revision not found.'],
    ['v2 file/revision/', { p: '/e/d/c.txt', commit_id: 'x' }, 404, 'Revision not found.'],
    ['v2 file/revision/', { p: '/e/d/c.txt', commit_id: NO_COMMIT }, 404, 'Revision not found.'],
  ]
  for (const [call, query, status, words] of refused) {
    it(`rejects ${call} ${JSON.stringify(query).slice(0, 60)}`, async () => {
      const [generation, rest = ''] = call.split(' ')
      const url = generation === 'v2' ? space.v2(rest) : space.v21(rest)
      for (const one of [url, url.slice(0, -1)])
        assertError(await space.client.get(one, query), status, words)
    })
  }

  it('returns 404 for a commit of another library', async () => {
    const other = await Workspace.make(server, space.client)
    await other.file('/a.txt')
    const commit_id = await other.head()
    const reply = await space.client.get(space.v2('file/revision/'), { p: '/a.txt', commit_id })
    assertError(reply, 404, 'Revision not found.')
    const history = await space.client.get(space.v21('file/history/'), { path: '/e/d/c.txt', commit_id })
    assertError(history, 404, `Commit ${commit_id} not found.`)
  })

  for (const call of [
    'v21 file/history/',
    'v21 file/new_history/',
    'v2 file/history/',
    'v2 file/revision/',
  ]) {
    it(`requires a token, access and an existing library for ${call}`, async () => {
      const [generation, rest = ''] = call.split(' ')
      const url = generation === 'v2' ? space.v2(rest) : space.v21(rest)
      const query = { p: '/e/d/c.txt', path: '/e/d/c.txt', commit_id: commits[0] }
      assert.equal((await server.anonymous.get(url, query)).status, 403)
      const wrong = await server.anonymous.call('GET', url, { query, headers: { Authorization: 'Token x' } })
      assert.equal(wrong.status, 401)
      assertError(await stranger.get(url, query), 403, 'Permission denied.')
      const unknown = await space.client.get(url.replace(space.id, UNKNOWN), query)
      assertError(unknown, 404, `Library ${UNKNOWN} not found.`)
    })
  }
})
