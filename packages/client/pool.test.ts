import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inParallel } from './pool.ts'

describe('work in parallel', () => {
  it('runs at most as many items as allowed at a time, and all of them', async () => {
    let running = 0
    let most = 0
    const done: number[] = []
    await inParallel([1, 2, 3, 4, 5], 2, async (item) => {
      running += 1
      most = Math.max(most, running)
      await new Promise(setImmediate)
      running -= 1
      done.push(item)
    })
    assert.equal(most, 2)
    assert.deepEqual(
      done.sort((a, b) => a - b),
      [1, 2, 3, 4, 5],
    )
  })

  it('awaits what has started when an item or the source of items fails', async () => {
    for (const isSource of [true, false]) {
      const held = Promise.withResolvers<void>()
      let isDone = false
      const items = async function* () {
        yield 'slow'
        yield 'next'
        if (isSource) throw new Error('failed')
        yield 'never'
      }
      const running = inParallel(items(), 3, async (item) => {
        if (item === 'slow') {
          await held.promise
          isDone = true
        } else if (!isSource) throw new Error('failed')
      })
      setImmediate(() => held.resolve())
      await assert.rejects(running, /failed/)
      assert.ok(isDone)
    }
  })
})
