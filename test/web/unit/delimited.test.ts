import assert from 'node:assert/strict'
import { it } from 'node:test'
import { parseDelimited } from '../../../web/src/viewer/delimited.ts'

it('CSV is parsed with commas, semicolons and tabs, quotes and line breaks', () => {
  const expected = {
    head: ['name', 'note'],
    rows: [
      ['Ann', 'a, b; c'],
      ['Bob', 'two\nlines'],
    ],
    isCut: false,
  }
  for (const delimiter of [',', ';', '\t']) {
    const lines = [
      ['name', 'note'],
      ['Ann', '"a, b; c"'],
      ['Bob', '"two\nlines"'],
    ]
    const text = lines.map((line) => line.join(delimiter)).join('\r\n')
    assert.deepEqual(parseDelimited(text), expected, JSON.stringify(delimiter))
  }
})

it('rows of a CSV file are padded, and a long or wide file is cut', () => {
  assert.deepEqual(parseDelimited('a,b,c\n1\n1,2,3,4\n').rows, [
    ['1', '', '', ''],
    ['1', '2', '3', '4'],
  ])
  assert.deepEqual(parseDelimited(''), { head: [], rows: [], isCut: false })
  const exact = parseDelimited('a,b\n'.repeat(2001))
  assert.deepEqual([exact.rows.length, exact.isCut], [2000, false])
  const long = parseDelimited('a,b\n'.repeat(5000))
  assert.deepEqual([long.rows.length, long.isCut], [2000, true])
  const wide = parseDelimited(`${'x,'.repeat(500)}x\n1,2`)
  assert.deepEqual([wide.head.length, wide.isCut], [100, true])
  // An unclosed quote takes the rest of the text, and nothing more.
  assert.equal(parseDelimited('a,b\n"1,2\n3,4').rows.length, 1)
})
