import assert from 'node:assert/strict'
import { it } from 'node:test'
import { IdleDetector } from './memory-release.ts'

/** Whether memory is released, interval by interval. */
function releases(utilizations: readonly number[]): boolean[] {
  const detector = new IdleDetector()
  return utilizations.map((one) => detector.isDue(one))
}

const IDLE = Array.from({ length: 6 }, () => 0.01)

it('releases memory once after each busy time, when six intervals were idle', () => {
  assert.deepEqual(releases([0.8, ...IDLE, ...IDLE]).indexOf(true), 6)
  assert.deepEqual(releases([0.8, ...IDLE, ...IDLE]).filter(Boolean).length, 1)
  assert.deepEqual(releases([0.8, ...IDLE, 0.5, ...IDLE]).filter(Boolean).length, 2)
})

it('releases nothing while requests arrive now and then, nor in a process that was never busy', () => {
  assert.ok(!releases([0.8, 0.01, 0.01, 0.08, 0.01, 0.01, 0.06]).some(Boolean))
  assert.ok(!releases([0.01, 0.01, 0.01, 0.01, 0.01]).some(Boolean))
})
