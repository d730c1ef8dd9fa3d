import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { it } from 'node:test'
import { findLibraryKey } from '../../src/commits/library-store.ts'
import { dbOf } from '../../src/library/core.ts'
import type { LibraryId } from '../../src/objects/ids.ts'
import { parsePath } from '../../src/objects/paths.ts'
import { PartialUploads } from '../../src/transfer/resumable.ts'
import { startServer } from '../support/server.ts'

const CHUNK = 1_000_000

it('a chunk does not replace those before it when another node starts the upload over', async (t) => {
  await using server = await startServer()
  const client = await server.signUp()
  const { core, accounts } = server.running.services
  const db = dbOf(core)
  const key = {
    libraryKey: (await findLibraryKey(db, (await client.createLibrary()) as LibraryId)) ?? assert.fail(),
    accountKey: (await accounts.get(client.email)).key,
    linkKey: 0,
    path: parsePath('/large.bin') ?? assert.fail(),
  }
  const bytes = randomBytes(3 * CHUNK)
  const [here, there] = Array.from(
    { length: 2 },
    () => new PartialUploads(db, core.content, '/nowhere', core.now),
  ) as [PartialUploads, PartialUploads]
  const owner = { guest: 0, dataKey: undefined, check: async () => {} } as const
  const receive = (node: PartialUploads, start: number, end: number) => {
    const range = { start, end, total: bytes.length }
    const source = (async function* () {
      yield bytes.subarray(start, end)
    })()
    return node.receive(key, range, source, undefined)
  }
  const send = async (node: PartialUploads, start: number, end: number) => {
    await using chunk = await receive(node, start, end)
    const range = { start, end, total: bytes.length }
    await node.add(key, range, chunk, owner, async () => assert.fail('it is not the last one'))
  }

  await send(here, 0, CHUNK)
  await using second = await receive(here, CHUNK, 2 * CHUNK)
  // The second chunk has to be staged again, because the upload it continued has started over.
  await send(there, 0, CHUNK)
  // That happens once more between the two reads of its state.
  let isHeld = true
  const all = db.all.bind(db)
  t.mock.method(
    db,
    'all',
    async (sql: string, ...parameters: Parameters<typeof all> extends [string, ...infer P] ? P : never) => {
      if (isHeld && sql.includes('from staged_block')) {
        isHeld = false
        await send(there, 0, CHUNK / 2)
      }
      return all(sql, ...parameters)
    },
  )
  const range = { start: CHUNK, end: 2 * CHUNK, total: bytes.length }
  const adding = here.add(key, range, second, owner, async () => assert.fail('it is not the last one'))
  await assert.rejects(adding, /refused with 400/)
  assert.equal(isHeld, false)
  assert.equal(await here.uploadedBytes(key), CHUNK / 2)
})
