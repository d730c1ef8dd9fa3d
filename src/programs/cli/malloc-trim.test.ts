import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { trimMalloc } from './memory-release.ts'

const MB = 1_000_000
const BYTES = 4096
const BUFFERS = 25_000
/** Few enough, and they are in every part of the heap. */
const KEPT_EVERY = 50

it('returns the memory between allocations that are still in use', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const buffers = Array.from({ length: BUFFERS }, () => Buffer.allocUnsafeSlow(BYTES).fill(1))
  const kept = buffers.filter((_, n) => n % KEPT_EVERY === 0)
  buffers.length = 0
  // The second one waits until the buffers of the first are freed.
  collect()
  collect()
  const before = process.memoryUsage.rss()
  trimMalloc()
  const returned = before - process.memoryUsage.rss()
  assert.ok(returned > 50 * MB, `${Math.round(returned / MB)} MB`)
  assert.ok(kept.every((buffer) => buffer.every((byte) => byte === 1)))
})
