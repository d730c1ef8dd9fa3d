import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fuzzyScore } from '../../../web/src/commands/fuzzy.ts'
import { gridCommand } from '../../../web/src/files/grid-keys.ts'
import { commandOf, shortcuts } from '../../../web/src/shortcuts.ts'

/** The key press that a shortcut describes. */
function pressOf(shortcut: string) {
  const parts = shortcut.split('+')
  const key = parts.pop() ?? ''
  return {
    key: key === 'Space' ? ' ' : key,
    shiftKey: parts.includes('Shift'),
    ctrlKey: parts.includes('Mod'),
    metaKey: false,
    altKey: parts.includes('Alt'),
  }
}

describe('the list of shortcuts', () => {
  it('says what each key of a folder does', () => {
    for (const [kind, keys] of Object.entries(shortcuts.list)) {
      for (const key of keys)
        assert.deepEqual(
          gridCommand(pressOf(key), 1, () => 10),
          { kind },
          key,
        )
    }
    for (const [, keys] of Object.entries(shortcuts.moves)) {
      for (const key of keys) assert.equal(gridCommand(pressOf(key), 4, () => 10)?.kind, 'move', key)
    }
  })

  it('leaves keys of the page and of the clipboard to their handlers', () => {
    for (const keys of [shortcuts.everywhere.palette, shortcuts.everywhere.help, shortcuts.everywhere.undo]) {
      for (const key of keys)
        assert.equal(
          gridCommand(pressOf(key), 1, () => 10),
          undefined,
          key,
        )
    }
    for (const keys of Object.values(shortcuts.clipboard)) {
      for (const key of keys)
        assert.equal(
          gridCommand(pressOf(key), 1, () => 10),
          undefined,
          key,
        )
    }
  })

  it('has each key once in an area', () => {
    for (const commands of Object.values(shortcuts)) {
      const keys = Object.values<readonly string[]>(commands).flat()
      assert.equal(new Set(keys).size, keys.length)
    }
  })

  it('takes Ctrl and Command, and wants exactly the modifiers it names', () => {
    const press = pressOf('k')
    assert.equal(commandOf('everywhere', { ...press, ctrlKey: true }), 'palette')
    assert.equal(commandOf('everywhere', { ...press, key: 'K', metaKey: true }), 'palette')
    assert.equal(commandOf('everywhere', { ...press, ctrlKey: true, shiftKey: true }), undefined)
    assert.equal(commandOf('everywhere', { ...press, ctrlKey: true, altKey: true }), undefined)
    assert.equal(commandOf('everywhere', press), undefined)
    // Where `?` and `/` are on a keyboard, Shift belongs to the character.
    assert.equal(commandOf('everywhere', { ...pressOf('?'), shiftKey: true }), 'help')
    assert.equal(commandOf('everywhere', { ...pressOf('/'), shiftKey: true }), 'search')
  })
})

describe('the fuzzy match of the palette', () => {
  const order = (typed: string, ...texts: string[]) =>
    texts
      .map((text) => ({ text, score: fuzzyScore(text, typed) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .map(({ text }) => text)

  it('finds parts of words, initials, and words in any order', () => {
    assert.deepEqual(order('nf', 'New folder', 'Notes', 'Inform'), ['New folder', 'Inform'])
    assert.deepEqual(order('fold new', 'New folder', 'Folder'), ['New folder'])
    assert.deepEqual(order('report', 'Quarterly report', 'report', 'airports'), [
      'report',
      'Quarterly report',
    ])
    assert.deepEqual(order('xyz', 'New folder'), [])
  })

  it('ignores case and accents, and matches everything before a letter is typed', () => {
    assert.ok(fuzzyScore('Übersicht', 'ubers') > 0)
    assert.ok(fuzzyScore('照片', '照') > 0)
    assert.ok(fuzzyScore('anything', '  ') > 0)
  })
})
