import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { BackgroundQueue, type BackgroundQueueOptions } from './background-queue.ts'

function queueOf(t: TestContext, options: Partial<BackgroundQueueOptions>): BackgroundQueue {
  const queue = new BackgroundQueue({
    processBatch: async () => 0,
    secondsUntilDue: async () => undefined,
    maxPauseSeconds: 60,
    onError: (error) => assert.fail(error as Error),
    ...options,
  })
  t.after(() => queue.stop())
  return queue
}

/** Lets everything that only awaits resolved promises run to its end. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('a background queue', () => {
  test('processes batches until nothing is due', async (t) => {
    const batches = [3, 2, 0, 7]
    const queue = queueOf(t, { processBatch: async () => batches.shift() ?? 0 })
    await queue.settled()
    assert.deepEqual(batches, [7])
  })

  test('looks again after a call during a run', async (t) => {
    let batches = 0
    const queue = queueOf(t, {
      processBatch: async () => {
        batches += 1
        if (batches === 1) queue.wake()
        return 0
      },
    })
    await queue.settled()
    assert.equal(batches, 2)
  })

  test('runs again when the next item is due', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const pauses: (number | undefined)[] = [30, undefined]
    let batches = 0
    const queue = queueOf(t, {
      processBatch: async () => {
        batches += 1
        return 0
      },
      secondsUntilDue: async () => pauses.shift(),
    })
    await queue.settled()
    t.mock.timers.tick(29_999)
    assert.equal(batches, 1)
    t.mock.timers.tick(1)
    await turn()
    assert.equal(batches, 2)
  })

  test('an error that persists costs one attempt per pause, also for calls during the attempt', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const errors: unknown[] = []
    let attempts = 0
    const queue = queueOf(t, {
      processBatch: async () => {
        attempts += 1
        queue.wake()
        throw new Error('no such table')
      },
      secondsUntilDue: async () => -5,
      onError: (error) => errors.push(error),
    })
    await queue.settled()
    assert.equal(attempts, 1)
    t.mock.timers.tick(999)
    assert.equal(attempts, 1)
    t.mock.timers.tick(1)
    await turn()
    assert.deepEqual([attempts, errors.length], [2, 2])
  })

  test('pauses as long as allowed if the database does not say what is due', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    let batches = 0
    const queue = queueOf(t, {
      processBatch: async () => {
        batches += 1
        return 0
      },
      secondsUntilDue: async () => {
        throw new Error('the connection was closed')
      },
    })
    await queue.settled()
    t.mock.timers.tick(59_999)
    assert.equal(batches, 1)
    t.mock.timers.tick(1)
    await turn()
    assert.equal(batches, 2)
  })

  test('starts nothing once it is stopped', async (t) => {
    let batches = 0
    const queue = queueOf(t, {
      processBatch: async () => {
        batches += 1
        return 0
      },
    })
    await queue.stop()
    await queue.settled()
    assert.equal(batches, 0)
    assert.ok(queue.signal.aborted)
  })
})
