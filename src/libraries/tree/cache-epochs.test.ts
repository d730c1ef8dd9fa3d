import assert from 'node:assert/strict'
import { it } from 'node:test'
import { CacheEpochs } from './cache-epochs.ts'

it('gives a library other keys once another process has deleted something of it', () => {
  const epochs = new CacheEpochs()
  const [mine, other] = [epochs.keyOf(1, 'a'), epochs.keyOf(2, 'a')]
  assert.notEqual(mine, other)
  epochs.see(1, 0)
  assert.equal(epochs.keyOf(1, 'a'), mine, 'nothing was deleted yet')
  epochs.see(1, 3)
  const later = epochs.keyOf(1, 'a')
  assert.notEqual(later, mine)
  assert.equal(epochs.keyOf(2, 'a'), other)
  epochs.see(1, 2)
  assert.equal(epochs.keyOf(1, 'a'), later, 'a row that was read earlier changes nothing')
})

it('keeps the keys when only this process deleted something, unless another one did as well', () => {
  const epochs = new CacheEpochs()
  epochs.see(1, 3)
  const key = epochs.keyOf(1, 'a')
  const before = epochs.now
  epochs.advance(1, 4)
  assert.equal(epochs.keyOf(1, 'a'), key)
  assert.notEqual(epochs.now, before, 'what was read before must not be cached')
  epochs.see(1, 4)
  assert.equal(epochs.keyOf(1, 'a'), key)
  epochs.advance(1, 6)
  assert.notEqual(epochs.keyOf(1, 'a'), key, 'the fifth is of another process')
})

it('never returns to a key it has used before', () => {
  const epochs = new CacheEpochs()
  epochs.see(1, 1)
  const key = epochs.keyOf(1, 'a')
  for (let library = 2; library < 150_000; library++) epochs.see(library, 1)
  const forgotten = epochs.keyOf(1, 'a')
  assert.notEqual(forgotten, key)
  epochs.see(1, 1)
  assert.ok(![key, forgotten].includes(epochs.keyOf(1, 'a')))
})
