import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Recent } from './two-generation-cache.ts'

describe('what was used last', () => {
  const ofWeight = (most: number) => new Recent<string, string>(most, (value) => value.length)

  it('is found again, for as long as it is used', () => {
    const recent = ofWeight(100)
    recent.remember('kept', 'x'.repeat(10))
    for (let n = 0; n < 200; n += 1) {
      recent.remember(`passing ${n}`, 'y'.repeat(10))
      assert.equal(recent.find('kept'), 'x'.repeat(10), `after ${n}`)
    }
    assert.equal(recent.find('passing 0'), undefined)
    assert.equal(recent.find('passing 199'), 'y'.repeat(10))
  })

  it('never holds more than it may', () => {
    let held = 0
    const recent = new Recent<number, { weight: number }>(100, ({ weight }) => weight)
    for (let n = 0; n < 500; n += 1) recent.remember(n, { weight: 1 + ((n * 7) % 50) })
    // What is found may push others out, so each is looked for in turn and none twice.
    for (let n = 499; n >= 0; n -= 1) held += recent.find(n)?.weight ?? 0
    assert.ok(held > 0 && held <= 100, `${held}`)
  })

  it('leaves out what is too heavy', () => {
    const recent = ofWeight(100)
    recent.remember('light', 'x')
    recent.remember('heavy', 'x'.repeat(51))
    assert.equal(recent.find('heavy'), undefined)
    assert.equal(recent.find('light'), 'x')
  })
})
