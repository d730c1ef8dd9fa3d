import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DefaultHeaders } from './security-headers.ts'

describe('DefaultHeaders', () => {
  const defaults = new DefaultHeaders({ A: '1', B: '2', C: '3' })

  test('leaves out what a response overrides', () => {
    assert.deepEqual(defaults.without({}), ['A', '1', 'B', '2', 'C', '3'])
    assert.deepEqual(defaults.without({ B: 'own', D: 'further' }), ['A', '1', 'C', '3'])
    assert.deepEqual(defaults.without({ C: '3', A: '' }), ['B', '2'])
  })

  test('has one list for all responses that override the same names', () => {
    assert.equal(defaults.without({ A: 'one', B: 'two' }), defaults.without({ B: 'three', A: 'four', E: 5 }))
    assert.notEqual(defaults.without({ A: 'one' }), defaults.without({ B: 'one' }))
  })
})
