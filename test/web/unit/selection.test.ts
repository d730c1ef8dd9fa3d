import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { canContain } from '../../../web/src/files/can-contain.ts'
import { gridCommand, typedSoFar } from '../../../web/src/files/grid-keys.ts'
import {
  all,
  entryAt,
  indexNames,
  kept,
  none,
  nothing,
  only,
  type Selection,
  selectRange,
  toggleEntry,
  typeAheadMatch,
} from '../../../web/src/files/selection.ts'

const shown = indexNames(['a', 'b', 'c', 'd', 'e'])
const names = ({ chosen }: Selection) => [...chosen].sort().join('')

describe('the selection of entries', () => {
  it('selects one entry and makes it active', () => {
    assert.deepEqual(only('b'), { chosen: new Set(['b']), active: 'b', anchor: 'b' })
  })

  it('extends a range from the anchor in both directions', () => {
    const down = selectRange(only('b'), shown, 'd')
    assert.deepEqual([names(down), down.active, down.anchor], ['bcd', 'd', 'b'])
    const up = selectRange(down, shown, 'a')
    assert.deepEqual([names(up), up.active, up.anchor], ['ab', 'a', 'b'])
  })

  it('adds a range to what is selected already', () => {
    const selection = toggleEntry(only('a'), 'c')
    assert.equal(names(selectRange(selection, shown, 'd', true)), 'acd')
    assert.equal(names(selectRange(selection, shown, 'd')), 'cd')
  })

  it('starts a range at the top when nothing is active', () => {
    assert.equal(names(selectRange(nothing, shown, 'c')), 'abc')
  })

  it('starts a range at the top when the anchor is gone', () => {
    assert.equal(names(selectRange(only('gone'), shown, 'b')), 'ab')
  })

  it('toggles one entry and moves the anchor to it', () => {
    const two = toggleEntry(only('a'), 'd')
    assert.deepEqual([names(two), two.anchor], ['ad', 'd'])
    assert.equal(names(toggleEntry(two, 'a')), 'd')
  })

  it('selects all and none, and leaves the active entry alone', () => {
    assert.deepEqual([names(all(only('c'), shown)), all(only('c'), shown).active], ['abcde', 'c'])
    assert.deepEqual([names(none(only('c'))), none(only('c')).active], ['', 'c'])
  })

  it('keeps what is left after entries disappeared', () => {
    const selection = selectRange(only('b'), shown, 'd')
    const left = kept(selection, indexNames(['a', 'b', 'd']))
    assert.deepEqual([names(left), left.active, left.anchor], ['bd', 'd', 'b'])
    const without = kept(selection, indexNames(['a', 'c']))
    assert.deepEqual([names(without), without.active, without.anchor], ['c', undefined, undefined])
  })

  it('returns the same object when nothing of it disappeared, so that nothing renders again', () => {
    const selection = selectRange(only('b'), shown, 'd')
    assert.equal(kept(selection, indexNames(['b', 'c', 'd'])), selection)
  })

  it('moves within the list and stops at its ends', () => {
    const cases: [active: Selection, step: number | 'first' | 'last', expected: string][] = [
      [only('b'), 1, 'c'],
      [only('b'), -1, 'a'],
      [only('b'), -4, 'a'],
      [only('b'), 40, 'e'],
      [only('b'), 'first', 'a'],
      [only('b'), 'last', 'e'],
      [nothing, 1, 'a'],
      [only('gone'), 1, 'a'],
    ]
    for (const [active, step, expected] of cases) assert.equal(entryAt(active, shown, step), expected)
    assert.equal(entryAt(nothing, indexNames([]), 1), undefined)
    assert.equal(entryAt(nothing, indexNames([]), 'last'), undefined)
  })

  it('finds the next name that starts with the typed letters, and wraps around', () => {
    const list = indexNames(['Alpha', 'beta', 'alps', 'Gamma'])
    assert.equal(typeAheadMatch(nothing, list, 'a'), 'Alpha')
    assert.equal(typeAheadMatch(only('Alpha'), list, 'a'), 'alps')
    assert.equal(typeAheadMatch(only('alps'), list, 'a'), 'Alpha')
    assert.equal(typeAheadMatch(only('alps'), list, 'alp'), 'alps', 'more letters may match the active entry')
    assert.equal(typeAheadMatch(only('alps'), list, 'x'), undefined)
  })
})

describe('the keys of a folder', () => {
  const none = { shiftKey: false, ctrlKey: false, metaKey: false, altKey: false }
  const press = (key: string, held: Partial<typeof none> = {}, columns = 1) =>
    gridCommand({ key, ...none, ...held }, columns, () => 10)

  it('moves by rows in a list and by cells in a grid', () => {
    assert.deepEqual(press('ArrowDown'), { kind: 'move', by: 1, mode: 'select' })
    assert.deepEqual(press('ArrowDown', {}, 4), { kind: 'move', by: 4, mode: 'select' })
    assert.deepEqual(press('ArrowRight', {}, 4), { kind: 'move', by: 1, mode: 'select' })
    assert.deepEqual(press('ArrowLeft', {}, 4), { kind: 'move', by: -1, mode: 'select' })
    assert.deepEqual(press('ArrowRight'), { kind: 'none' })
    assert.deepEqual(press('PageUp', {}, 4), { kind: 'move', by: -40, mode: 'select' })
    assert.deepEqual(press('End'), { kind: 'move', by: 'last', mode: 'select' })
  })

  it('extends with Shift, and moves only the focus with Ctrl or Command', () => {
    assert.deepEqual(press('Home', { shiftKey: true }), { kind: 'move', by: 'first', mode: 'extend' })
    assert.deepEqual(press('ArrowUp', { ctrlKey: true }), { kind: 'move', by: -1, mode: 'focus' })
    assert.deepEqual(press('ArrowUp', { metaKey: true }), { kind: 'move', by: -1, mode: 'focus' })
  })

  it('maps the other keys to commands', () => {
    const commands: [key: string, held: Partial<typeof none>, kind: string][] = [
      [' ', {}, 'toggle'],
      ['Enter', {}, 'open'],
      ['F2', {}, 'rename'],
      ['Delete', {}, 'delete'],
      ['Backspace', {}, 'up'],
      ['ArrowUp', { altKey: true }, 'up'],
      ['Escape', {}, 'escape'],
      ['/', {}, 'find'],
      ['f', { ctrlKey: true }, 'find'],
      ['F', { metaKey: true }, 'find'],
      ['a', { ctrlKey: true }, 'all'],
      ['ContextMenu', {}, 'menu'],
      ['F10', { shiftKey: true }, 'menu'],
      ['F10', {}, 'none'],
    ]
    for (const [key, held, kind] of commands) assert.equal(press(key, held)?.kind, kind, key)
  })

  it('takes a single letter as type-ahead, and leaves everything else to the browser', () => {
    assert.deepEqual(press('b'), { kind: 'type', letter: 'b' })
    assert.equal(press('b', { ctrlKey: true }), undefined)
    assert.equal(press('b', { altKey: true }), undefined)
    for (const key of ['Tab', 'F5', 'toString', 'Shift']) assert.equal(press(key), undefined, key)
  })

  it('joins letters that are typed quickly', () => {
    const first = typedSoFar({ text: '', at: 0 }, 'a', 10_000)
    assert.deepEqual(typedSoFar(first, 'b', 10_799), { text: 'ab', at: 10_799 })
    assert.deepEqual(typedSoFar(first, 'b', 10_800), { text: 'b', at: 10_800 })
  })
})

describe('dropping entries on a folder', () => {
  const selected = { libraryId: 'L', folder: '/a', names: ['b', 'c'] }

  it('is possible in another folder or library', () => {
    for (const path of ['/', '/x', '/a/bc', '/a/d']) {
      assert.equal(canContain({ libraryId: 'L', path }, selected), true, path)
    }
    assert.equal(canContain({ libraryId: 'M', path: '/a/b' }, selected), true)
  })

  it('is not possible where they are, in themselves, or below themselves', () => {
    for (const path of ['/a', '/a/b', '/a/c/d']) {
      assert.equal(canContain({ libraryId: 'L', path }, selected), false, path)
    }
    assert.equal(canContain({ libraryId: 'L', path: '/b' }, { ...selected, folder: '/' }), false)
  })
})
