import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { hueOf, initialsOf } from '../../../web/src/ui/initials.ts'

describe('the initials of an account', () => {
  it('are the first letters of the first and the last word, in any script', () => {
    const expected = {
      'Ann Berger': 'AB',
      'elisabeth von Wittgenstein-Berleburg': 'EW',
      'Ann <b>Archer<b> 🏹': 'A',
      李小龙: '李',
      'ann@example.org': 'A',
      ' \u202E ': '',
      '': '',
    }
    const found = Object.keys(expected).map((name) => [name, initialsOf(name)])
    assert.deepEqual(Object.fromEntries(found), expected)
  })

  it('have a colour that depends only on the account', () => {
    assert.equal(hueOf('ann@example.org'), hueOf('ann@example.org'))
    for (const email of ['', 'ann@example.org', '李@example.org'])
      assert.ok(hueOf(email) >= 0 && hueOf(email) < 360)
  })
})
