import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { borrowReadBuffer, returnReadBuffer } from '../platform/http/fast/socket-body.ts'
import { ChunkBufferPool } from '../platform/storage/disk/fast/chunk-buffer-pool.ts'
import { RangeBufferPool } from '../platform/storage/disk/fast/range-buffer-pool.ts'
import { SharedBufferPool } from '../platform/storage/disk/fast/shared-buffer-pool.ts'
import { POISON } from './poison.ts'

const isPoisoned = (bytes: Uint8Array) => bytes.every((byte) => byte === POISON)

// `npm test` sets CARREL_TEST_POISON, so that every suite runs with it.
describe('a buffer that returned to its pool is poisoned in tests:', () => {
  it('that of a long body', () => {
    const space = borrowReadBuffer().fill(1)
    returnReadBuffer(space)
    assert.ok(isPoisoned(space))
  })

  it('that of a chunk of a file', () => {
    const pool = new ChunkBufferPool()
    const chunk = pool.borrow().fill(1)
    pool.return(chunk)
    assert.ok(isPoisoned(chunk))
  })

  it('that of a piece of a block', () => {
    const pool = new RangeBufferPool()
    const piece = pool.borrow(100_000).fill(1)
    pool.return(piece)
    assert.ok(isPoisoned(piece))
  })

  it('that of a block on its way in', () => {
    const pool = new SharedBufferPool()
    const buffer = pool.borrow()
    buffer.bytes.fill(1)
    pool.return(buffer)
    assert.ok(isPoisoned(buffer.bytes))
  })
})
