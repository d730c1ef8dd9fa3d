import assert from 'node:assert/strict'
import { it } from 'node:test'
import { takeTurns } from './take-turns.ts'

it('takes items round robin from all lists, up to the count', () => {
  const lists = [['a1', 'a2', 'a3', 'a4'], [], ['b1'], ['c1', 'c2']]
  assert.deepEqual(takeTurns(lists, 5), ['a1', 'b1', 'c1', 'a2', 'c2'])
  assert.deepEqual(takeTurns(lists, 100), ['a1', 'b1', 'c1', 'a2', 'c2', 'a3', 'a4'])
  assert.deepEqual(takeTurns([], 5), [])
})
