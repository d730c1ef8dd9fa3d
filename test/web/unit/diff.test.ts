import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { diffLines } from '../../../web/src/diff/diff.ts'
import { foldUnchanged } from '../../../web/src/diff/fold-unchanged.ts'
import { seededRandom, testSeed } from '../../support/random.ts'

describe('the line diff', () => {
  it('contains both texts and is a shortest edit script', () => {
    const seed = testSeed()
    const next = seededRandom(seed)
    const random = (below: number) => Math.floor(next() * below)
    const text = () => Array.from({ length: random(12) }, () => 'abcd'[random(4)]).join('\n')
    for (let round = 0; round < 500; round += 1) {
      const [before, after] = [text(), text()]
      const lines = diffLines(before, after)
      const without = (kind: string) => lines.filter((line) => line.kind !== kind).map((line) => line.text)
      assert.equal(without('added').join('\n'), before, `seed ${seed}`)
      assert.equal(without('removed').join('\n'), after, `seed ${seed}`)
      const same = lines.filter(({ kind }) => kind === 'same').length
      assert.equal(same, longestCommon(linesOf(before), linesOf(after)), `seed ${seed}`)
    }
  })

  it('numbers the lines of each side', () => {
    assert.deepEqual(
      diffLines('a\r\nb\r\n', 'a\nc\n').map(({ kind, text, before, after }) => [kind, text, before, after]),
      [
        ['same', 'a', 1, 1],
        ['removed', 'b', 2, undefined],
        ['added', 'c', undefined, 2],
      ],
    )
    assert.deepEqual(diffLines('', ''), [])
  })

  it('shows everything as replaced where too much differs', () => {
    const many = (word: string) => Array.from({ length: 20_000 }, (_, index) => `${word} ${index}`).join('\n')
    const lines = diffLines(many('before'), many('after'))
    assert.equal(lines.length, 40_000)
  })
})

describe('the folding of unchanged lines', () => {
  const text = (...lines: (number | string)[]) => lines.join('\n')
  const numbers = Array.from({ length: 20 }, (_, n) => n + 1)
  const folded = (before: string, after: string) =>
    foldUnchanged(diffLines(before, after)).map(({ lines, isHidden }) =>
      isHidden ? -lines.length : lines.length,
    )

  it('leaves three lines around a difference', () => {
    const changed = numbers.map((n) => (n === 10 ? 'x' : n))
    assert.deepEqual(folded(text(...numbers), text(...changed)), [-6, 8, -7])
  })

  it('shows differences that are close to each other as one', () => {
    const changed = numbers.map((n) => (n === 1 || n === 8 ? 'x' : n))
    assert.deepEqual(folded(text(...numbers), text(...changed)), [13, -9])
  })

  it('folds everything where nothing differs', () => {
    assert.deepEqual(folded(text(...numbers), text(...numbers)), [-20])
    assert.deepEqual(folded('', ''), [])
  })
})

const linesOf = (text: string) => (text === '' ? [] : text.split('\n'))

function longestCommon(a: readonly string[], b: readonly string[]): number {
  let row = Array.from({ length: b.length + 1 }, () => 0)
  for (const line of a) {
    const next = [0]
    for (const [index, other] of b.entries()) {
      next.push(line === other ? (row[index] ?? 0) + 1 : Math.max(row[index + 1] ?? 0, next[index] ?? 0))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
