import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { fetchArchive, waitForArchive } from '../support/archives.ts'
import type { Params, Reply } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'
import { unzip } from '../support/zip-reader.ts'
import { assertError, NOON, Workspace } from './folders-support.ts'

const DAY = 86_400
const NO_COMMIT = 'c'.repeat(40)
let clock = NOON
let server: TestServer
let space: Workspace
/** One state a day: empty, `/d/a.txt` with one byte, with two bytes, moved to `/e`, deleted. */
const commits: string[] = []
const ids: string[] = []
before(async () => {
  server = await startServer({ now: () => clock })
  space = await Workspace.make(server)
  const nextDay = async () => {
    commits.push(await space.head())
    clock += DAY
  }
  await nextDay()
  ids.push((await uploadFile(space.client, space.id, '/d/a.txt', '1')).id)
  await nextDay()
  ids.push((await uploadFile(space.client, space.id, '/d/a.txt', '22', { replace: true })).id)
  await nextDay()
  const rename = { query: { p: '/d' }, form: { operation: 'rename', newname: 'e' } }
  assert.equal((await space.client.post(space.v21('dir/'), rename)).status, 200)
  await nextDay()
  assert.equal((await space.client.delete(space.v21('file/'), { query: { p: '/e/a.txt' } })).status, 200)
  await nextDay()
})
after(() => server[Symbol.asyncDispose]())

const day = (n: number) => new Date((NOON + n * DAY) * 1000).toISOString()
/** Ways to name the state after change n. */
const moments = (n: number): Params[] => [
  { commit_id: commits[n] },
  { at: day(n) },
  { at: new Date((NOON + n * DAY + DAY - 1) * 1000).toISOString() },
  { at: day(n).replace('.000Z', '+00:00') },
  { at: day(n).replace('.000Z', ' 00:00') },
  { at: day(n).slice(0, 19) },
  { commit_id: commits[n], at: 'ignored' },
]
const namesOf = (entries: { name: string }[]) => entries.map(({ name }) => name)

describe('an earlier state of a library', () => {
  const trees: [n: number, p: string, names: string[] | undefined][] = [
    [0, '/', []],
    [1, '/', ['d']],
    [1, '/d', ['a.txt']],
    [1, '/e', undefined],
    [3, '/', ['e']],
    [3, '/e', ['a.txt']],
    [3, '/d', undefined],
    [4, '/e', []],
  ]
  for (const [n, p, names] of trees) {
    it(`lists ${names?.length ?? 'no such folder'} at ${p} after change ${n}`, async () => {
      for (const query of moments(n)) {
        const replies = [
          await space.client.get(space.v2('dir/'), { p, ...query }),
          await space.client.get(space.v21('dir/'), { p, ...query }),
        ]
        for (const reply of replies) {
          if (names === undefined) {
            assertError(reply, 404, `Folder ${p}/ not found.`)
            continue
          }
          assert.equal(reply.status, 200, reply.text)
          assert.deepEqual(namesOf(reply.body.dirent_list ?? reply.body), names, JSON.stringify(query))
        }
      }
    })
  }

  it('lists everything below a folder, and the levels above it', async () => {
    for (const query of moments(2)) {
      const older = await space.client.get(space.v2('dir/'), { recursive: 1, ...query })
      assert.deepEqual(namesOf(older.body), ['d', 'a.txt'])
      const newer = await space.client.get(space.v21('dir/'), { recursive: 1, ...query })
      assert.deepEqual(namesOf(newer.body.dirent_list), ['d', 'a.txt'])
      const levels = await space.client.get(space.v21('dir/'), { p: '/d', with_parents: 'true', ...query })
      assert.deepEqual(namesOf(levels.body.dirent_list), ['d', 'a.txt'])
    }
  })

  it('returns links to files that serve the earlier content', async () => {
    for (const [n, p, text] of [
      [1, '/d/a.txt', '1'],
      [2, '/d/a.txt', '22'],
      [3, '/e/a.txt', '22'],
    ] as const) {
      for (const query of moments(n)) {
        const reply = await space.client.get(space.v2('file/'), { p, ...query })
        assert.equal(reply.status, 200, reply.text)
        assert.equal(reply.headers.get('oid'), ids[text.length - 1])
        assert.equal(await (await fetch(reply.body)).text(), text)
      }
      const blocks = await space.client.get(space.v2('file/'), { p, op: 'downloadblks', ...moments(n)[0] })
      assert.equal(blocks.body.file_id, ids[text.length - 1])
    }
    assertError(await space.client.get(space.v2('file/'), { p: '/e/a.txt' }), 404, 'File not found')
    const early = { p: '/d/a.txt', commit_id: commits[0] }
    assertError(await space.client.get(space.v2('file/'), early), 404, 'File not found')
  })

  it('returns file details as of then', async () => {
    for (const query of moments(1)) {
      const detail = await space.client.get(space.v2('file/detail/'), { p: '/d/a.txt', ...query })
      assert.equal(detail.status, 200, detail.text)
      const { id, size, mtime } = detail.body
      assert.deepEqual([id, size, mtime], [ids[0], 1, NOON + DAY])
      const info = await space.client.get(space.v21('file/'), { p: '/d/a.txt', ...query })
      assert.deepEqual([info.body.obj_id, info.body.size], [ids[0], 1])
    }
  })

  it('returns the current details of a file that still exists, except for its id, by a commit', async () => {
    const other = await Workspace.make(server)
    const first = await uploadFile(other.client, other.id, '/x', '1')
    const commit_id = await other.head()
    await uploadFile(other.client, other.id, '/x', '22', { replace: true })
    const reply = await other.client.get(other.v2('file/detail/'), { p: '/x', commit_id })
    assert.deepEqual([reply.body.id, reply.body.size], [first.id, 2])
  })

  it('returns folder details as of then', async () => {
    for (const [n, size] of [
      [1, 1],
      [2, 2],
    ] as const) {
      for (const query of moments(n)) {
        const reply = await space.client.get(space.v21('dir/detail/'), { path: '/d', ...query })
        assert.deepEqual([reply.status, reply.body.size, reply.body.file_count], [200, size, 1])
      }
    }
    assertError(
      await space.client.get(space.v21('dir/detail/'), { path: '/d' }),
      404,
      'Folder /d/ not found.',
    )
  })

  it('can be downloaded as an archive', async () => {
    for (const query of moments(2).slice(0, 2)) {
      const sent = { parent_dir: '/', dirents: ['d'], ...query }
      const reply = await space.client.post(space.v21('zip-task/'), { form: sent })
      assert.equal(reply.status, 200, reply.text)
      await waitForArchive(space.client, reply.body.zip_token)
      const archive = await fetchArchive(server, reply.body.zip_token)
      const files = unzip(Buffer.from(await archive.arrayBuffer()))
      assert.equal(String(files.get('d/a.txt')), '22')
    }
  })

  it('is the head for an empty parameter', async () => {
    const reply = await space.client.get(space.v2('dir/'), { commit_id: '', at: '' })
    assert.deepEqual(namesOf(reply.body), ['e'])
  })

  it('can be requested with an unescaped plus sign', async () => {
    const reply = await space.client.get(`${space.v2('dir/')}?at=2025-08-02T00:13:20+02:00`)
    assert.deepEqual(namesOf(reply.body), ['d'])
  })
})

/** Every call that accepts a commit or a time. */
const calls: [name: string, call: (of: Workspace, query: Params) => Promise<Reply>][] = [
  ['an older listing', (of, query) => of.client.get(of.v2('dir/'), query)],
  ['a newer listing', (of, query) => of.client.get(of.v21('dir/'), query)],
  ['a link', (of, query) => of.client.get(of.v2('file/'), { p: '/f', ...query })],
  ['a file detail', (of, query) => of.client.get(of.v2('file/detail/'), { p: '/f', ...query })],
  ['a file info', (of, query) => of.client.get(of.v21('file/'), { p: '/f', ...query })],
  ['a folder detail', (of, query) => of.client.get(of.v21('dir/detail/'), { path: '/g', ...query })],
  [
    'an archive',
    (of, query) =>
      of.client.post(of.v21('zip-task/'), { form: { parent_dir: '/', dirents: ['g'], ...query } }),
  ],
]
for (const [name, call] of calls) {
  describe(`an earlier state for ${name}`, () => {
    const bad: [query: Params, status: number, words: string][] = [
      [{ commit_id: 'x' }, 400, 'commit_id invalid.'],
      [{ commit_id: 'C'.repeat(40) }, 400, 'commit_id invalid.'],
      [{ commit_id: 'a\u0000b' }, 400, 'commit_id invalid.'],
      [{ commit_id: NO_COMMIT }, 404, `Commit ${NO_COMMIT} not found.`],
      [{ at: 'yesterday' }, 400, 'at invalid.'],
      [{ at: '2025-02-30T00:00:00Z' }, 400, 'at invalid.'],
      [{ at: '2025-08-01T25:00:00Z' }, 400, 'at invalid.'],
      [{ at: '1754000000' }, 400, 'at invalid.'],
      [{ at: '\u0000' }, 400, 'at invalid.'],
      [{ at: '2020-01-01T00:00:00Z' }, 404, 'Commit 2020-01-01T00:00:00Z not found.'],
    ]
    let own: Workspace
    before(async () => {
      own = await Workspace.make(server)
      await own.file('/f')
      await own.folder('/g')
    })
    for (const [query, status, words] of bad) {
      it(`is rejected with ${JSON.stringify(query).slice(0, 40)}`, async () => {
        assertError(await call(own, query), status, words)
      })
    }

    it('rejects a commit of another library, and one that the history no longer shows', async () => {
      assertError(await call(own, { commit_id: commits[0] }), 404, `Commit ${commits[0]} not found.`)
      const kept = await Workspace.make(server)
      await kept.file('/f')
      await kept.folder('/g')
      const old = await kept.head()
      const then = new Date(clock * 1000).toISOString()
      clock += DAY
      await kept.file('/h')
      assert.equal((await call(kept, { commit_id: old })).status, 200)
      assert.equal((await call(kept, { at: then })).status, 200)
      await kept.client.delete(kept.v21('trash/'))
      assertError(await call(kept, { commit_id: old }), 404, `Commit ${old} not found.`)
      assertError(await call(kept, { at: then }), 404, `Commit ${then} not found.`)
      assert.equal((await call(kept, { commit_id: await kept.head() })).status, 200)
    })
  })
}
