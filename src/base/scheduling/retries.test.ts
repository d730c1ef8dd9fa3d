import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Retries } from './retries.ts'

it('work that fails is due at once, then after pauses that double, and not for ever', () => {
  let nowMs = 1000
  const retries = new Retries(() => nowMs)
  assert.ok(retries.isDue('a'))
  const pauses: number[] = []
  for (let failures = 1; retries.mayRepeat('a'); failures++) {
    const since = nowMs
    retries.note('a')
    while (!retries.isDue('a')) nowMs += 1000
    pauses.push((nowMs - since) / 1000)
    assert.ok(failures < 100)
  }
  assert.deepEqual(pauses, [0, 5, 10, 20, 40, 80, 160, 300, 300])
  assert.ok(retries.isDue('b'))
  retries.note('a')
  assert.ok(!retries.isDue('a'))
  assert.ok(!retries.mayRepeat('a'))
  retries.forget('a')
  assert.ok(retries.isDue('a'))
  assert.ok(retries.mayRepeat('a'))
})

it('work that nobody tries again is forgotten', () => {
  let nowMs = 0
  const retries = new Retries(() => nowMs)
  while (retries.mayRepeat('a')) retries.note('a')
  nowMs += 2 * 3_600_000
  retries.note('b')
  assert.ok(retries.mayRepeat('a'), 'the count begins again')
})
