import assert from 'node:assert/strict'
import { it } from 'node:test'
import { at, openTestCore } from '../../../test/support/core.ts'
import { onBothDatabases } from '../../../test/support/databases.ts'
import { activityRows } from '../../derived/activity/activity-store.ts'
import { photoRows } from '../../derived/photos/photo-store.ts'
import { makeFolder } from '../edits/entries.ts'
import { historyRows } from '../history/dependent-rows-store.ts'
import { deletedLibraries } from '../registry/deleted-library-store.ts'
import type { LibraryDependent } from '../registry/dependents.ts'
import { storesOf } from './for-server.ts'
import { purge } from './library-trash.ts'

const TABLES = ['activity', 'file_edit', 'first_seen', 'follower', 'path_origin', 'photo', 'trash_item']

onBothDatabases('a purged library', (fresh) => {
  it('leaves no derived rows, also of steps that ran while it was purged', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using test = await openTestCore(database)
    const made = await test.newLibrary(await test.actor())
    await makeFolder(made, at('/a'))
    const { info } = await test.reopen(made)
    // As if a step had written its rows after the batches.
    for (const rows of [activityRows, historyRows, photoRows] as Required<LibraryDependent>[])
      t.mock.method(rows, 'purgeBatch', async () => 0)
    await storesOf(test.core).pathIndex.catchUp(info)
    await test.db.write(async (tx) => {
      await tx.insert('photo', PHOTO, [[info.key, '/', 'a.jpg', Buffer.alloc(20), 0, 1, 1, 1, 0, 1]])
      await tx.insert('activity', ACTIVITY, [[info.key, 1, 1, 2, 'create', 'dir', '/a', 'ann']])
      await deletedLibraries.mark(tx, info.key, 1)
    })
    await purge(test.core, info, undefined)
    for (const table of TABLES)
      assert.deepEqual(await test.db.all(`select * from ${table} where library_key = ?`, info.key), [], table)
  })
})

const PHOTO = ['library_key', 'parent', 'name', 'file_id', 'kind', 'size', 'mtime', 'taken_at', 'day', 'seq']
const ACTIVITY = ['library_key', 'seq', 'at', 'rank', 'op', 'object', 'path', 'author']
