import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { borrowReadBuffer, returnReadBuffer } from './http/fast/read-buffer-pool.ts'
import { POISON } from './poison.ts'
import { ChunkBuffers } from './storage/disk/chunk-buffers.ts'
import { PieceBuffers } from './storage/disk/pieces.ts'
import { Slabs } from './storage/disk/slabs.ts'

const isPoisoned = (bytes: Uint8Array) => bytes.every((byte) => byte === POISON)

// `npm test` sets CARREL_TEST_POISON, so that every suite runs with it.
describe('a buffer that returned to its pool is poisoned in tests:', () => {
  it('that of a long body', () => {
    const space = borrowReadBuffer().fill(1)
    returnReadBuffer(space)
    assert.ok(isPoisoned(space))
  })

  it('that of a chunk of a file', () => {
    const buffers = new ChunkBuffers()
    const chunk = buffers.take().fill(1)
    buffers.give(chunk)
    assert.ok(isPoisoned(chunk))
  })

  it('that of a piece of a block', () => {
    const buffers = new PieceBuffers()
    const piece = buffers.take(100_000).fill(1)
    buffers.give(piece)
    assert.ok(isPoisoned(piece))
  })

  it('that of a block on its way in', () => {
    const slabs = new Slabs()
    const slab = slabs.take()
    slab.bytes.fill(1)
    slabs.give(slab)
    assert.ok(isPoisoned(slab.bytes))
  })
})
