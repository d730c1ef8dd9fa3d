import assert from 'node:assert/strict'
import { it } from 'node:test'
import { RetryDelay } from './schema-watch.ts'

it('doubles with each failure up to a limit, and starts over after a success', () => {
  const delay = new RetryDelay(10, 50)
  assert.equal(delay.isDue(0), true)
  assert.deepEqual([delay.failed(100), delay.isDue(109), delay.isDue(110)], [10, false, true])
  assert.deepEqual([delay.failed(110), delay.failed(130), delay.failed(170)], [20, 40, 50])
  assert.deepEqual([delay.isDue(219), delay.isDue(220)], [false, true])
  delay.succeeded()
  assert.equal(delay.isDue(0), true)
  assert.equal(delay.failed(0), 10)
})
