import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LibraryId } from '../../src/base/objects/ids.ts'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import { getLibrary } from '../../src/libraries/library/libraries.ts'
import type { Client, Reply } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { makeTree, SyncClient, type TreeSpec } from '../support/sync-client.ts'
import { headOf, intoRoot, namesIn, postForm, uploadFile, uploadLink } from '../support/transfer.ts'
import { ended, started } from './tasks-support.ts'

const COPY = '/api/v2.1/repos/sync-batch-copy-item/'

function copy(client: Client, from: string, parent: string, name: string, to: string, folder: string) {
  const json = {
    src_repo_id: from,
    src_parent_dir: parent,
    src_dirents: [name],
    dst_repo_id: to,
    dst_parent_dir: folder,
  }
  return client.post(COPY, { json })
}

const mkdir = (client: Client, library: string, p: string) =>
  client.post(`/api2/repos/${library}/dir/`, { query: { p }, form: { operation: 'mkdir' } })

/** Number of files and folders of a library, as counted by its root. */
async function entriesOf(server: TestServer, library: string): Promise<number> {
  const { core } = server.running.services
  const { key, root, fileCount } = await getLibrary(core, library as LibraryId)
  const stored = await storesOf(core).objects.getDir(key, root)
  assert.equal(stored.fileCount, fileCount)
  return stored.fileCount + (stored.dirCount ?? assert.fail('the folders are not counted'))
}

/** Doubles a folder by copies until a copy is rejected. */
async function grow(client: Client, library: string, rounds: number): Promise<Reply | undefined> {
  for (let round = 1; round <= rounds; round++) {
    const made = await mkdir(client, library, `/n${round}`)
    if (made.status >= 400) return made
    for (let times = 0; times < 2; times++) {
      const reply = await copy(client, library, '/', `n${round - 1}`, library, `/n${round}`)
      if (reply.status !== 200) return reply
    }
  }
  return undefined
}

describe('the number of entries of a library', () => {
  for (const content of ['files', 'folders'] as const) {
    it(`is limited, however cheaply ${content} can be copied`, async () => {
      await using server = await startServer({ env: { CARREL_MAX_LIBRARY_ENTRIES: '1000' } })
      const user = await server.signUp()
      const library = await user.createLibrary()
      if (content === 'files') await uploadFile(user, library, '/n0/a.txt', 'a')
      else assert.equal((await mkdir(user, library, '/n0')).status, 201)
      const refused = await grow(user, library, 40)
      assert.equal(refused?.status, 400, refused?.text)
      assert.deepEqual(refused?.body, { error_msg: 'A library can have at most 1000 files and folders.' })
      assert.ok((await entriesOf(server, library)) <= 1000)
      // A full library can still be made smaller.
      const { body } = await user.get(`/api2/repos/${library}/dir/`, { p: '/' })
      const last = body.at(-1).name
      const removed = await user.delete(`/api2/repos/${library}/dir/`, { query: { p: `/${last}` } })
      assert.equal(removed.status, 200, removed.text)
    })
  }

  it('is limited for each way to add one, and a rejected change leaves nothing behind', async () => {
    await using server = await startServer({ env: { CARREL_MAX_LIBRARY_ENTRIES: '6' } })
    const user = await server.signUp()
    const library = await user.createLibrary()
    const other = await user.createLibrary()
    await uploadFile(user, other, '/f/x.txt', 'x')
    for (const name of ['a', 'b', 'c', 'd']) await uploadFile(user, library, `/${name}.txt`, name)
    await uploadFile(user, library, '/in/e.txt', 'e')
    const full = await headOf(user, library)
    const trash = async (p: string) =>
      assert.equal((await user.delete(`/api2/repos/${library}/file/`, { query: { p } })).status, 200)
    await trash('/d.txt')
    await uploadFile(user, library, '/late.txt', 'late')
    assert.equal(await entriesOf(server, library), 6)
    const head = await headOf(user, library)

    const link = await uploadLink(user, library)
    const upload = await postForm(link, [intoRoot, { filename: 'z.txt', bytes: 'z' }])
    assert.deepEqual([upload.status, upload.body], [400, { error: 'Too many files in library.' }])
    const file = { query: { p: '/new.txt' }, form: { operation: 'create' } }
    const revert = { form: { p: '/d.txt', commit_id: full } }
    const ways: [string, Reply][] = [
      ['mkdir', await mkdir(user, library, '/new')],
      ['create', await user.post(`/api2/repos/${library}/file/`, file)],
      ['copy', await copy(user, library, '/', 'a.txt', library, '/in')],
      ['copy from elsewhere', await copy(user, other, '/', 'f', library, '/')],
      ['revert', await user.put(`/api2/repos/${library}/file/revert/`, revert)],
    ]
    for (const [way, reply] of ways) {
      assert.equal(reply.status, 400, `${way}: ${reply.text}`)
      assert.deepEqual(reply.body, { error_msg: 'A library can have at most 6 files and folders.' }, way)
    }
    const task = { src_repo_id: other, src_parent_dir: '/', src_dirents: ['f'] }
    const id = await started(user, 'copy', { ...task, dst_repo_id: library, dst_parent_dir: '/' })
    assert.equal((await ended(user, id)).failed_reason, 'Too many files')
    const client = await SyncClient.link(user, library)
    const sent = await client.send({ a: '1', b: '2', c: '3', d: '4', e: '5', f: { g: '6' } }, head)
    const pushed = await client.putHead(sent)
    assert.deepEqual([pushed.status, pushed.text], [447, 'Too many files in library'])

    assert.equal(await headOf(user, library), head)
    // Queued uploads share a commit; each is rejected separately.
    await trash('/late.txt')
    const together = await Promise.all(
      ['p', 'q', 'r'].map((name) => postForm(link, [intoRoot, { filename: name, bytes: name }])),
    )
    assert.deepEqual(
      together.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 400, 400],
    )
    assert.equal(await entriesOf(server, library), 6)
    const renamed = { query: { p: '/a.txt' }, form: { operation: 'rename', newname: 'again.txt' } }
    assert.equal((await user.post(`/api2/repos/${library}/file/`, renamed)).status, 301)
    await uploadFile(user, library, '/b.txt', 'replaced', { replace: true })
  })

  it('is limited for a single change', async () => {
    await using server = await startServer({ env: { CARREL_MAX_COMMIT_ENTRIES: '20' } })
    const user = await server.signUp()
    const library = await user.createLibrary()
    await uploadFile(user, library, '/n0/a.txt', 'a')
    const refused = await grow(user, library, 10)
    assert.deepEqual(
      [refused?.status, refused?.body],
      [400, { error_msg: 'At most 20 files and folders can be added at once.' }],
    )
    assert.ok((await entriesOf(server, library)) < 100)
  })
})

/** A tree of 2^levels files that needs only one dir per level. */
function doubled(levels: number, text: string): TreeSpec {
  let tree: TreeSpec = { leaf: text }
  for (let level = 0; level < levels; level++) tree = { a: tree, b: tree }
  return tree
}

describe('a push', () => {
  it('of a few objects that expand to very many files is rejected at once', async () => {
    await using server = await startServer()
    const user = await server.signUp()
    const library = await user.createLibrary()
    const client = await SyncClient.link(user, library)
    const head = await client.head()
    // Bottom up, so that the test itself does not walk all paths.
    const leaf = makeTree({ leaf: 'x' }, user.email)
    const { objects, blocks } = leaf
    let root = leaf.root
    for (let level = 0; level < 48; level++) {
      const entry = { kind: 'dir', id: root, mtime: 1, mode: 0o040000, size: 0, modifier: '' }
      const made = makeTree({ a: { ...entry, name: 'a' }, b: { ...entry, name: 'b' } } as never, user.email)
      for (const [id, json] of made.objects) objects.set(id, json)
      root = made.root
    }
    const reply = await client.putHead(await client.send({ root, objects, blocks }, head))
    assert.deepEqual([reply.status, reply.text], [447, 'Too many files in library'])
    assert.equal(await client.head(), head)
  })

  it('of a few objects that change very many paths is rejected', async () => {
    await using server = await startServer({ env: { CARREL_MAX_COMMIT_ENTRIES: '1000' } })
    const user = await server.signUp()
    const library = await user.createLibrary()
    const client = await SyncClient.link(user, library)
    const of = (text: string, ...names: string[]) =>
      Object.fromEntries(names.map((name) => [name, doubled(8, text)]))
    await client.push(of('one', 'x'))
    await client.push(of('one', 'x', 'y'))
    const head = await client.push(of('one', 'x', 'y', 'z'))
    assert.equal(await entriesOf(server, library), 3 * (256 + 511))
    const reply = await client.putHead(await client.send(of('two', 'x', 'y', 'z'), head))
    assert.deepEqual([reply.status, reply.text], [447, 'Too many files in library'])
    assert.deepEqual(await namesIn(user, library), ['x/', 'y/', 'z/'])
    await client.push(of('one', 'x'), head)
    assert.equal(await entriesOf(server, library), 256 + 511)
  })
})
