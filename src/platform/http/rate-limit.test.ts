import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { RateLimit } from './rate-limit.ts'

/** A limit of ten a minute with a test clock. */
function tenAMinute(maxKeys?: number) {
  const clock = { now: 1000 }
  const limit = new RateLimit(10, () => clock.now, maxKeys === undefined ? {} : { maxKeys })
  const takeMany = (count: number, key = 'a') => Array.from({ length: count }, () => limit.take(key))
  return { clock, limit, takeMany }
}

describe('a rate limit', () => {
  it('allows as many calls as it says, at once or spread', () => {
    const { clock, limit, takeMany } = tenAMinute()
    assert.deepEqual(takeMany(5), [0, 0, 0, 0, 0])
    clock.now += 30
    assert.deepEqual(takeMany(5), [0, 0, 0, 0, 0])
    assert.notEqual(limit.take('a'), 0)
  })

  it('counts each key apart', () => {
    const { limit, takeMany } = tenAMinute()
    takeMany(10)
    assert.notEqual(limit.take('a'), 0)
    assert.equal(limit.take('b'), 0)
  })

  it('says truly how long to wait', () => {
    for (const [before, pause, now] of [
      [10, 0, 0],
      [10, 5, 0],
      [10, 60, 4],
      [4, 61, 10],
      [10, 75, 10],
    ] as const) {
      const { clock, limit, takeMany } = tenAMinute()
      takeMany(before)
      clock.now += pause
      takeMany(now)
      const wait = limit.take('a')
      assert(wait >= 1, `a wait after ${before}, ${pause} s, ${now}`)
      clock.now += wait - 1.01
      assert.notEqual(limit.take('a'), 0)
      clock.now += 1.01
      assert.equal(limit.take('a'), 0)
    }
  })

  it('does not hold refused calls against anybody', () => {
    const { clock, limit, takeMany } = tenAMinute()
    takeMany(10)
    const wait = limit.take('a')
    takeMany(1000)
    clock.now += wait
    assert.equal(limit.take('a'), 0)
  })

  it('slides: a burst at the end of one minute leaves no room for another in the next', () => {
    const { clock, takeMany } = tenAMinute()
    takeMany(1)
    clock.now += 59
    takeMany(9)
    clock.now += 2
    const allowed = takeMany(10).filter((wait) => wait === 0).length
    assert(allowed <= 1, `${allowed} calls were allowed`)
  })

  it('forgets after two quiet minutes', () => {
    const { clock, takeMany } = tenAMinute()
    takeMany(10)
    clock.now += 120
    assert.deepEqual(takeMany(10), Array(10).fill(0))
  })

  it('starts afresh when the clock was set back', () => {
    const { clock, limit, takeMany } = tenAMinute()
    takeMany(10)
    clock.now -= 500
    assert.equal(limit.take('a'), 0)
  })

  it('keeps no more keys than allowed, and gives up the oldest first', () => {
    const { clock, limit, takeMany } = tenAMinute(3)
    takeMany(10, 'old')
    clock.now += 1
    takeMany(10, 'b')
    takeMany(1, 'c')
    takeMany(1, 'd')
    assert.equal(limit.size, 3)
    assert.notEqual(limit.take('b'), 0)
    assert.equal(limit.take('old'), 0)
  })
})
