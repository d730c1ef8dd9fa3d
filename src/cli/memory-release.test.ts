import assert from 'node:assert/strict'
import { it } from 'node:test'
import { IdleDetector } from './memory-release.ts'

/** Whether memory is released, interval by interval. */
function releases(utilizations: readonly number[]): boolean[] {
  const detector = new IdleDetector()
  return utilizations.map((one) => detector.isDue(one))
}

it('releases memory once after each busy time, when three intervals were idle', () => {
  assert.deepEqual(releases([0.8, 0.01, 0.01, 0.01, 0.01, 0.01]), [false, false, false, true, false, false])
  assert.deepEqual(releases([0.8, 0.01, 0.01, 0.01, 0.5, 0, 0, 0]).filter(Boolean).length, 2)
})

it('releases nothing while requests arrive now and then, nor in a process that was never busy', () => {
  assert.ok(!releases([0.8, 0.01, 0.01, 0.08, 0.01, 0.01, 0.06]).some(Boolean))
  assert.ok(!releases([0.01, 0.01, 0.01, 0.01, 0.01]).some(Boolean))
})
