import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { it } from 'node:test'
import type { LibraryId } from '../../src/base/objects/ids.ts'
import { parsePath } from '../../src/base/paths/paths.ts'
import { dbOf } from '../../src/libraries/library/core.ts'
import { libraryRows } from '../../src/libraries/registry/library-store.ts'
import { PartialUploads, type ReceivedChunk } from '../../src/surfaces/transfer/resumable.ts'
import { startServer, type TestServer } from '../support/server.ts'

const CHUNK = 1_000_000

/** Two nodes on one database, and a file of three chunks that is sent to them. */
async function twoNodes(server: TestServer) {
  const client = await server.signUp()
  const { core, accounts } = server.running.services
  const db = dbOf(core)
  const key = {
    libraryKey: (await libraryRows.findKey(db, (await client.createLibrary()) as LibraryId)) ?? assert.fail(),
    accountKey: (await accounts.get(client.email)).key,
    linkKey: 0,
    path: parsePath('/large.bin') ?? assert.fail(),
  }
  const bytes = randomBytes(3 * CHUNK)
  const [here, there] = Array.from(
    { length: 2 },
    () => new PartialUploads(db, core.incoming, '/nowhere', core.now),
  ) as [PartialUploads, PartialUploads]
  const owner = { guest: 0, dataKey: undefined, check: async () => {}, refuse: async () => {} } as const
  const rangeOf = (start: number, end: number) => ({ start, end, total: bytes.length })
  const receive = (node: PartialUploads, start: number, end: number) => {
    const source = (async function* () {
      yield bytes.subarray(start, end)
    })()
    return node.receive(key, rangeOf(start, end), source, undefined)
  }
  const notLast = async () => assert.fail('it is not the last one')
  const add = (node: PartialUploads, chunk: ReceivedChunk, start: number, end: number) =>
    node.add(key, rangeOf(start, end), chunk, owner, notLast)
  const send = async (node: PartialUploads, start: number, end: number) => {
    await using chunk = await receive(node, start, end)
    await add(node, chunk, start, end)
  }
  /** Sends the last chunk, and resolves to the bytes of the whole file. */
  const finish = async (node: PartialUploads, start: number) => {
    await using chunk = await receive(node, start, bytes.length)
    return await node.add(key, rangeOf(start, bytes.length), chunk, owner, async (file) => {
      await file.ready()
      // Buffers are valid until the next one is read.
      const parts: Buffer[] = []
      for await (const part of file.read()) parts.push(Buffer.from(part))
      return Buffer.concat(parts)
    })
  }
  return { db, key, bytes, here, there, receive, add, send, finish }
}

it('a chunk does not replace those before it when another node starts the upload over', async (t) => {
  await using server = await startServer()
  const { db, key, here, there, receive, add, send } = await twoNodes(server)

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
  await assert.rejects(add(here, second, CHUNK, 2 * CHUNK), /refused with 400/)
  assert.equal(isHeld, false)
  assert.equal(await here.uploadedBytes(key), CHUNK / 2)
})

it('a chunk discards nothing that another node acknowledged while it was being stored', async (t) => {
  await using server = await startServer()
  const { key, bytes, here, there, receive, add, send, finish } = await twoNodes(server)
  await send(here, 0, CHUNK)
  await using second = await receive(here, CHUNK, 2 * CHUNK)
  const keep = second.keep.bind(second)
  // The other node goes further between the read of the state and the record of the chunk.
  const held = t.mock.method(second, 'keep', async () => {
    held.mock.restore()
    await send(there, CHUNK, 2.5 * CHUNK)
    await keep()
  })
  await add(here, second, CHUNK, 2 * CHUNK)
  assert.equal(held.mock.callCount(), 1)
  assert.equal(await here.uploadedBytes(key), 2.5 * CHUNK)
  assert.ok(bytes.equals((await finish(there, 2.5 * CHUNK)) ?? assert.fail()))
})
