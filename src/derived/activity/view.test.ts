import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LibraryId } from '../../base/objects/ids.ts'
import type { LibraryPath } from '../../base/paths/paths.ts'
import { permitted, type Readable } from '../../sharing/access/readable.ts'
import type { Activity } from './activity-row.ts'
import { seenThrough, viewsOf } from './view.ts'

function readable(id: string, libraryKey: number, base = '/'): Readable {
  return permitted({
    id: id as LibraryId,
    name: `name of ${id}`,
    ownerKey: 1,
    encrypted: false,
    permission: 'r',
    via: 'shared',
    libraryKey,
    base: base as LibraryPath,
    isFile: false,
  })
}

function activity(op: Activity['op'], path: string, oldPath?: string): Activity {
  return {
    op,
    object: 'file',
    path: path as LibraryPath,
    oldPath: oldPath as LibraryPath | undefined,
    oldName: undefined,
    author: 'ann@example.org',
    at: 1,
    commitId: undefined,
    days: undefined,
  }
}

describe('the views an account has of libraries', () => {
  it('are the outermost of what it may read, each once', () => {
    const views = viewsOf([
      readable('inner', 1, '/a/b'),
      readable('group', 2),
      readable('folder', 1, '/a'),
      readable('other', 1, '/ab'),
      readable('mine', 2),
      readable('part', 2, '/x'),
    ])
    const ids = [...views].map(([key, list]) => [key, list.map(({ id }) => id)])
    assert.deepEqual(
      new Map(ids as [number, string[]][]),
      new Map([
        [2, ['group']],
        [1, ['folder', 'other']],
      ]),
    )
  })
})

describe('what is seen through a folder', () => {
  const folder = readable('folder', 1, '/a')
  const views = [
    { readable: folder, base: folder.base, commits: { from: 5, to: 9 } },
    { readable: folder, base: '/earlier' as LibraryPath, commits: { from: 2, to: 3 } },
  ]
  const seen = (one: Activity, seq: number | undefined = 5) => {
    const item = seenThrough(views, { ...one, seq })
    return item && [item.op, item.path, item.oldPath, item.libraryId, item.libraryName]
  }
  const through = ['folder', 'name of folder']

  it('has paths from that folder on', () => {
    assert.deepEqual(seen(activity('edit', '/a/b/c')), ['edit', '/b/c', undefined, ...through])
    assert.deepEqual(seen(activity('move', '/a/x', '/a/b/x')), ['move', '/x', '/b/x', ...through])
  })

  it('is what happened while the folder was at that path', () => {
    for (const seq of [1, 2, 3, 4, 10, undefined]) {
      assert.equal(seen({ ...activity('edit', '/a/b') }, seq ?? -1), undefined, String(seq))
    }
    assert.deepEqual(seen(activity('edit', '/a/b'), 9), ['edit', '/b', undefined, ...through])
    assert.deepEqual(seen(activity('edit', '/earlier/b'), 2), ['edit', '/b', undefined, ...through])
    assert.equal(seen(activity('edit', '/earlier/b'), 5), undefined)
  })

  it('is nothing of what is elsewhere, above it, or it itself', () => {
    for (const path of ['/', '/a', '/ab', '/b/a/c', '/A/b']) {
      assert.equal(seen(activity('edit', path)), undefined, path)
    }
    assert.equal(seen(activity('rename', '/a', '/before')), undefined)
  })

  it('is a coming or a going where something crosses its border, without a word of the other side', () => {
    assert.deepEqual(seen(activity('move', '/a/x', '/secret/x')), ['create', '/x', undefined, ...through])
    assert.deepEqual(seen(activity('move', '/secret/x', '/a/x')), ['delete', '/x', undefined, ...through])
  })
})
