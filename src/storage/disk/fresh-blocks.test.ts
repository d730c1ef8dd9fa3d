import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import type { BlockId } from '../../objects/ids.ts'
import { FreshBlocks } from './fresh-blocks.ts'

const MIB = 2 ** 20
const ids = (count: number) =>
  Array.from({ length: count }, (_, n) => createHash('sha1').update(String(n)).digest('hex') as BlockId)

describe('fresh blocks', () => {
  it('are read past the cache twice, and then get into it little by little', () => {
    const fresh = new FreshBlocks()
    const blocks = ids(400)
    for (const id of blocks) fresh.add(id)
    const pass = () => blocks.filter((id) => fresh.take(id)).length
    const counts = Array.from({ length: 7 }, pass)
    assert.deepEqual(counts.slice(0, 2), [400, 400])
    for (let at = 2; at < 6; at += 1) {
      const [before = 0, now = 0] = counts.slice(at - 1)
      assert.ok(before - now > 60 && before - now < 140, String(counts))
    }
    assert.equal(counts[6], 0)
  })

  it('are read through the cache where a disk makes readers wait', () => {
    const fresh = new FreshBlocks()
    const blocks = ids(10)
    for (const id of blocks) fresh.add(id)
    const [first, second, third] = blocks as [BlockId, BlockId, BlockId]
    // One block that took long proves nothing, and a fast disk makes readers wait a little too.
    fresh.noteWaited(8 * MIB, 40)
    for (let n = 0; n < 100; n += 1) fresh.noteWaited(8 * MIB, 4)
    assert.ok(fresh.take(first))
    for (let n = 0; n < 5; n += 1) fresh.noteWaited(8 * MIB, 60)
    assert.ok(!fresh.take(second))
    assert.ok(!fresh.take(third))
  })

  it('are forgotten one by one when there are too many, and when they are read otherwise', () => {
    const fresh = new FreshBlocks()
    const blocks = ids(8193)
    for (const id of blocks) fresh.add(id)
    const [first, second, third] = blocks as [BlockId, BlockId, BlockId]
    assert.ok(!fresh.take(first))
    assert.ok(fresh.take(second))
    fresh.delete(third)
    assert.ok(!fresh.take(third))
  })
})
