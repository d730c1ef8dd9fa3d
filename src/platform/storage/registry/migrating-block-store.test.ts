import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { blockIdOf, blockStoreContract } from '../../../../test/support/block-store.contract.ts'
import { MemoryBlockStore } from '../../../../test/support/memory-block-store.ts'
import type { BlockId } from '../../../base/objects/index.ts'
import { BlockDamaged, BlockMissing, type BlockStore, readWhole } from '../block-store.ts'
import { copyBlocks, emptyStore, isEmpty } from './copy-blocks.ts'
import { MigratingBlockStore } from './migrating-block-store.ts'

blockStoreContract(
  'two stores during a move',
  async () => new MigratingBlockStore(new MemoryBlockStore(), new MemoryBlockStore()),
)

async function putSome(store: BlockStore, count: number): Promise<Map<BlockId, Buffer>> {
  const blocks = new Map<BlockId, Buffer>()
  for (let number = 0; number < count; number += 1) {
    const bytes = randomBytes(1000 + number)
    blocks.set(blockIdOf(bytes), bytes)
    await store.put(blockIdOf(bytes), bytes)
  }
  return blocks
}

const copyOf = (from: BlockStore, to: BlockStore, signal = new AbortController().signal) => ({
  from,
  to,
  signal,
  onProgress() {},
})

/** Calls `before` ahead of each call of a method, for the races of a move. */
function intercepted(
  store: BlockStore,
  method: keyof BlockStore,
  before: (...args: never[]) => Promise<void>,
): BlockStore {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      if (name !== method) return value.bind(target)
      return async (...args: never[]) => {
        await before(...args)
        return value.apply(target, args)
      }
    },
  })
}

describe('moving blocks to another store', () => {
  it('reads what was not copied from the old store, and writes to the new one', async () => {
    const [to, from] = [new MemoryBlockStore(), new MemoryBlockStore()]
    await using store = new MigratingBlockStore(to, from)
    const [[id, bytes] = assert.fail()] = await putSome(from, 1)
    assert.ok((await readWhole(store, id)).equals(bytes))
    assert.equal(await store.size(id), bytes.length)
    assert.ok((await store.readAtOnce(id, { start: 1, end: 9 })).bytes.equals(bytes.subarray(1, 9)))
    assert.deepEqual(await store.missing([id]), [])
    await putSome(store, 2)
    assert.equal((await Array.fromAsync(to.list())).length, 2)
    assert.equal((await Array.fromAsync(from.list())).length, 1)
    // Garbage collection does not reach what was not copied.
    await store.retire(id)
    assert.equal(await store.discard(id), 0)
    assert.deepEqual(await store.missing([id]), [])
  })

  it('copies everything, continues after an interruption, and empties the old store', async () => {
    const [to, from] = [new MemoryBlockStore(), new MemoryBlockStore()]
    const blocks = await putSome(from, 600)
    const [retired = assert.fail()] = blocks.keys()
    await from.retire(retired)
    const stop = new AbortController()
    let puts = 0
    const interrupted = intercepted(to, 'put', async () => {
      puts += 1
      if (puts === 300) stop.abort(new Error('killed'))
    })
    await assert.rejects(copyBlocks(copyOf(from, interrupted, stop.signal)), /killed/)
    const copied = (await Array.fromAsync(to.list())).length
    assert.ok(copied >= 256 && copied < 600, `${copied} copied`)
    const report = await copyBlocks(copyOf(from, to))
    assert.equal(report.copied, 600 - copied)
    assert.equal((await copyBlocks(copyOf(from, to))).copied, 0)
    const more = await putSome(from, 3)
    const emptied = await emptyStore(copyOf(from, to))
    assert.equal(emptied.report.copied, 3)
    assert.ok(emptied.deletedBytes > 600_000)
    assert.ok(await isEmpty(from))
    for (const [id, bytes] of [...blocks, ...more]) assert.ok((await readWhole(to, id)).equals(bytes))
  })

  it('keeps a block that a reader takes back, or that the new store loses, while the old one is emptied', async () => {
    const [to, from] = [new MemoryBlockStore(), new MemoryBlockStore()]
    const [[id, bytes] = assert.fail()] = await putSome(from, 1)
    await to.put(id, bytes)
    // Garbage collection removes it from the new store, and then somebody refers to it again.
    const discarding = intercepted(from, 'retire', async () => {
      await to.retire(id)
      await to.discard(id)
    })
    await emptyStore(copyOf(discarding, to))
    await using store = new MigratingBlockStore(to, from)
    assert.deepEqual(await store.missing([id]), [])
    assert.ok((await readWhole(store, id)).equals(bytes))
    assert.equal(await isEmpty(from), false)
    await emptyStore(copyOf(from, to))
    assert.ok(await isEmpty(from))
    assert.ok((await readWhole(to, id)).equals(bytes))
  })

  it('leaves damaged blocks where they are, and skips those deleted meanwhile', async () => {
    const [to, from] = [new MemoryBlockStore(), new MemoryBlockStore()]
    const [[damaged] = assert.fail(), [gone] = assert.fail(), [sound] = assert.fail()] = await putSome(
      from,
      3,
    )
    const broken = new Proxy(from, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        if (name !== 'read') return value.bind(target)
        return (id: BlockId, ...rest: never[]) => {
          if (id === damaged) throw new BlockDamaged(id, 'a test')
          if (id === gone) throw new BlockMissing(id)
          return value.call(target, id, ...rest)
        }
      },
    })
    const { report } = await emptyStore(copyOf(broken, to))
    assert.deepEqual(report.damaged, [damaged])
    assert.deepEqual(await Array.fromAsync(to.list()), [sound])
    assert.deepEqual(new Set(await Array.fromAsync(from.list())), new Set([damaged, gone]))
  })
})
