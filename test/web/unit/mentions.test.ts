import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { matchingPeople, runsOf, typedMention } from '../../../web/src/annotations/mentions.ts'

const ann = { name: 'Ann Lee', email: 'ann@example.org' }
const bob = { name: 'Bob', email: 'bob@example.org' }

describe('mentions', () => {
  it('are recognized while they are typed', () => {
    assert.deepEqual(typedMention('hello @an', 9), { start: 6, typed: 'an' })
    assert.deepEqual(typedMention('@', 1), { start: 0, typed: '' })
    assert.deepEqual(typedMention('(@b and more', 3), { start: 1, typed: 'b' })
    assert.equal(typedMention('ann@ex', 6), undefined)
    assert.equal(typedMention('@an n', 5), undefined)
  })

  it('suggest people by name or address, those that begin with the text first', () => {
    assert.deepEqual(matchingPeople([bob, ann], '', 6), [bob, ann])
    assert.deepEqual(matchingPeople([bob, ann], 'LEE', 6), [ann])
    assert.deepEqual(matchingPeople([ann, bob], 'b', 6), [bob])
    assert.deepEqual(matchingPeople([ann, bob], 'example', 1), [ann])
  })

  it('are found in a text', () => {
    const text = 'See @ann@example.org, @Bob@Example.org. Not a@ann@example.org or @nobody'
    assert.deepEqual(runsOf(text, [ann, bob]), [
      'See ',
      { person: ann },
      ', ',
      { person: bob },
      '. Not a@ann@example.org or @nobody',
    ])
    assert.deepEqual(runsOf('@ann@example.org', []), ['@ann@example.org'])
  })
})
