import assert from 'node:assert/strict'
import { it } from 'node:test'
import { foldTerm, matchesOn, pageTextOf } from '../../../web/src/viewer/pdf-text.ts'

/** Lines of a page, each in one or more items. */
const page = (...lines: string[][]) =>
  pageTextOf(
    lines.flatMap((items) => items.map((str, index) => ({ str, hasEOL: index === items.length - 1 }))),
  )

const found = (text: ReturnType<typeof page>, term: string) =>
  matchesOn(1, text, foldTerm(term)).map(({ from, to }) => [from.item, from.offset, to.item, to.offset])

it('a term in a PDF is found without regard to case, diacritics, ligatures and spaces', () => {
  const text = page(['Über den ', 'Wolken'], ['die  ﬁnale Zeile'])
  assert.deepEqual(found(text, 'uber'), [[0, 0, 0, 4]])
  assert.deepEqual(found(text, 'FINALE'), [[2, 5, 2, 10]])
  assert.deepEqual(found(text, '  die finale '), [[2, 0, 2, 10]])
  assert.deepEqual(found(text, 'missing'), [])
  assert.deepEqual(found(text, '   '), [])
})

it('a term in a PDF is found across items and lines', () => {
  const text = page(['Hel', 'lo'], ['world'])
  assert.deepEqual(found(text, 'hello world'), [[0, 0, 2, 5]])
})

it('matches in a PDF do not overlap, and what is no text is skipped', () => {
  const text = pageTextOf([{ str: 'aaaa', hasEOL: false }, {}, { str: 'aa', hasEOL: true }])
  assert.deepEqual(found(text, 'aaa'), [
    [0, 0, 0, 3],
    [0, 3, 1, 2],
  ])
})
