import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import { hashOfToken } from './token-hash.ts'

const token = '0123456789abcdef0123456789abcdef01234567'

describe('the hash of a token', () => {
  it('is the same whether it is cached or not, and is computed once', () => {
    const first = hashOfToken(token)
    assert.deepEqual(first, createHash('sha256').update(token).digest())
    assert.equal(hashOfToken(token), first)
  })

  it('is that of its own token after many others', () => {
    for (let n = 0; n < 5000; n++) hashOfToken(n.toString(16).padStart(40, '0'))
    assert.deepEqual(hashOfToken(token), createHash('sha256').update(token).digest())
  })

  it('is none for what has not the form of a token', () => {
    for (const text of ['', token.slice(1), `${token}0`, token.toUpperCase(), `${token}\n`]) {
      assert.equal(hashOfToken(text), undefined, text)
    }
  })
})
