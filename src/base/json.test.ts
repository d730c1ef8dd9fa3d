import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { JsonRefused, parseOutsideJson } from './json.ts'

const nested = (levels: number) => `${'['.repeat(levels)}1${']'.repeat(levels)}`

describe('JSON from outside', () => {
  it('is parsed from text and from bytes', () => {
    const value = { a: [1, 'b"\\[{', null, { c: true }], ä: {} }
    assert.deepEqual(parseOutsideJson(JSON.stringify(value)), value)
    assert.deepEqual(parseOutsideJson(Buffer.from(JSON.stringify(value))), value)
  })

  it('is refused when it is nested too deeply, or has too many values', () => {
    assert.deepEqual(parseOutsideJson(nested(3), { depth: 3 }), [[[1]]])
    for (const source of [nested(4), Buffer.from(nested(4)), '['.repeat(1_000_000)]) {
      assert.throws(() => parseOutsideJson(source, { depth: 3 }), JsonRefused)
    }
    assert.equal((parseOutsideJson(`[${'1,'.repeat(98)}1]`, { values: 100 }) as unknown[]).length, 99)
    assert.throws(() => parseOutsideJson(`[${'1,'.repeat(200)}1]`, { values: 100 }), JsonRefused)
    assert.throws(() => parseOutsideJson(`[${'{},'.repeat(1_000_000)}{}]`), JsonRefused)
    const named = (names: number) => `{${Array.from({ length: names }, (_, n) => `"${n}":0`).join()}}`
    assert.equal(Object.keys(parseOutsideJson(named(200), { names: 200 }) as object).length, 200)
    assert.throws(() => parseOutsideJson(named(201), { names: 200 }), JsonRefused)
  })

  it('is refused when it has too many different names, in one object or in many', () => {
    const record = (n: number) => ({ id: n, name: `${n}`, size: { bytes: n } })
    const records = Array.from({ length: 5000 }, (_, n) => record(n))
    assert.deepEqual(parseOutsideJson(JSON.stringify(records), { differentNames: 4 }), records)
    assert.throws(() => parseOutsideJson(JSON.stringify(records), { differentNames: 3 }), JsonRefused)
    // Of the same length, with the same first and last character.
    const name = (n: number) => `k${String(n).padStart(4, '0')}k`
    const apart = (count: number) => Array.from({ length: count }, (_, n) => ({ [name(n)]: n }))
    for (const value of [apart(2001), Object.assign({}, ...apart(2001)), [apart(1500), apart(2001)]]) {
      assert.throws(() => parseOutsideJson(JSON.stringify(value)), /too many names/)
    }
    const again = [apart(2000), apart(2000)]
    assert.deepEqual(parseOutsideJson(JSON.stringify(again)), again)
  })

  it('counts nothing within strings', () => {
    const text = JSON.stringify([`${'['.repeat(500)},,::"\\`, '\\\\', '{'.repeat(500)])
    assert.equal((parseOutsideJson(text, { depth: 1, values: 5 }) as unknown[]).length, 3)
  })

  for (const source of ['', '{', '[1,]', 'nul', '"\u0001"', Buffer.from([0x22, 0xff, 0x22])]) {
    it(`is refused when it is none: ${JSON.stringify(String(source))}`, () => {
      assert.throws(() => parseOutsideJson(source), JsonRefused)
    })
  }
})
