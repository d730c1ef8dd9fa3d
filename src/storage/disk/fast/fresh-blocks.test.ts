import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import type { BlockId } from '../../../objects/ids.ts'
import { FreshBlocks } from './fresh-blocks.ts'

const ids = (count: number) =>
  Array.from({ length: count }, (_, n) => createHash('sha1').update(String(n)).digest('hex') as BlockId)

describe('FreshBlocks', () => {
  it('selects O_DIRECT for the first read of a new block only', () => {
    const fresh = new FreshBlocks()
    const [block, other] = ids(2) as [BlockId, BlockId]
    fresh.add(block)
    assert.deepEqual([fresh.delete(block), fresh.delete(block), fresh.delete(other)], [true, false, false])
  })

  it('evicts the oldest block when there are too many', () => {
    const fresh = new FreshBlocks()
    const blocks = ids(8193)
    for (const id of blocks) fresh.add(id)
    assert.deepEqual([fresh.delete(blocks[0] as BlockId), fresh.delete(blocks[1] as BlockId)], [false, true])
  })
})
