import './browser-globals.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Entry } from '../../../web/src/api/index.ts'

const { namesOfCopies } = await import('../../../web/src/tasks/names-of-copies.ts')
const { rememberUndo, undoLast } = await import('../../../web/src/tasks/undo-stack.ts')

const entry = (name: string, id = 'a', type: 'file' | 'dir' = 'file'): Entry => ({
  type,
  id,
  name,
  mtime: 7,
  permission: 'rw',
  parent_dir: '/',
  starred: false,
})

describe('the names of copies', () => {
  it('are new, and have the content and the name of the original, perhaps with a number', () => {
    const originals = [entry('a.txt'), entry('b', 'b', 'dir')]
    const now = [entry('a.txt'), entry('a (1).txt'), entry('c.txt'), entry('b', 'b', 'dir')]
    assert.deepEqual(namesOfCopies(originals, now, new Set(['a.txt', 'c.txt'])), ['a (1).txt', 'b'])
  })

  it('are unknown if one of them was changed, renamed or deleted since', () => {
    const before = new Set(['a.txt'])
    assert.equal(namesOfCopies([entry('a.txt')], [entry('a.txt')], before), undefined)
    assert.equal(namesOfCopies([entry('a.txt')], [entry('a (1).txt', 'b')], before), undefined)
    assert.equal(namesOfCopies([entry('a.txt')], [entry('other.txt')], before), undefined)
    assert.equal(namesOfCopies([entry('a.txt')], [entry('a (1).txt', 'a', 'dir')], before), undefined)
  })
})

describe('the actions to undo', () => {
  it('are undone from the last one backwards, each once, one after the other', async () => {
    const done: string[] = []
    const held = Promise.withResolvers<void>()
    rememberUndo(async () => void done.push('first'))
    const button = rememberUndo(async () => void done.push('second'))
    rememberUndo(async () => {
      await held.promise
      done.push('third')
    })
    assert.equal(undoLast(), true)
    button()
    button()
    assert.equal(undoLast(), true)
    assert.equal(undoLast(), false)
    held.resolve()
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(done, ['third', 'second', 'first'])
  })
})
