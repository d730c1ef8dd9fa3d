import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { check, names } from '../../../test/support/dirents.arbitrary.ts'
import { compareNames, comparesNatively, conflictName, freeName, isStorableName, parseName } from './names.ts'

const bytes = (text: string) => Buffer.byteLength(text)

describe('the names a user may give', () => {
  it('accepts ordinary and unusual names unchanged', () => {
    const fine = ['a', 'a..b.txt', '...', ' lead', 'trail ', 'CON', '😀', '\u00a0', '\ue000', 'x'.repeat(255)]
    for (const name of fine) assert.equal(parseName(name), name)
  })

  it('rejects invalid names', () => {
    const wrong = [
      '',
      '.',
      '..',
      'a/b',
      'a\\b',
      'a\0',
      'a\u001f',
      'tab\t',
      '\u007f',
      'a\u0080',
      'a\u009f',
      '\ud800',
      'a\udc00b',
      'x'.repeat(256),
    ]
    for (const name of wrong) assert.equal(parseName(name), undefined, JSON.stringify(name))
  })

  it('counts bytes, not characters', () => {
    assert.equal(parseName('é'.repeat(127))?.length, 127)
    assert.equal(parseName('é'.repeat(128)), undefined)
    assert.equal(parseName('😀'.repeat(64)), undefined)
  })

  it('normalizes to NFC before it checks the length', () => {
    assert.equal(parseName('e\u0301'), '\u00e9')
    assert.equal(parseName('\u212b'), '\u00c5')
    assert.equal(parseName('e\u0301'.repeat(127)), '\u00e9'.repeat(127))
  })
})

describe('the names a pushed tree may contain', () => {
  it('may have backslashes, control characters and decomposed text', () => {
    for (const name of ['a\\b', 'tab\t', '\u0001', '\u007f', '\u0085', 'e\u0301', 'x'.repeat(255)])
      assert.ok(isStorableName(name))
  })

  it('rejects names that would break a path or cannot be encoded', () => {
    const wrong = ['', '.', '..', 'a/b', 'a\0b', '\ud83d', 'x'.repeat(256), 'é'.repeat(128)]
    for (const name of wrong) assert.equal(isStorableName(name), false, JSON.stringify(name))
  })
})

describe('the order of names', () => {
  it('puts characters above U+FFFF after the private use area', () => {
    assert.ok(compareNames('😀', '\uffff') > 0)
    assert.ok(compareNames('\ue000', '\u{10000}') < 0)
    assert.ok(compareNames('a😀', 'a😁') < 0)
    assert.ok(compareNames('a', 'ab') < 0)
    assert.equal(compareNames('名', '名'), 0)
  })

  it('is the order of their UTF-8 bytes', (t) => {
    const property = fc.property(names, names, (a, b) => {
      const expected = Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b)))
      assert.equal(Math.sign(compareNames(a, b)), expected)
      if (comparesNatively(a)) assert.equal(a < b ? -1 : a > b ? 1 : 0, expected)
    })
    check(t, property, 2000)
  })
})

describe('a free name', () => {
  it('puts the number before the last dot', () => {
    const table = [
      ['a.txt', 'a (1).txt'],
      ['a (1).txt', 'a (1) (1).txt'],
      ['archive.tar.gz', 'archive.tar (1).gz'],
      ['README', 'README (1)'],
      ['.bashrc', '.bashrc (1)'],
      ['v1.2', 'v1 (1).2'],
      ['a.', 'a (1).'],
    ] as const
    for (const [wanted, expected] of table)
      assert.equal(
        freeName(wanted, (name) => name === wanted),
        expected,
      )
  })

  it('is the wanted name if it is free, otherwise the one with the first free number', () => {
    assert.equal(
      freeName('a.txt', () => false),
      'a.txt',
    )
    const taken = new Set(['a.txt', ...Array.from({ length: 5000 }, (_, i) => `a (${i + 1}).txt`)])
    taken.delete('a (1234).txt')
    assert.equal(
      freeName('a.txt', (name) => taken.has(name)),
      'a (1234).txt',
    )
    taken.add('a (1234).txt')
    assert.equal(
      freeName('a.txt', (name) => taken.has(name)),
      'a (5001).txt',
    )
  })

  it('shortens the base at a character boundary if the number does not fit', () => {
    const long = `${'😀'.repeat(62)}.txt` // 252 bytes
    assert.equal(
      freeName(long, (name) => name === long),
      `${'😀'.repeat(61)} (1).txt`,
    )
    const extension = `a.${'x'.repeat(253)}`
    assert.equal(
      freeName(extension, (name) => name === extension),
      `a.${'x'.repeat(249)} (1)`,
    )
  })

  it('is always free and a valid name', (t) => {
    const wanted = fc.oneof(
      names,
      fc.tuple(names, fc.integer({ min: 20, max: 255 })).map(([a, n]) => a.repeat(n)),
    )
    const property = fc.property(wanted, fc.nat(30), (text, count) => {
      const start = parseName(text)
      fc.pre(start !== undefined)
      const taken = new Set<string>()
      for (let i = 0; i <= count; i++) {
        const name = freeName(start, (other) => taken.has(other))
        assert.ok(!taken.has(name))
        assert.equal(parseName(name), name)
        taken.add(name)
      }
    })
    check(t, property)
  })
})

describe('a conflict name', () => {
  const when = 1_794_701_577

  it('has the account and the UTC time before the last dot', () => {
    assert.equal(conflictName('a.tar.gz', 'u@x.y', when), 'a.tar (SFConflict u@x.y 2026-11-15-00-12-57).gz')
    assert.equal(conflictName('README', 'u@x.y', when), 'README (SFConflict u@x.y 2026-11-15-00-12-57)')
    assert.equal(conflictName('a.b', '', when), 'a (SFConflict 2026-11-15-00-12-57).b')
    assert.equal(conflictName('.bashrc', 'u@x.y', when), ' (SFConflict u@x.y 2026-11-15-00-12-57).bashrc')
  })

  it('is a valid name, whatever name and modifier a client sent', (t) => {
    const who = fc.oneof(names, fc.string({ unit: 'binary' }), fc.constant(`../${'é'.repeat(400)}`))
    const property = fc.property(names, who, fc.maxSafeInteger(), fc.nat(255), (name, by, time, pad) => {
      const long = (name + 'x'.repeat(pad)).slice(0, 60) // At most 240 bytes.
      fc.pre(isStorableName(long))
      const result = conflictName(long, by, time)
      assert.ok(isStorableName(result), JSON.stringify(result))
      assert.ok(bytes(result) <= 255)
    })
    check(t, property, 500)
  })
})
