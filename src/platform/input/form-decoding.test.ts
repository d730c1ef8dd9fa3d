import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decodeFormText, decodePairs, decodeUtf8 } from './form-decoding.ts'

describe('the text of a query or an urlencoded body', () => {
  const cases: [sent: string, decoded: string][] = [
    ['plain-text_1.0~', 'plain-text_1.0~'],
    ['a+b%20c', 'a b c'],
    ['%2B', '+'],
    ['%C3%A4%e2%82%ac', 'ä€'],
    ['%F0%9F%93%9A', '📚'],
    ['\xc3\xa4', 'ä'], // Raw UTF-8, one character per byte.
    ['%2541', '%41'], // Decoded once, not twice.
    ['100%', '100%'],
    ['%', '%'],
    ['%4', '%4'],
    ['%zz%41', '%zzA'],
    ['%%41', '%A'],
    ['%00', '\0'],
    ['%ff', '\udcff'],
    ['a%C3', 'a\udcc3'],
    ['%C3%28', '\udcc3('],
    ['%ED%A0%80', '\udced\udca0\udc80'], // A surrogate in UTF-8 is not UTF-8.
    ['%C0%AF', '\udcc0\udcaf'], // An overlong slash must not become a slash.
    ['%F0%9F%93', '\udcf0\udc9f\udc93'],
    ['%80ok%C3%A4', '\udc80okä'],
  ]
  for (const [sent, decoded] of cases) {
    it(`reads ${JSON.stringify(sent)} as ${JSON.stringify(decoded)}`, () => {
      assert.equal(decodeFormText(sent), decoded)
    })
  }

  it('is well-formed exactly when the bytes were UTF-8', () => {
    const seed = Math.floor(Math.random() * 2 ** 31)
    let state = seed
    const next = () => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) >>> 16
    for (let round = 0; round < 2000; round += 1) {
      const bytes = Buffer.from(Array.from({ length: next() % 12 }, () => next() & 0xff))
      const text = decodeUtf8(bytes)
      const expected = bytes.equals(Buffer.from(bytes.toString('utf8')))
      assert.equal(text.isWellFormed(), expected, `seed ${seed}, bytes ${bytes.toString('hex')}`)
      const points = Array.from({ length: next() % 12 }, () => (next() << 5) % 0x110000)
      const good = String.fromCodePoint(...points).toWellFormed()
      const damaged = Buffer.concat([Buffer.from(good), Buffer.from([0xff]), Buffer.from(good)])
      assert.equal(decodeUtf8(damaged), `${good}\udcff${good}`, `seed ${seed}`)
    }
  })
})

describe('pairs', () => {
  function pairsOf(text: string): string[][] {
    const pairs: string[][] = []
    decodePairs(text, 10, (name, value) => pairs.push([name, value]))
    return pairs
  }

  it('are split before they are decoded', () => {
    assert.deepEqual(pairsOf('a%3Db=c%26d&e'), [
      ['a=b', 'c&d'],
      ['e', ''],
    ])
  })

  it('may be empty, and may hold further equals signs', () => {
    assert.deepEqual(pairsOf('&&a=&=b&c=d=e&'), [
      ['a', ''],
      ['', 'b'],
      ['c', 'd=e'],
    ])
  })

  it('are refused past the limit', () => {
    assert.equal(
      decodePairs('a&b&c', 3, () => {}),
      true,
    )
    assert.equal(
      decodePairs('a&b&c', 2, () => {}),
      false,
    )
  })
})
