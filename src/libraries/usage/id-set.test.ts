import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import { IdSet, SeenIds } from './id-set.ts'

const idOf = (number: number) => createHash('sha1').update(String(number)).digest('hex')

describe('IdSet', () => {
  it('tells whether an id is new, however many there are', () => {
    const set = new IdSet()
    for (let number = 0; number < 20_000; number++) assert.equal(set.add(idOf(number)), true)
    for (let number = 0; number < 20_000; number++) assert.equal(set.add(idOf(number)), false)
    for (let number = 0; number < 40_000; number++) assert.equal(set.has(idOf(number)), number < 20_000)
    assert.equal(set.size, 20_000)
  })

  it('keeps ids of nothing but zeros, and ids that share a half', () => {
    const set = new IdSet()
    const ids = ['0'.repeat(40), `${'f'.repeat(8)}${'0'.repeat(32)}`, `${'0'.repeat(8)}${'f'.repeat(32)}`]
    for (const id of ids) assert.equal(set.add(id), true)
    for (const id of ids) assert.equal(set.add(id), false)
  })
})

describe('SeenIds', () => {
  it('may forget an id, but makes none up', () => {
    const seen = new SeenIds(1024)
    for (let number = 0; number < 5000; number++) assert.equal(seen.add(idOf(number)), true)
    for (let number = 5000; number < 5100; number++) seen.add(idOf(number))
    let remembered = 0
    for (let number = 5000; number < 5100; number++) remembered += seen.add(idOf(number)) ? 0 : 1
    assert.ok(remembered > 50, `${remembered} of 100`)
  })
})
