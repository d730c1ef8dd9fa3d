import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { makeTree, SyncClient, type TreeSpec } from '../support/sync-client.ts'
import { headOf, uploadFile } from '../support/transfer.ts'

let server: TestServer
let ann: Client
before(async () => {
  server = await startServer()
  ann = await server.signUp({ email: 'ann@example.org' })
})
after(() => server[Symbol.asyncDispose]())

// The MTIME and the account of the test trees.
const ASIDE = 'SFConflict ann@example.org 2023-11-14-22-13-20'

/** A tree as text: files by content, folders with their entries. Times in folder names are normalized. */
type Shown = { [name: string]: string | Shown }

async function shown(sync: SyncClient): Promise<Shown> {
  const root: Shown = {}
  for (const [path, bytes] of [...(await sync.clone())].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const names = path.slice(1).split('/')
    const last = names.pop() ?? ''
    let at = root
    for (const name of names) at = at[steady(name)] as Shown
    at[steady(last)] = bytes === null ? {} : String(bytes)
  }
  return root
}

/** The name of a conflicting folder contains the time of the merge. */
function steady(name: string): string {
  return name.replace(/^(dir.*SFConflict ann@example.org )[\d-]+/, '$1NOW')
}

interface Case {
  readonly what: string
  readonly base: TreeSpec
  readonly head: TreeSpec
  readonly remote: TreeSpec
  readonly merged: Shown
  readonly conflict?: true
}

const keep = { 'keep.txt': 'keep' }
const [x, y, z] = ['x', 'y', 'z']

const cases: readonly Case[] = [
  // Files.
  {
    what: 'the same change on both sides',
    base: { n: x },
    head: { n: y },
    remote: { n: y },
    merged: { n: y },
  },
  { what: 'the same file added on both sides', base: {}, head: { n: x }, remote: { n: x }, merged: { n: x } },
  { what: 'a file the client changed', base: { n: x }, head: { n: x }, remote: { n: y }, merged: { n: y } },
  { what: 'a file the head changed', base: { n: x }, head: { n: y }, remote: { n: x }, merged: { n: y } },
  {
    what: 'a file changed on both sides',
    base: { 'n.tar.gz': x },
    head: { 'n.tar.gz': y },
    remote: { 'n.tar.gz': z },
    merged: { 'n.tar.gz': y, [`n.tar (${ASIDE}).gz`]: z },
    conflict: true,
  },
  {
    what: 'different files added on both sides',
    base: {},
    head: { n: y },
    remote: { n: z },
    merged: { n: y, [`n (${ASIDE})`]: z },
    conflict: true,
  },
  {
    what: 'different files in place of a dir',
    base: { n: { a: x } },
    head: { n: y },
    remote: { n: z },
    merged: { n: y, [`n (${ASIDE})`]: z },
    conflict: true,
  },
  { what: 'a file the head deleted', base: { n: x }, head: {}, remote: { n: x }, merged: {} },
  {
    what: 'a file the head deleted and the client changed',
    base: { n: x },
    head: {},
    remote: { n: y },
    merged: { n: y },
  },
  {
    what: 'a file the head replaced by a dir and the client changed',
    base: { n: x },
    head: { n: { a: z } },
    remote: { n: y },
    merged: { n: { a: z }, [`n (${ASIDE})`]: y },
    conflict: true,
  },
  {
    what: 'a file the head replaced by a dir',
    base: { n: x },
    head: { n: { a: z } },
    remote: { n: x },
    merged: { n: { a: z } },
  },
  { what: 'a file the client deleted', base: { n: x }, head: { n: x }, remote: {}, merged: {} },
  {
    what: 'a file the client deleted and the head changed',
    base: { n: x },
    head: { n: y },
    remote: {},
    merged: { n: y },
  },
  {
    what: 'a file the client replaced by a dir and the head changed',
    base: { dir: x },
    head: { dir: y },
    remote: { dir: { a: z } },
    merged: { dir: y, 'dir (SFConflict ann@example.org NOW)': { a: z } },
    conflict: true,
  },
  {
    what: 'a file the client replaced by a dir',
    base: { dir: x },
    head: { dir: x },
    remote: { dir: { a: z } },
    merged: { dir: { a: z } },
  },
  { what: 'a file the client added', base: {}, head: {}, remote: { n: x }, merged: { n: x } },
  {
    what: 'a file that replaced an unchanged dir on the client',
    base: { n: { a: x } },
    head: { n: { a: x } },
    remote: { n: y },
    merged: { n: y },
  },
  {
    what: 'a file that replaced a dir on the client, which the head changed',
    base: { n: { a: x } },
    head: { n: { a: x, b: z } },
    remote: { n: y },
    merged: { n: { b: z }, [`n (${ASIDE})`]: y },
    conflict: true,
  },
  {
    what: 'a file the client added where the head added a dir',
    base: {},
    head: { n: { a: x } },
    remote: { n: y },
    merged: { n: { a: x }, [`n (${ASIDE})`]: y },
    conflict: true,
  },
  { what: 'a file the head added', base: {}, head: { n: x }, remote: {}, merged: { n: x } },
  {
    what: 'a file that replaced an unchanged dir on the head',
    base: { n: { a: x } },
    head: { n: y },
    remote: { n: { a: x } },
    merged: { n: y },
  },
  {
    what: 'a file that replaced a dir on the head, which the client changed',
    base: { dir: { a: x } },
    head: { dir: y },
    remote: { dir: { a: x, b: z } },
    merged: { dir: y, 'dir (SFConflict ann@example.org NOW)': { b: z } },
    conflict: true,
  },
  {
    what: 'a file the head added where the client added a dir',
    base: {},
    head: { dir: y },
    remote: { dir: { a: x } },
    merged: { dir: y, 'dir (SFConflict ann@example.org NOW)': { a: x } },
    conflict: true,
  },
  { what: 'a file both deleted', base: { n: x }, head: {}, remote: {}, merged: {} },
  // Dirs.
  { what: 'a dir both deleted', base: { n: { a: x } }, head: {}, remote: {}, merged: {} },
  { what: 'a dir the head added', base: {}, head: { n: { a: x } }, remote: {}, merged: { n: { a: x } } },
  { what: 'a dir the client added', base: {}, head: {}, remote: { n: { a: x } }, merged: { n: { a: x } } },
  {
    what: 'a dir the client deleted',
    base: { n: { a: x } },
    head: { n: { a: x } },
    remote: {},
    merged: {},
  },
  {
    what: 'a dir the client deleted and the head changed',
    base: { n: { a: x, b: y, s: { t: x } } },
    head: { n: { a: x, b: z, c: z, s: { t: x } } },
    remote: {},
    merged: { n: { b: z, c: z } },
  },
  { what: 'a dir the head deleted', base: { n: { a: x } }, head: {}, remote: { n: { a: x } }, merged: {} },
  {
    what: 'a dir the head deleted and the client changed',
    base: { n: { a: x, b: y, s: { t: x } } },
    head: {},
    remote: { n: { a: x, b: z, s: { t: x, u: z } } },
    merged: { n: { b: z, s: { u: z } } },
  },
  {
    what: 'the same dir on both sides',
    base: {},
    head: { n: { a: x } },
    remote: { n: { a: x } },
    merged: { n: { a: x } },
  },
  {
    what: 'a dir the client changed',
    base: { n: { a: x } },
    head: { n: { a: x } },
    remote: { n: { a: y } },
    merged: { n: { a: y } },
  },
  {
    what: 'a dir the head changed',
    base: { n: { a: x } },
    head: { n: { a: y } },
    remote: { n: { a: x } },
    merged: { n: { a: y } },
  },
  {
    what: 'a dir changed on both sides',
    base: { n: { a: x, b: x, c: x, deep: { er: { a: x } } } },
    head: { n: { a: y, c: x, d: x, deep: { er: { a: x, h: y } } } },
    remote: { n: { a: x, b: x, e: x, deep: { er: { a: x, r: z } } } },
    merged: { n: { a: y, d: x, e: x, deep: { er: { a: x, h: y, r: z } } } },
  },
  {
    what: 'different dirs added on both sides',
    base: {},
    head: { n: { a: x, c: y } },
    remote: { n: { b: x, c: z } },
    merged: { n: { a: x, b: x, c: y, [`c (${ASIDE})`]: z } },
    conflict: true,
  },
  {
    what: 'a dir that becomes empty',
    base: { n: { a: x, b: x } },
    head: { n: { a: x } },
    remote: { n: { b: x } },
    merged: { n: {} },
  },
  {
    what: 'a conflict whose name is taken',
    base: { n: x, [`n (${ASIDE})`]: 'taken' },
    head: { n: y, [`n (${ASIDE})`]: 'taken' },
    remote: { n: z, [`n (${ASIDE})`]: 'taken' },
    merged: { n: y, [`n (${ASIDE})`]: 'taken', [`n (${ASIDE}) (1)`]: z },
    conflict: true,
  },
]

describe('a push onto a newer head', () => {
  for (const { what, base, head, remote, merged, conflict } of cases) {
    it(`merges ${what}`, async () => {
      const sync = await SyncClient.link(ann, await ann.createLibrary())
      const from = await sync.push({ ...keep, ...base })
      // A marker on each side, so that both have diverged in every case.
      const theirs = await sync.push({ ...keep, ...head, 'mark of the head': '1' }, from)
      const ours = await sync.push({ ...keep, ...remote, 'mark of the client': '1' }, from)
      assert.deepEqual(await shown(sync), {
        ...keep,
        'mark of the head': '1',
        'mark of the client': '1',
        ...merged,
      })
      const commit = await sync.commit(await sync.head())
      assert.equal(commit.parent_id, theirs)
      assert.equal(commit.second_parent_id, ours)
      assert.equal(commit.new_merge, 1)
      assert.equal(commit.conflict, conflict === true ? 1 : undefined)
      assert.equal(commit.creator, '0'.repeat(40))
      assert.equal(commit.creator_name, ann.email)
      if (conflict) assert.match(commit.description, /^Added (?:or modified|directory) ".*"\.\n$/)
      else assert.equal(commit.description, 'Auto merge by system')
      const detail = (await ann.get(`/api2/repos/${sync.library}/`)).body
      const files = [...(await sync.clone()).values()].filter((bytes) => bytes !== null)
      assert.equal(detail.file_count, files.length)
      assert.equal(
        detail.size,
        files.reduce((sum, bytes) => sum + bytes.length, 0),
      )
    })
  }

  it('returns to the client the changes since its own commit that the merge added', async () => {
    const sync = await SyncClient.link(ann, await ann.createLibrary())
    const from = await sync.push({ a: x })
    await sync.push({ a: x, b: y }, from)
    const ours = await sync.push({ a: x, c: z }, from)
    const merge = await sync.head()
    assert.notEqual(merge, ours)
    const ids = await sync.listIds(merge, ours)
    const { root_id: root } = await sync.commit(merge)
    assert.equal(ids.length, 2)
    assert.ok(ids.includes(root))
    assert.equal((await sync.commit(ours)).parent_id, from)
  })

  it("shows the client's commit in the history instead of the merge", async () => {
    const sync = await SyncClient.link(ann, await ann.createLibrary())
    const from = await sync.push({ a: x })
    const theirs = await sync.push({ a: x, b: y }, from)
    const ours = await sync.push({ c: z }, from)
    const history = (await ann.get(`/api/v2.1/repos/${sync.library}/history/`)).body.data
    assert.deepEqual(
      history.slice(0, 3).map((one: { commit_id: string }) => one.commit_id),
      [ours, theirs, from],
    )
    const detail = await ann.get(`/api/v2.1/repos/${sync.library}/commits/${ours}/`)
    assert.equal(detail.status, 200, detail.text)
    const trash = (await ann.get(`/api/v2.1/repos/${sync.library}/trash/`)).body.data
    assert.deepEqual(
      trash.map((one: { obj_name: string }) => one.obj_name),
      ['a'],
    )
  })

  it('merges a chain of commits from where it diverged from the history', async () => {
    const sync = await SyncClient.link(ann, await ann.createLibrary())
    const from = await sync.push({ a: x })
    await sync.push({ a: x, b: y }, from)
    const first = await sync.send({ a: x, c: z }, from)
    const second = await sync.send({ a: x, c: z, d: z }, first)
    assert.equal((await sync.putHead(second)).status, 200)
    assert.deepEqual(await shown(sync), { a: x, b: y, c: z, d: z })
    for (const id of [first, second]) assert.equal((await sync.commit(id)).commit_id, id)
  })

  it('continues from the client’s own commit after a merge the client did not see', async () => {
    const sync = await SyncClient.link(ann, await ann.createLibrary())
    const from = await sync.push({ a: x })
    await sync.push({ a: x, b: y }, from)
    const ours = await sync.push({ a: x, c: z }, from)
    await sync.push({ a: x, c: y }, ours)
    assert.deepEqual(await shown(sync), { a: x, b: y, c: y })
  })

  it('never rejects one of many concurrent pushes, and loses nothing', async () => {
    const library = await ann.createLibrary()
    const clients = await Promise.all(Array.from({ length: 12 }, () => SyncClient.link(ann, library)))
    const [first] = clients
    assert.ok(first)
    const from = await first.push({ start: x })
    const expected: Shown = { start: x }
    await Promise.all(
      clients.map(async (sync, n) => {
        const folder: Record<string, string> = {}
        let parent = from
        for (let round = 0; round < 5; round++) {
          folder[`file ${round}`] = `${n} ${round}`
          parent = await sync.push({ start: x, [`client ${n}`]: { ...folder } }, parent)
          await uploadFile(ann, library, `/web/${n}-${round}.txt`, 'web')
        }
        expected[`client ${n}`] = { ...folder }
      }),
    )
    const web = Object.fromEntries(
      clients.flatMap((_, n) => Array.from({ length: 5 }, (__, round) => [`${n}-${round}.txt`, 'web'])),
    )
    assert.deepEqual(await shown(first), { ...expected, web })
    assert.equal(await first.head(), await headOf(ann, library))
    const detail = (await ann.get(`/api2/repos/${library}/`)).body
    assert.equal(detail.file_count, 1 + 12 * 5 * 2)
    await storesOf(server.running.services.core).pathIndex.catchUp(await infoOf(library))
  })

  it('merges a push once that is sent many times concurrently', async () => {
    const sync = await SyncClient.link(ann, await ann.createLibrary())
    const from = await sync.push({ a: x })
    await sync.push({ a: x, b: y }, from)
    const tree = makeTree({ a: x, c: z }, ann.email)
    const id = await sync.send(tree, from)
    const replies = await Promise.all(Array.from({ length: 10 }, () => sync.putHead(id)))
    assert.deepEqual(
      replies.map(({ status }) => status),
      Array.from({ length: 10 }, () => 200),
    )
    const merge = await sync.commit(await sync.head())
    assert.equal(merge.second_parent_id, id)
    assert.equal((await infoOf(sync.library)).headSeq, 4)
  })
})

async function infoOf(library: string) {
  const { access, accounts } = server.running.services
  const opened = await access.open(
    await accounts.get(ann.email),
    library as Parameters<typeof access.open>[1],
  )
  return opened.info
}
