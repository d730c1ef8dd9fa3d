import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { LibraryId } from '../../src/base/objects/ids.ts'
import { keyRangeOf } from '../../src/derived/search/keys.ts'
import { dbOf } from '../../src/libraries/library/core.ts'
import { getLibrary } from '../../src/libraries/library/libraries.ts'
import type { LibraryRow } from '../../src/libraries/registry/library-store.ts'
import { libraryRows } from '../../src/libraries/registry/library-store.ts'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { eventually, uploadFile } from '../support/transfer.ts'

/** Creates 2^levels files below /n(levels) by copies. */
async function grow(client: Client, library: string, levels: number): Promise<void> {
  await uploadFile(client, library, '/n0/words.txt', 'some words')
  for (let level = 1; level <= levels; level++) {
    const mkdir = { query: { p: `/n${level}` }, form: { operation: 'mkdir' } }
    assert.equal((await client.post(`/api2/repos/${library}/dir/`, mkdir)).status, 201)
    for (let times = 0; times < 2; times++) {
      const from = { src_repo_id: library, src_parent_dir: '/', src_dirents: [`n${level - 1}`] }
      const json = { ...from, dst_repo_id: library, dst_parent_dir: `/n${level}` }
      assert.equal((await client.post('/api/v2.1/repos/sync-batch-copy-item/', { json })).status, 200)
    }
  }
}

/** The database of the index is not part of the services. */
async function rowsOf(server: TestServer, libraryKey: number) {
  const { db } = server.running.services.search
  await server.running.services.search.index.prepare()
  const { after, before } = keyRangeOf(libraryKey)
  const count = async (table: string, column: string) =>
    (
      await db.get<{ n: number }>(
        `select count(*) as n from ${table} where ${column} > ? and ${column} < ?`,
        after,
        before,
      )
    )?.n ?? 0
  const positions = await db.all('select seq from search_library where library_key = ?', libraryKey)
  return {
    entries: await count('search_entry', 'key'),
    pending: await count('search_pending', 'entry_key'),
    positions: positions.length,
  }
}

it('indexing stops when its library is purged, and leaves nothing behind', async () => {
  await using server = await startServer()
  const user = await server.signUp()
  const library = await user.createLibrary()
  const { core, search } = server.running.services
  await grow(user, library, 15)
  const { key } = await getLibrary(core, library as LibraryId)
  await eventually(async () => assert.ok((await rowsOf(server, key)).entries > 0))
  assert.equal((await user.delete(`/api2/repos/${library}/`)).status, 200)
  const purged = await user.delete(`/api/v2.1/deleted-repos/${library}/`)
  assert.ok(purged.status < 300, purged.text)
  await eventually(async () =>
    assert.deepEqual(await rowsOf(server, key), { entries: 0, pending: 0, positions: 0 }),
  )
  // No indexing is still running.
  await search.index.ended(key)
  assert.deepEqual(await rowsOf(server, key), { entries: 0, pending: 0, positions: 0 })
  assert.deepEqual(await dbOf(core).all('select name from follower where library_key = ?', key), [])
})

it('indexing of a deleted library stops, and resumes when it is restored', async () => {
  await using server = await startServer()
  const user = await server.signUp()
  const library = await user.createLibrary()
  const { core, search } = server.running.services
  await grow(user, library, 12)
  const { key } = await getLibrary(core, library as LibraryId)
  await eventually(async () => assert.ok((await rowsOf(server, key)).entries > 0))
  assert.equal((await user.delete(`/api2/repos/${library}/`)).status, 200)
  await search.index.ended(key)
  const restored = await user.post('/api/v2.1/deleted-repos/', { form: { repo_id: library } })
  assert.equal(restored.status, 200, restored.text)
  await eventually(async () => {
    const row = await dbOf(core).get<LibraryRow>('select * from library where key = ?', key)
    const { fileCount } = libraryRows.read(row ?? assert.fail())
    const { entries } = await rowsOf(server, key)
    assert.ok(entries > fileCount, `${entries} of more than ${fileCount}`)
  })
})

it('a tree beyond the limit, created before the limit existed, is not indexed', async () => {
  await using server = await startServer({ env: { CARREL_MAX_LIBRARY_ENTRIES: '100' } })
  const user = await server.signUp()
  const [huge, small] = [await user.createLibrary(), await user.createLibrary()]
  const { core, search } = server.running.services
  // As an older version did.
  const limits = core.growth.limits as { library?: number | undefined }
  limits.library = undefined
  await grow(user, huge, 8)
  limits.library = 100
  await uploadFile(user, small, '/words.txt', 'some words')
  const [hugeKey, smallKey] = [
    (await getLibrary(core, huge as LibraryId)).key,
    (await getLibrary(core, small as LibraryId)).key,
  ]
  await uploadFile(user, huge, '/n0/words.txt', 'others', { replace: true })
  await search.reindexing.look()
  assert.equal((await rowsOf(server, smallKey)).entries, 1)
  assert.equal((await rowsOf(server, hugeKey)).entries, 0)
  for (let level = 8; level > 0; level--) {
    assert.equal((await user.delete(`/api2/repos/${huge}/dir/`, { query: { p: `/n${level}` } })).status, 200)
  }
  await search.reindexing.look()
  assert.equal((await rowsOf(server, hugeKey)).entries, 2)
})
