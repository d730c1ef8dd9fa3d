import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CoalescedTask } from './coalesced-task.ts'

describe('a coalesced task', () => {
  it('runs once more, after the running one, for all calls during it', async () => {
    const runs: PromiseWithResolvers<void>[] = []
    const task = new CoalescedTask(() => {
      const run = Promise.withResolvers<void>()
      runs.push(run)
      return run.promise
    })
    const order: string[] = []
    const first = task.run().then(() => order.push('first'))
    const later = [task.run(), task.run()].map((run) => run.then(() => order.push('later')))
    assert.equal(runs.length, 1)
    runs[0]?.resolve()
    await first
    while (runs.length < 2) await new Promise(setImmediate)
    assert.deepEqual(order, ['first'])
    runs[1]?.resolve()
    await Promise.all(later)
    await task.ended()
    assert.deepEqual([order, runs.length], [['first', 'later', 'later'], 2])
  })

  it('runs again after a failure, of which only its own callers learn', async () => {
    let count = 0
    const task = new CoalescedTask(async () => {
      count += 1
      if (count === 1) throw new Error('no luck')
    })
    const [first, second] = await Promise.allSettled([task.run(), task.run()])
    assert.deepEqual([first?.status, second?.status, count], ['rejected', 'fulfilled', 2])
    await task.ended()
  })
})
