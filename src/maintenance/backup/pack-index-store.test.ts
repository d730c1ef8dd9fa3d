import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { it } from 'node:test'
import v8 from 'node:v8'
import vm from 'node:vm'
import type { BlockId } from '../../base/objects/index.ts'
import { PackIndex } from './pack-index-store.ts'
import { ScratchBlocks, ScratchIds } from './scratch-store.ts'

const PACKS = 40
const BLOBS = 2500
/** With maps, an index of so many blobs took 26 MB, and a set of ids 7 MB. */
const MOST_BYTES = 4_000_000

const idOf = (n: number) => createHash('sha1').update(String(n)).digest('hex')
const packOf = (n: number) => createHash('sha256').update(String(n)).digest('hex')

it('the index of packs and lists of blocks do not grow in memory with the number of blocks', () => {
  v8.setFlagsFromString('--expose-gc')
  const collect = vm.runInNewContext('gc') as () => void
  collect()
  const before = process.memoryUsage()
  using index = new PackIndex()
  using seen = new ScratchIds()
  using placed = new ScratchBlocks()
  for (let pack = 0; pack < PACKS; pack++) {
    const blobs = Array.from({ length: BLOBS }, (_, n) => ['block', idOf(pack * BLOBS + n), 10] as const)
    index.found(packOf(pack), 10 * BLOBS)
    index.add({ id: packOf(pack), size: 10 * BLOBS, start: 0, blobs })
    for (const [, id] of blobs) {
      assert.ok(seen.add(Buffer.from(id, 'hex')))
      placed.add(id as BlockId, String(pack))
    }
  }
  collect()
  const after = process.memoryUsage()
  const grown = after.heapUsed + after.external - before.heapUsed - before.external
  assert.ok(grown < MOST_BYTES, `${grown} bytes are held`)
  assert.deepEqual([index.count, seen.size, placed.size], [PACKS, PACKS * BLOBS, PACKS * BLOBS])
})

it('the index of packs finds blobs in the first pack that has them, of those that are there', () => {
  using index = new PackIndex()
  const [first, second, absent] = [packOf(1), packOf(2), packOf(3)]
  const entry = (id: string, blobs: number[]) => ({
    id,
    size: 100,
    start: 16,
    blobs: blobs.map((n) => ['block', idOf(n), 7] as const),
  })
  index.found(first, 100)
  index.found(second, 100)
  for (const one of [
    entry(absent, [1, 4]),
    entry(first, [1, 2]),
    entry(second, [2, 3]),
    entry(first, [1, 2]),
  ]) {
    index.add(one)
  }
  const place = (n: number) => index.find(idOf(n))
  assert.deepEqual(place(2), { pack: first, packSize: 100, part: 1, offset: 23, length: 7 })
  assert.equal(place(3)?.pack, second)
  assert.deepEqual([place(4), index.count, index.has(absent)], [undefined, 2, false])
  assert.deepEqual([...index.packs()], [entry(first, [1, 2]), entry(second, [2, 3])])
})
