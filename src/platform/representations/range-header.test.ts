import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { type Selection, selectRanges } from './range-header.ts'

const parts = (...spans: [start: number, end: number][]): Selection => ({
  kind: 'parts',
  spans: spans.map(([start, end]) => ({ start, end })),
})
const whole: Selection = { kind: 'whole' }
const unsatisfiable: Selection = { kind: 'unsatisfiable' }

describe('a range header', () => {
  const cases: [header: string | undefined, size: number, expected: Selection][] = [
    [undefined, 10, whole],
    ['bytes=0-0', 10, parts([0, 1])],
    ['bytes=2-5', 10, parts([2, 6])],
    ['bytes=2-', 10, parts([2, 10])],
    ['bytes=-3', 10, parts([7, 10])],
    ['bytes=-11', 10, parts([0, 10])],
    ['bytes=0-99999999999999999999999', 10, parts([0, 10])],
    ['bytes=-99999999999999999999999', 10, parts([0, 10])],
    ['Bytes=1-2', 10, parts([1, 3])],
    [' bytes = 1-2', 10, parts([1, 3])],
    ['bytes=10-', 10, unsatisfiable],
    ['bytes=10-20', 10, unsatisfiable],
    ['bytes=99999999999999999999999-', 10, unsatisfiable],
    ['bytes=-0', 10, unsatisfiable],
    ['bytes=-0,20-30', 10, unsatisfiable],
    ['bytes=0-1,20-30', 10, parts([0, 2])],
    ['bytes=0-1, 4-5', 10, parts([0, 2], [4, 6])],
    ['bytes=4-5,0-1', 10, parts([4, 6], [0, 2])],
    ['bytes=,0-1,,4-5,', 10, parts([0, 2], [4, 6])],
    ['bytes=0-4,3-6', 10, parts([0, 7])],
    ['bytes=0-4,5-6', 10, parts([0, 7])],
    ['bytes=0-1,4-5,1-4', 10, parts([0, 6])],
    ['bytes=8-9,0-1,4-5,1-4', 10, parts([8, 10], [0, 6])],
    ['bytes=0-,-1', 10, parts([0, 10])],
    ['bytes=5-4', 10, whole],
    ['bytes=0-1,5-4', 10, whole],
    ['bytes=', 10, whole],
    ['bytes=,', 10, whole],
    ['bytes=-', 10, whole],
    ['bytes=a-b', 10, whole],
    ['bytes=1', 10, whole],
    ['bytes=1-2-3', 10, whole],
    ['bytes=1 - 2', 10, whole],
    ['bytes=+1-2', 10, whole],
    ['bytes=0x1-2', 10, whole],
    ['bytes 1-2', 10, whole],
    ['items=1-2', 10, whole],
    ['', 10, whole],
    ['bytes=0-', 0, whole],
    ['bytes=-5', 0, whole],
    ['bytes=5-9', 0, whole],
    [
      `bytes=${Array.from({ length: 100 }, (_, index) => `${index * 2}-${index * 2}`).join()}`,
      1,
      parts([0, 1]),
    ],
    [`bytes=${Array.from({ length: 101 }, () => '0-0').join()}`, 10, whole],
  ]
  for (const [header, size, expected] of cases) {
    const shown = header === undefined || header.length < 40 ? header : `${header.slice(0, 30)}…`
    it(`${shown} of ${size} bytes is ${expected.kind}`, () => {
      assert.deepEqual(selectRanges(header, size), expected)
    })
  }

  it('selects just the bytes it names, each once, in parts that do not touch', () => {
    const bound = fc.nat(60)
    const range = fc.oneof(
      fc.tuple(bound, bound).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
      bound.map((first) => `${first}-`),
      bound.map((length) => `-${length}`),
    )
    fc.assert(
      fc.property(
        fc.array(range, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 50 }),
        (ranges, size) => {
          const wanted = bytesNamed(ranges, size)
          const selection = selectRanges(`bytes=${ranges.join(',')}`, size)
          if (selection.kind !== 'parts') {
            assert.equal(selection.kind, 'unsatisfiable')
            assert.equal(wanted.size, 0)
            return
          }
          const given = selection.spans.flatMap(({ start, end }) =>
            Array.from({ length: end - start }, (_, index) => start + index),
          )
          assert.deepEqual(
            given.toSorted((a, b) => a - b),
            [...wanted].sort((a, b) => a - b),
          )
          const sorted = selection.spans.toSorted((a, b) => a.start - b.start)
          for (const [index, span] of sorted.entries()) {
            const next = sorted[index + 1]
            assert.ok(next === undefined || span.end < next.start, 'two parts touch')
          }
        },
      ),
    )
  })
})

/** Reference implementation of RFC 9110, byte by byte. */
function bytesNamed(ranges: readonly string[], size: number): Set<number> {
  const named = new Set<number>()
  for (const range of ranges) {
    const [first = '', last = ''] = range.split('-')
    for (let byte = 0; byte < size; byte += 1) {
      const fromEnd = size - byte
      if (
        first === ''
          ? fromEnd <= Number(last)
          : byte >= Number(first) && (last === '' || byte <= Number(last))
      )
        named.add(byte)
    }
  }
  return named
}
