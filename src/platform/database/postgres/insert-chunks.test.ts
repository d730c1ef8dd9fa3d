import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { chunksOf, inKeyOrder } from './insert-chunks.ts'

describe('chunks of an insert', () => {
  it('stay under the parameter limit of a statement', () => {
    const rows = Array.from({ length: 10_000 }, (_, i) => [i, i, i, i])
    const chunks = [...chunksOf(rows, 4)]
    assert.deepEqual(chunks.flat(), rows)
    assert.ok(chunks.every((chunk) => chunk.length * 4 <= 16_384))
    assert.equal(chunks.length, 3)
  })

  it('are limited in bytes, and a large row is sent alone', () => {
    const sizes = [10, 3_000_000, 3_000_000, 9_000_000, 10, 10]
    const rows = sizes.map((size, i) => [i, new Uint8Array(size)])
    assert.deepEqual(
      [...chunksOf(rows, 2)].map((chunk) => chunk.map(([i]) => i)),
      [[0, 1], [2], [3], [4, 5]],
    )
  })

  it('are empty for no rows', () => assert.deepEqual([...chunksOf([], 3)], []))
})

it('are sorted by their leading columns', () => {
  const rows = [
    [2, Uint8Array.of(1)],
    [1, Uint8Array.of(9)],
    [1, Uint8Array.of(2, 1)],
    [1, Uint8Array.of(2)],
    [1, null],
  ]
  assert.deepEqual(inKeyOrder(rows), [rows[4], rows[3], rows[2], rows[1], rows[0]])
})
