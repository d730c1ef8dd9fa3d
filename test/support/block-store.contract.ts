import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import { type BlockId, sha1Hex } from '../../src/base/objects/ids.ts'
import {
  BlockDamaged,
  BlockMismatch,
  BlockMissing,
  type BlockStore,
  readWhole,
} from '../../src/platform/storage/block-store.ts'

export const blockIdOf = (bytes: Uint8Array) => sha1Hex(bytes) as BlockId

const MIB = 1024 * 1024

async function* inPieces(bytes: Uint8Array, pieceBytes: number) {
  for (let start = 0; start < bytes.length; start += pieceBytes)
    yield bytes.subarray(start, start + pieceBytes)
}

async function* cutShort(bytes: Uint8Array) {
  yield bytes.subarray(0, bytes.length - 1)
  throw new Error('the client went away')
}

async function* neverEnding(bytes: Uint8Array) {
  yield bytes
  await new Promise(() => {})
}

async function receive(store: BlockStore, pieces: readonly Uint8Array[]) {
  const writer = store.begin()
  for (const piece of pieces) await writer.write(piece)
  return writer.finish()
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

/** The contract of BlockStore, which every store passes. `open` returns an empty store. */
export function blockStoreContract(name: string, open: () => Promise<BlockStore>) {
  describe(`${name} as a block store`, () => {
    const sizes = [0, 1, 4096, MIB, MIB + 1, 3 * MIB + 17]
    for (const size of sizes) {
      it(`returns a block of ${size} bytes that was put whole or as a stream`, async () => {
        await using store = await open()
        const [whole, pieces] = [randomBytes(size), randomBytes(size)]
        await store.put(blockIdOf(whole), whole)
        await store.put(blockIdOf(pieces), inPieces(pieces, 100_003))
        for (const bytes of [whole, pieces]) {
          assert.ok((await readWhole(store, blockIdOf(bytes))).equals(bytes))
          assert.equal(await store.size(blockIdOf(bytes)), size)
        }
      })
    }

    it('accepts a Node stream', async () => {
      await using store = await open()
      const bytes = randomBytes(200_000)
      await store.put(blockIdOf(bytes), Readable.from(inPieces(bytes, 7_001)))
      assert.ok((await readWhole(store, blockIdOf(bytes))).equals(bytes))
    })

    it('reads ranges at once, also into buffers that were released', async () => {
      await using store = await open()
      const bytes = randomBytes(MIB)
      const id = blockIdOf(bytes)
      await store.put(id, bytes)
      const ranges: [start: number, end: number][] = [
        [0, 1],
        [0, MIB],
        [MIB - 70_000, MIB],
        [1000, 70_000],
        [MIB - 1, MIB],
      ]
      const kept = await store.readAtOnce(id, { start: 0, end: MIB })
      for (const [start, end] of [...ranges, ...ranges]) {
        const read = await store.readAtOnce(id, { start, end })
        assert.ok(read.bytes.equals(bytes.subarray(start, end)), `${start}-${end}`)
        read.release?.()
      }
      assert.ok(kept.bytes.equals(bytes), 'a buffer that was not released stays unchanged')
    })

    it('readAtOnce rejects a missing block and a range beyond the end', async () => {
      await using store = await open()
      const bytes = randomBytes(100_000)
      const id = blockIdOf(bytes)
      await assert.rejects(store.readAtOnce(id, { start: 0, end: 100_000 }), BlockMissing)
      await store.put(id, bytes)
      await assert.rejects(store.readAtOnce(id, { start: 0, end: 100_001 }), BlockDamaged)
      await assert.rejects(store.readAtOnce(id, { start: 99_999, end: 100_001 }), BlockDamaged)
    })

    it('reads a range', async () => {
      await using store = await open()
      const bytes = randomBytes(2 * MIB)
      const id = blockIdOf(bytes)
      await store.put(id, bytes)
      const ranges: [start: number, end: number][] = [
        [0, 1],
        [0, bytes.length],
        [5, 5],
        [MIB - 1, MIB + 1],
        [bytes.length - 1, bytes.length],
        [bytes.length, bytes.length],
      ]
      for (const [start, end] of ranges) {
        const read = Buffer.concat(await collect(store.read(id, { start, end })))
        assert.ok(read.equals(bytes.subarray(start, end)), `${start}-${end}`)
      }
    })

    it('reports damage if a block ends before the range does', async () => {
      await using store = await open()
      const bytes = randomBytes(100)
      await store.put(blockIdOf(bytes), bytes)
      await assert.rejects(collect(store.read(blockIdOf(bytes), { start: 90, end: 101 })), BlockDamaged)
    })

    it('reports a missing block', async () => {
      await using store = await open()
      const id = blockIdOf(randomBytes(10))
      await assert.rejects(readWhole(store, id), BlockMissing)
      await assert.rejects(collect(store.read(id, { start: 0, end: 1 })), BlockMissing)
      await assert.rejects(store.size(id), BlockMissing)
    })

    it('accepts a block that is already stored', async () => {
      await using store = await open()
      const bytes = randomBytes(MIB)
      const id = blockIdOf(bytes)
      await store.put(id, bytes)
      await store.put(id, bytes)
      await store.put(id, inPieces(bytes, 9_999))
      assert.ok((await readWhole(store, id)).equals(bytes))
      assert.deepEqual(await collect(store.list()), [id])
    })

    it('accepts concurrent puts of one block', async () => {
      await using store = await open()
      const bytes = randomBytes(MIB)
      const id = blockIdOf(bytes)
      const puts = Array.from({ length: 8 }, (_, n) => store.put(id, n % 2 ? bytes : inPieces(bytes, 65_536)))
      await Promise.all(puts)
      assert.ok((await readWhole(store, id)).equals(bytes))
    })

    it('accepts concurrent puts of many blocks', async () => {
      await using store = await open()
      const blocks = Array.from({ length: 100 }, (_, n) => randomBytes(n * 100))
      await Promise.all(blocks.map((bytes) => store.put(blockIdOf(bytes), bytes)))
      assert.deepEqual(await store.missing(blocks.map(blockIdOf)), [])
      for (const bytes of blocks) assert.ok((await readWhole(store, blockIdOf(bytes))).equals(bytes))
    })

    it('rejects bytes that do not hash to the id, and stores nothing', async () => {
      await using store = await open()
      const [bytes, other] = [randomBytes(2 * MIB), randomBytes(2 * MIB)]
      const id = blockIdOf(bytes)
      await assert.rejects(store.put(id, other), BlockMismatch)
      await assert.rejects(store.put(id, inPieces(other, 1000)), BlockMismatch)
      assert.deepEqual(await store.missing([id]), [id])
      assert.deepEqual(await collect(store.list()), [])
    })

    it('rejects wrong bytes for a stored block, and keeps the block', async () => {
      await using store = await open()
      const [bytes, other] = [randomBytes(5000), randomBytes(5000)]
      const id = blockIdOf(bytes)
      await store.put(id, bytes)
      await assert.rejects(store.put(id, other), BlockMismatch)
      await assert.rejects(store.put(id, inPieces(other, 1000)), BlockMismatch)
      assert.ok((await readWhole(store, id)).equals(bytes))
    })

    it('stores nothing of an upload that was cut short', async () => {
      await using store = await open()
      const bytes = randomBytes(2 * MIB)
      const id = blockIdOf(bytes)
      await assert.rejects(store.put(id, cutShort(bytes)), /^Error: the client went away$/)
      assert.deepEqual(await store.missing([id]), [id])
      await store.put(id, bytes)
      assert.ok((await readWhole(store, id)).equals(bytes))
    })

    it('shows a block only after its upload has ended', async () => {
      await using store = await open()
      const bytes = randomBytes(2 * MIB)
      const id = blockIdOf(bytes)
      const seen: BlockId[][] = []
      async function* watched() {
        yield bytes.subarray(0, MIB)
        seen.push(await store.missing([id]))
        yield bytes.subarray(MIB)
        seen.push(await store.missing([id]))
      }
      await store.put(id, watched())
      assert.deepEqual(seen, [[id], [id]])
      assert.deepEqual(await store.missing([id]), [])
    })

    it('aborts an upload while its source is silent', async () => {
      await using store = await open()
      const bytes = randomBytes(1000)
      const id = blockIdOf(bytes)
      const aborting = new AbortController()
      const putting = store.put(id, neverEnding(bytes), aborting.signal)
      setImmediate(() => aborting.abort(new Error('enough')))
      await assert.rejects(putting, /^Error: enough$/)
      assert.deepEqual(await store.missing([id]), [id])
    })

    it('does not start an upload that is already aborted', async () => {
      await using store = await open()
      const bytes = randomBytes(1000)
      const signal = AbortSignal.abort(new Error('too late'))
      await assert.rejects(store.put(blockIdOf(bytes), bytes, signal), /^Error: too late$/)
      await assert.rejects(store.put(blockIdOf(bytes), inPieces(bytes, 10), signal), /^Error: too late$/)
      assert.deepEqual(await collect(store.list()), [])
    })

    it('closes the source of an aborted upload', async () => {
      await using store = await open()
      const source = Readable.from(inPieces(randomBytes(10 * MIB), MIB))
      const aborting = new AbortController()
      source.once('data', () => aborting.abort(new Error('enough')))
      await assert.rejects(store.put(blockIdOf(Buffer.of()), source, aborting.signal), /^Error: enough$/)
      assert.equal(source.destroyed, true)
    })

    it('copies bytes it is given and bytes it returns', async () => {
      await using store = await open()
      const bytes = randomBytes(1000)
      const [id, given] = [blockIdOf(bytes), Buffer.from(bytes)]
      await store.put(id, given)
      given.fill(0)
      const first = await readWhole(store, id)
      assert.ok(first.equals(bytes))
      first.fill(0)
      assert.ok((await readWhole(store, id)).equals(bytes))
    })

    it('returns chunks that stay unchanged while more are read', async () => {
      await using store = await open()
      const bytes = randomBytes(4 * MIB)
      await store.put(blockIdOf(bytes), bytes)
      assert.ok(Buffer.concat(await collect(store.read(blockIdOf(bytes)))).equals(bytes))
    })

    it('lets a reader stop early', async () => {
      await using store = await open()
      const bytes = randomBytes(4 * MIB)
      const id = blockIdOf(bytes)
      await store.put(id, bytes)
      for await (const chunk of store.read(id)) {
        assert.ok(chunk.equals(bytes.subarray(0, chunk.length)))
        break
      }
      assert.ok((await readWhole(store, id)).equals(bytes))
    })

    it('lists missing blocks in the order of the query, with repetitions', async () => {
      await using store = await open()
      const blocks = Array.from({ length: 70 }, () => randomBytes(10))
      const ids = blocks.map(blockIdOf)
      const held = blocks.filter((_, n) => n % 3 === 0)
      for (const bytes of held) await store.put(blockIdOf(bytes), bytes)
      const heldIds = new Set(held.map(blockIdOf))
      const expected = ids.filter((id) => !heldIds.has(id))
      assert.deepEqual(await store.missing([...ids, ...ids]), [...expected, ...expected])
      assert.deepEqual(await store.missing([]), [])
    })

    it('receives a block whose id is known only at its end', async () => {
      await using store = await open()
      const bytes = randomBytes(3 * MIB + 7)
      const pieces = [bytes.subarray(0, 10), bytes.subarray(10, 2 * MIB), bytes.subarray(2 * MIB)]
      const received = await receive(store, pieces)
      await received.keep()
      assert.deepEqual([received.id, received.size], [blockIdOf(bytes), bytes.length])
      assert.ok((await readWhole(store, received.id)).equals(bytes))
    })

    it('stores nothing of a received block that does not have the expected id', async () => {
      await using store = await open()
      for (const size of [10, 100_000, 3 * MIB]) {
        const bytes = randomBytes(size)
        const other = blockIdOf(randomBytes(size))
        const writer = store.begin()
        await writer.write(bytes)
        await assert.rejects(
          writer.finish(other),
          (error) => error instanceof BlockMismatch && error.id === other,
        )
        assert.deepEqual(await collect(store.list()), [])
      }
      const bytes = randomBytes(3 * MIB)
      const writer = store.begin()
      await writer.write(bytes)
      await (await writer.finish(blockIdOf(bytes))).keep()
      assert.ok((await readWhole(store, blockIdOf(bytes))).equals(bytes))
    })

    it('receives a block in pieces of any size', async () => {
      await using store = await open()
      const bytes = randomBytes(3 * MIB + 17)
      for (const length of [65_536, MIB / 2, MIB / 2 + 1, 2 * MIB, bytes.length]) {
        for (const most of [65_510, 300_001, 2 * MIB + 3]) {
          const block = bytes.subarray(0, length)
          const pieces: Buffer[] = []
          for (let at = 0; at < length; at += most) pieces.push(block.subarray(at, at + most))
          const received = await receive(store, pieces)
          await received.keep()
          const { id, size } = received
          assert.deepEqual([id, size], [blockIdOf(block), length])
          assert.ok((await readWhole(store, id)).equals(block))
        }
      }
    })

    it('stores a received block only when it is kept', async () => {
      await using store = await open()
      for (const size of [10, 100_000, 3 * MIB]) {
        const received = await receive(store, [randomBytes(size)])
        await received.synced
        assert.deepEqual(await collect(store.list()), [])
        await received.discard()
        assert.deepEqual(await collect(store.list()), [])
      }
      const bytes = randomBytes(MIB)
      const [kept, discarded] = await Promise.all([receive(store, [bytes]), receive(store, [bytes])])
      await kept.keep()
      await discarded.discard()
      assert.ok((await readWhole(store, kept.id)).equals(bytes))
    })

    it('receives the same block from several senders at once', async () => {
      await using store = await open()
      const bytes = randomBytes(MIB)
      const all = await Promise.all([1, 2, 3].map(() => receive(store, [bytes])))
      await Promise.all(all.map((received) => received.keep()))
      assert.ok((await readWhole(store, blockIdOf(bytes))).equals(bytes))
    })

    it('stores nothing of a received block that was aborted or empty', async () => {
      await using store = await open()
      for (const sizes of [[], [10], [MIB], [MIB, 3 * MIB]]) {
        const writer = store.begin()
        for (const size of sizes) await writer.write(randomBytes(size))
        await writer.abort()
      }
      await assert.rejects(store.begin().finish(), /at least one byte/)
      assert.deepEqual(await collect(store.list()), [])
    })

    it('lists its blocks in ascending order', async () => {
      await using store = await open()
      const blocks = Array.from({ length: 50 }, () => randomBytes(10))
      await Promise.all(blocks.map((bytes) => store.put(blockIdOf(bytes), bytes)))
      assert.deepEqual(await collect(store.list()), blocks.map(blockIdOf).sort())
    })

    it('takes a retired block back when it is asked for', async () => {
      await using store = await open()
      const blocks = Array.from({ length: 5 }, () => randomBytes(100_000))
      const ids = blocks.map(blockIdOf)
      for (const [index, id] of ids.entries()) await store.put(id, blocks[index] as Buffer)
      for (const id of ids) await store.retire(id)
      assert.deepEqual(await collect(store.list()), [])
      assert.deepEqual(await collect(store.listRetired()), ids.toSorted())
      const [first, second, third, fourth, fifth] = ids as [BlockId, BlockId, BlockId, BlockId, BlockId]
      assert.ok((await readWhole(store, first)).equals(blocks[0] as Buffer))
      assert.equal((await store.readAtOnce(second, { start: 0, end: 10 })).bytes.length, 10)
      assert.deepEqual(await store.missing([third]), [])
      await store.put(fourth, blocks[3] as Buffer)
      assert.equal(await store.restore(fifth), true)
      assert.equal(await store.restore(fifth), false)
      assert.deepEqual(await collect(store.list()), ids.toSorted())
      assert.deepEqual(await collect(store.listRetired()), [])
    })

    it('discards retired blocks only', async () => {
      await using store = await open()
      const [kept, gone] = [randomBytes(70_000), randomBytes(80_000)]
      for (const bytes of [kept, gone]) await store.put(blockIdOf(bytes), bytes)
      await store.retire(blockIdOf(gone))
      await store.retire('a'.repeat(40) as BlockId)
      assert.equal(await store.discard(blockIdOf(gone)), 80_000)
      assert.equal(await store.discard(blockIdOf(gone)), 0)
      assert.equal(await store.discard(blockIdOf(kept)), 0)
      assert.deepEqual(await store.missing([blockIdOf(kept), blockIdOf(gone)]), [blockIdOf(gone)])
      await assert.rejects(readWhole(store, blockIdOf(gone)), BlockMissing)
    })

    it('stores a discarded block again', async () => {
      await using store = await open()
      const bytes = randomBytes(10)
      const id = blockIdOf(bytes)
      await store.put(id, bytes)
      await store.retire(id)
      await store.discard(id)
      assert.deepEqual(await store.missing([id]), [id])
      await assert.rejects(readWhole(store, id), BlockMissing)
      await store.put(id, bytes)
      assert.ok((await readWhole(store, id)).equals(bytes))
    })
  })
}
