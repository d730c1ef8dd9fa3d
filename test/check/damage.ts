import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFile, rm, truncate, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { FileId, LibraryId } from '../../src/base/objects/ids.ts'
import { pathKey } from '../../src/base/paths/path-key.ts'
import type { LibraryPath } from '../../src/base/paths/paths.ts'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import { libraryRows } from '../../src/libraries/registry/library-store.ts'
import type { FindingKind } from '../../src/maintenance/check/finding.ts'
import type { Value } from '../../src/platform/database/database.ts'
import type { Client } from '../support/client.ts'
import type { TestServer } from '../support/server.ts'
import { eventually, uploadFile } from '../support/transfer.ts'

/** A library with something of everything, and everything derived from it. */
export interface Sample {
  readonly server: TestServer
  readonly client: Client
  readonly library: string
  readonly key: number
  readonly small: Buffer
  readonly large: Buffer
  readonly run: (sql: string, ...values: Value[]) => Promise<number>
  readonly runInSearch: (sql: string, ...values: Value[]) => Promise<number>
  readonly idOf: (filePath: string) => Promise<Buffer>
  readonly blockOf: (bytes: Buffer, at?: string) => Promise<{ id: Buffer; file: string }>
}

export async function createSample(server: TestServer, client: Client): Promise<Sample> {
  const library = await client.createLibrary('Plans')
  const [small, large] = [randomBytes(5000), randomBytes(200_000)]
  await uploadFile(client, library, '/docs/small.bin', small)
  await uploadFile(client, library, '/docs/deep/large.bin', large)
  await uploadFile(client, library, '/notes.txt', randomBytes(20))
  await uploadFile(client, library, '/notes.txt', randomBytes(30), { replace: true })
  await uploadFile(client, library, '/gone.txt', randomBytes(10))
  const gone = await client.delete(`/api2/repos/${library}/file/`, { query: { p: '/gone.txt' } })
  assert.equal(gone.status, 200)
  const { db, search, core, usage } = server.running.services
  const key = (await libraryRows.findKey(db, library as LibraryId)) ?? assert.fail('no library')
  assert.equal((await client.get(`/api/v2.1/repos/${library}/trash/`)).body.data.length, 1)
  await eventually(async () => {
    await search.reindexing.look()
    const { commits, waitingTexts } = await search.reindexing.lag()
    assert.deepEqual([commits, waitingTexts], [0, 0])
  })
  await usage.refresh()
  const entryId = async (filePath: string) => {
    const [row] = await db.all<{ root: Uint8Array }>('select root from library where key = ?', key)
    assert.ok(row)
    let id = Buffer.from(row.root).toString('hex')
    for (const name of filePath.split('/').filter((part) => part !== '')) {
      const { dir } = await storesOf(core).objects.getDir(key, id as never)
      id = dir.find(name)?.id ?? assert.fail(`no ${name}`)
    }
    return id
  }
  return {
    server,
    client,
    library,
    key,
    small,
    large,
    run: (sql, ...values) => db.write((tx) => tx.run(sql, ...values)),
    runInSearch: (sql, ...values) => search.db.write((tx) => tx.run(sql, ...values)),
    idOf: async (filePath) => Buffer.from(await entryId(filePath), 'hex'),
    async blockOf(bytes, at) {
      const filePath = at ?? (bytes === small ? '/docs/small.bin' : '/docs/deep/large.bin')
      const { blockIds } = await storesOf(core).objects.getFile(key, (await entryId(filePath)) as FileId)
      const id = blockIds[0] ?? assert.fail('no block')
      return {
        id: Buffer.from(id, 'hex'),
        file: path.join(server.data, 'blocks', id.slice(0, 2), id.slice(2)),
      }
    },
  }
}

export async function flip(file: string, at: number): Promise<void> {
  const content = await readFile(file)
  content.writeUInt8(content.readUInt8(at) ^ 1, at)
  await writeFile(file, content)
}

/** Every kind of damage, and what a check says of it. */
export const DAMAGES: readonly {
  readonly name: string
  readonly damage: (sample: Sample) => Promise<unknown>
  readonly found: readonly (readonly [kind: FindingKind, path: string | null])[]
  /** Whether it is found without reading the blocks. */
  readonly isCheap?: boolean
}[] = [
  {
    name: 'a block file that was deleted',
    damage: async ({ blockOf, large }) => rm((await blockOf(large)).file),
    found: [['block-missing', '/docs/deep/large.bin']],
    isCheap: true,
  },
  {
    name: 'a truncated block file',
    damage: async ({ blockOf, large }) => truncate((await blockOf(large)).file, 1000),
    found: [['block-damaged', '/docs/deep/large.bin']],
    isCheap: true,
  },
  {
    name: 'a flipped bit in a block file',
    damage: async ({ blockOf, large }) => flip((await blockOf(large)).file, 100_000),
    found: [['block-damaged', '/docs/deep/large.bin']],
  },
  {
    name: 'a small block with other bytes',
    damage: async ({ run, blockOf, small }) =>
      run('update small_block set data = ? where id = ?', randomBytes(5000), (await blockOf(small)).id),
    found: [['block-damaged', '/docs/small.bin']],
  },
  {
    name: 'a small block that was deleted',
    damage: async ({ run, blockOf, small }) =>
      run('delete from small_block where id = ?', (await blockOf(small)).id),
    found: [['block-missing', '/docs/small.bin']],
    isCheap: true,
  },
  {
    name: 'a block that the library does not hold',
    damage: async ({ run, key, blockOf, small }) =>
      run('delete from library_block where library_key = ? and block_id = ?', key, (await blockOf(small)).id),
    found: [['block-unheld', '/docs/small.bin']],
    isCheap: true,
  },
  {
    name: 'a block that the library does not hold, and whose file was deleted',
    damage: async ({ run, key, blockOf, large }) => {
      const { id, file } = await blockOf(large)
      await run('delete from library_block where library_key = ? and block_id = ?', key, id)
      await rm(file)
    },
    found: [['block-unheld', '/docs/deep/large.bin']],
    isCheap: true,
  },
  {
    name: 'a file object that was deleted',
    damage: async ({ run, key, idOf }) =>
      run('delete from fs_object where library_key = ? and id = ?', key, await idOf('/docs/small.bin')),
    found: [['object-missing', '/docs/small.bin']],
    isCheap: true,
  },
  {
    name: 'a damaged file object',
    damage: async ({ run, key, idOf }) => {
      const other = await idOf('/docs/deep/large.bin')
      const sql = `update fs_object set data = (select o.data from fs_object o where o.library_key = ? and o.id = ?)
        where library_key = ? and id = ?`
      return run(sql, key, other, key, await idOf('/docs/small.bin'))
    },
    found: [['object-damaged', '/docs/small.bin']],
    isCheap: true,
  },
  {
    name: 'a dir that was deleted',
    damage: async ({ run, key, idOf }) =>
      run('delete from fs_object where library_key = ? and id = ?', key, await idOf('/docs/deep')),
    found: [['object-missing', '/docs/deep']],
    isCheap: true,
  },
  {
    name: 'a damaged dir',
    damage: async ({ run, key, idOf }) =>
      run(
        'update fs_object set data = ? where library_key = ? and id = ?',
        randomBytes(50),
        key,
        await idOf('/docs'),
      ),
    found: [['object-damaged', '/docs']],
    isCheap: true,
  },
  {
    name: 'a wrong size of a library',
    damage: ({ run, key }) => run('update library set size = size + 7 where key = ?', key),
    found: [['library-size', null]],
    isCheap: true,
  },
  {
    name: 'a wrong file count of a folder',
    damage: async ({ run, key, idOf }) =>
      run('update fs_object set file_count = 9 where library_key = ? and id = ?', key, await idOf('/docs')),
    found: [['folder-totals', '/docs']],
    isCheap: true,
  },
  {
    name: 'a trash row that was deleted',
    damage: ({ run, key }) => run('delete from trash_item where library_key = ?', key),
    found: [['trash', '/gone.txt']],
    isCheap: true,
  },
  {
    name: 'a row of the path index that was deleted',
    damage: ({ run, key }) => run('delete from file_edit where library_key = ?', key),
    found: [['path-index', '/notes.txt']],
    isCheap: true,
  },
  {
    name: 'a consumer ahead of the library',
    damage: ({ run, key }) =>
      run("update follower set seq = 99 where library_key = ? and name = 'paths'", key),
    found: [['consumer-ahead', null]],
    isCheap: true,
  },
  {
    name: 'a row of the search index that was deleted',
    damage: ({ runInSearch, key }) =>
      runInSearch("delete from search_entry where name = 'notes.txt' and key / 536870912 = ?", key),
    found: [['search-index', '/notes.txt']],
    isCheap: true,
  },
  {
    name: 'a text of the search index that was deleted',
    async damage({ runInSearch, key }) {
      const entry = "(select key from search_entry where name = 'notes.txt' and key / 536870912 = ?)"
      await runInSearch(`delete from search_pending where entry_key = ${entry}`, key)
      await runInSearch(`delete from search_text where entry_key = ${entry}`, key)
    },
    found: [['search-index', '/notes.txt']],
    isCheap: true,
  },
  {
    name: 'wrong usage figures',
    damage: ({ run, key }) => run('update library_usage set current_bytes = 1 where library_key = ?', key),
    found: [['usage', null]],
    isCheap: true,
  },
  {
    name: 'a photo in the index that is not in the tree',
    async damage({ server, run, key, idOf }) {
      await server.running.services.photos.settled()
      const columns = 'library_key, parent, name, file_id, kind, size, mtime, taken_at, day, seq'
      const sql = `insert into photo (${columns}) values (?, '/docs', 'gone.jpg', ?, 0, 1, 0, 0, 0, 1)`
      return run(sql, key, await idOf('/notes.txt'))
    },
    found: [['photo-index', '/docs/gone.jpg']],
    isCheap: true,
  },
  {
    name: 'comments that cannot be found by their path',
    async damage({ client, library, run, key }) {
      await annotate(client, library)
      return run('update annotated_file set path_key = ? where library_key = ?', randomBytes(20), key)
    },
    found: [['path-binding', '/notes.txt']],
    isCheap: true,
  },
  {
    name: 'a tag that cannot be found by its name',
    async damage({ client, library, run, key }) {
      await annotate(client, library)
      return run("update library_tag set name_folded = 'other' where library_key = ?", key)
    },
    found: [['annotations', null]],
    isCheap: true,
  },
  {
    name: 'a share of a file that is gone',
    async damage({ server, client, library, run, key }) {
      const friend = await server.signUp()
      const form = { share_type: 'user', username: friend.email, permission: 'r' }
      const url = `/api/v2.1/repos/${library}/file/shared-items/`
      const shared = await client.put(url, { query: { p: '/notes.txt' }, form })
      assert.deepEqual([shared.status, shared.body.failed], [200, []], shared.text)
      const sql = "update sub_library set path = '/gone', path_key = ? where library_key = ?"
      assert.equal(await run(sql, pathKey('/gone' as LibraryPath), key), 1)
      // The root is always there.
      const link = await client.post('/api/v2.1/share-links/', { form: { repo_id: library, path: '/' } })
      assert.equal(link.status, 200, link.text)
    },
    found: [['path-binding', '/gone']],
    isCheap: true,
  },
]

/** A comment and a tag. */
async function annotate(client: Client, library: string): Promise<void> {
  const comment = { query: { p: '/notes.txt' }, form: { comment: 'Well' } }
  assert.equal((await client.post(`/api2/repos/${library}/file/comments/`, comment)).status, 201)
  const api = `/api/v2.1/repos/${library}`
  const made = await client.post(`${api}/repo-tags/`, { form: { name: 'Urgent', color: 'red' } })
  const { repo_tag_id } = made.body.repo_tag
  const tagged = await client.post(`${api}/file-tags/`, { form: { file_path: '/notes.txt', repo_tag_id } })
  assert.equal(tagged.status, 201, tagged.text)
}
