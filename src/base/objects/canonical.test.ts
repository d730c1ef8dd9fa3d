import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { check } from '../../../test/support/dirents.arbitrary.ts'
import { quote } from './canonical.ts'

describe('a quoted string', () => {
  it('escapes quotes, backslashes and control characters, and nothing else', () => {
    assert.equal(quote('a"b\\c'), '"a\\"b\\\\c"')
    assert.equal(quote('\b\f\n\r\t'), '"\\b\\f\\n\\r\\t"')
    assert.equal(quote('\u0000\u000b\u001f'), '"\\u0000\\u000B\\u001F"')
    assert.equal(quote('/\u007f<>&\u2028\u2029é😀'), '"/\u007f<>&\u2028\u2029é😀"')
  })

  it('round-trips through JSON.parse', (t) => {
    const property = fc.property(fc.string({ unit: 'binary' }), (text) =>
      assert.equal(JSON.parse(quote(text)), text),
    )
    check(t, property, 1000)
  })
})
