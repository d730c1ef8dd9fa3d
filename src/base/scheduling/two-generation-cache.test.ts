import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { TwoGenerationCache } from './two-generation-cache.ts'

describe('TwoGenerationCache', () => {
  const ofWeight = (most: number) => new TwoGenerationCache<string, string>(most, (value) => value.length)

  it('does not evict an entry that is used repeatedly', () => {
    const cache = ofWeight(100)
    cache.set('kept', 'x'.repeat(10))
    for (let n = 0; n < 200; n += 1) {
      cache.set(`passing ${n}`, 'y'.repeat(10))
      assert.equal(cache.get('kept'), 'x'.repeat(10), `after ${n}`)
    }
    assert.equal(cache.get('passing 0'), undefined)
    assert.equal(cache.get('passing 199'), 'y'.repeat(10))
  })

  it('never exceeds its maximum weight', () => {
    let held = 0
    const cache = new TwoGenerationCache<number, { weight: number }>(100, ({ weight }) => weight)
    for (let n = 0; n < 500; n += 1) cache.set(n, { weight: 1 + ((n * 7) % 50) })
    // A hit may evict other entries, so each key is looked up once.
    for (let n = 499; n >= 0; n -= 1) held += cache.get(n)?.weight ?? 0
    assert.ok(held > 0 && held <= 100, `${held}`)
  })

  it('is empty after it was cleared, and takes as much as before', () => {
    const cache = ofWeight(100)
    for (let n = 0; n < 20; n += 1) cache.set(`passing ${n}`, 'y'.repeat(10))
    cache.clear()
    for (let n = 0; n < 20; n += 1) assert.equal(cache.get(`passing ${n}`), undefined)
    for (let n = 0; n < 5; n += 1) cache.set(`new ${n}`, 'z'.repeat(10))
    for (let n = 0; n < 5; n += 1) assert.equal(cache.get(`new ${n}`), 'z'.repeat(10))
  })

  it('does not cache an entry heavier than half of its maximum', () => {
    const cache = ofWeight(100)
    cache.set('light', 'x')
    cache.set('heavy', 'x'.repeat(51))
    assert.equal(cache.get('heavy'), undefined)
    assert.equal(cache.get('light'), 'x')
  })
})
