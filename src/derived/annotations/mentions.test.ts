import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { mentionsIn } from './mentions.ts'

describe('mentions in a comment', () => {
  it('are e-mails with a leading @ at the start of a word', () => {
    const text = 'See @ann@example.org, @Bob@Example.org. Not a@ann@example.org or @nobody'
    assert.deepEqual(mentionsIn(text), ['ann@example.org', 'bob@example.org'])
  })

  it('are limited, and cost little in hostile texts', () => {
    const before = process.cpuUsage().user
    const many = Array.from({ length: 30 }, (_, n) => `@u${n}@example.org`).join(' ')
    assert.equal(mentionsIn(many).length, 20)
    for (const text of ['@'.repeat(10_000), `@a@${'.'.repeat(9000)}`, '@a'.repeat(5000)]) {
      assert.ok(mentionsIn(text).length <= 1)
    }
    assert.ok(process.cpuUsage().user - before < 2_000_000)
  })
})
