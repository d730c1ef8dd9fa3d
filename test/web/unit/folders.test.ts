import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Entry, Folder } from '../../../web/src/api/entries.ts'
import { applyChanges } from '../../../web/src/api/folder-changes.ts'
import { confirmedFolder, reuseEntries, shareEntries, withTag } from '../../../web/src/api/reuse-entries.ts'
import {
  activateChild,
  focusWhenOpened,
  lastVisit,
  leave,
  takeFocus,
} from '../../../web/src/files/folder-visits.ts'
import { parsePreferences } from '../../../web/src/files/preferences.ts'
import { describeCommit } from '../../../web/src/history/commit-descriptions.ts'
import { nameAfterMove } from '../../../web/src/tasks/name-after-move.ts'

const entry = (name: string, more: Partial<Entry> = {}): Entry => ({
  type: 'file',
  id: '1'.repeat(40),
  name,
  mtime: 7,
  permission: 'rw',
  parent_dir: '/',
  starred: false,
  ...more,
})

describe('a folder that is loaded again', () => {
  const folder = (...dirent_list: Entry[]): Folder => ({ user_perm: 'rw', dir_id: 'd', dirent_list })

  it('is the same object if nothing changed', () => {
    const old = folder(entry('a'), entry('b'))
    assert.equal(reuseEntries(old, folder(entry('a'), entry('b'))), old)
  })

  it('keeps the objects of entries that did not change', () => {
    const old = folder(entry('a'), entry('b'))
    const fresh = reuseEntries(old, folder(entry('a'), entry('b', { mtime: 8 }), entry('c')))
    assert.notEqual(fresh, old)
    assert.equal(fresh.dirent_list[0], old.dirent_list[0])
    assert.equal(fresh.dirent_list[1]?.mtime, 8)
    assert.equal(fresh.dirent_list.length, 3)
  })

  it('is completed from what changed since it was loaded', () => {
    const old = folder(entry('a'), entry('b'), entry('c'))
    const changes = {
      ...folder(entry('b', { mtime: 8 }), entry('d')),
      dir_id: 'e',
      since: 'd',
      removed: ['c'],
    }
    assert.deepEqual(applyChanges(old, changes), {
      ...folder(entry('a'), entry('b', { mtime: 8 }), entry('d')),
      dir_id: 'e',
    })
    assert.deepEqual(applyChanges(old, folder(entry('d'))), folder(entry('d')))
  })

  it('is as the server sent it last after an optimistic update that was refused', () => {
    const sent = withTag(folder(entry('a'), entry('b')), '"1"')
    const shown = shareEntries(sent, { ...sent, dirent_list: [entry('a'), entry('mine')] })
    assert.deepEqual(
      shown.dirent_list.map(({ name }) => name),
      ['a', 'mine'],
    )
    // The server answers that nothing changed.
    const settled = shareEntries(shown, confirmedFolder(shown))
    assert.deepEqual(settled, sent)
    assert.equal(settled.confirmed?.entries, settled.dirent_list)
  })

  it('is a new object after a deletion', () => {
    const old = folder(entry('a'), entry('b'))
    assert.deepEqual(reuseEntries(old, folder(entry('a'))), folder(entry('a')))
  })
})

describe('the name of an entry after a move', () => {
  const moved = entry('a.txt')

  it('is its own, or its own with a number', () => {
    assert.equal(nameAfterMove(moved, [entry('a.txt'), entry('b.txt')]), 'a.txt')
    assert.equal(
      nameAfterMove(moved, [entry('a.txt', { id: '2'.repeat(40) }), entry('a (1).txt')]),
      'a (1).txt',
    )
  })

  it('is unknown if the entry changed or is gone', () => {
    assert.equal(nameAfterMove(moved, [entry('a.txt', { mtime: 8 })]), undefined)
    assert.equal(nameAfterMove(moved, [entry('a.txt', { type: 'dir' })]), undefined)
    assert.equal(nameAfterMove(moved, [entry('b.txt')]), undefined)
  })
})

describe('the visit of a folder', () => {
  it('is restored when somebody comes back', () => {
    leave('L', '/a', { scrollTop: 120, active: 'x' })
    assert.deepEqual(lastVisit('L', '/a'), { scrollTop: 120, active: 'x' })
    assert.equal(lastVisit('M', '/a'), undefined)
  })

  it('focuses the folder one came from when going up', () => {
    leave('L', '/a', { scrollTop: 40, active: undefined })
    activateChild('L', '/a', '/a/b/c')
    assert.deepEqual(lastVisit('L', '/a'), { scrollTop: 40, active: 'b', reveal: true })
    activateChild('L', '/', '/a')
    assert.equal(lastVisit('L', '/')?.active, 'a')
  })

  it('gives the focus to the list of the opened folder, once', () => {
    focusWhenOpened('L', '/a')
    assert.equal(takeFocus('L', '/b'), false)
    assert.equal(takeFocus('L', '/a'), true)
    assert.equal(takeFocus('L', '/a'), false)
  })

  it('is evicted after 200 other folders', () => {
    leave('L', '/first', { scrollTop: 1, active: undefined })
    for (let n = 0; n < 200; n += 1) leave('L', `/${n}`, { scrollTop: 0, active: undefined })
    assert.equal(lastVisit('L', '/first'), undefined)
    assert.ok(lastVisit('L', '/199'))
  })
})

describe('stored preferences', () => {
  const defaults = {
    view: 'list',
    density: 'regular',
    sorting: { key: 'name', descending: false },
    details: false,
    folderSizes: false,
  }

  it('are read back', () => {
    const chosen = {
      view: 'grid',
      density: 'compact',
      sorting: { key: 'size', descending: true },
      details: true,
      folderSizes: true,
    }
    assert.deepEqual(parsePreferences(JSON.stringify(chosen)), chosen)
  })

  it('become defaults where they are missing or not understood', () => {
    for (const stored of [null, '', '{', 'null', '7', '[]', '{"view":7,"sorting":null,"details":"yes"}']) {
      assert.deepEqual(parsePreferences(stored), defaults, String(stored))
    }
    assert.deepEqual(parsePreferences('{"sorting":{"key":"toString","descending":1}}'), defaults)
  })
})

describe('the description of a commit', () => {
  it('is a sentence for each line', () => {
    assert.deepEqual(describeCommit('Added "a.txt"'), [{ sentence: 'added', name: 'a.txt' }])
    assert.deepEqual(describeCommit('Added or modified "a "b".txt" and 3 more files.\n\nDeleted "c"'), [
      { sentence: 'changed', name: 'a "b".txt', more: 3 },
      { sentence: 'deleted', name: 'c' },
    ])
    assert.deepEqual(describeCommit('Reverted file "a" to status at 2026-01-01 00:00:00.'), [
      { sentence: 'restored', name: 'a' },
    ])
  })

  it('is shown as it is where it is unknown', () => {
    assert.deepEqual(describeCommit('Initial import'), [{ sentence: 'other', name: 'Initial import' }])
    assert.deepEqual(describeCommit(' \n'), [{ sentence: 'changedLibrary' }])
    assert.deepEqual(describeCommit('Created library'), [{ sentence: 'createdLibrary' }])
  })
})
