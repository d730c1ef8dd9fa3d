import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { doneWithin } from './done-within.ts'

describe('doneWithin', () => {
  it('resolves to whether the work finished in time', async () => {
    assert.equal(await doneWithin(Promise.resolve('x'), 60_000), true)
    assert.equal(await doneWithin(new Promise(() => {}), 5), false)
    await assert.rejects(doneWithin(Promise.reject(new Error('no')), 60_000), /^Error: no$/)
  })
})
