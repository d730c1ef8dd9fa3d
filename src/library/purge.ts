import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Transaction } from '../database/index.ts'
import type { LibraryCore } from './core.ts'

const ROWS_A_STEP = 1000

/** The tables that hold most rows of a library, and what tells their rows apart. */
const LARGE = [
  ['fs_object', 'id'],
  ['received_object', 'id'],
  ['uncommitted_block', 'block_id'],
  ['library_block', 'block_id'],
  ['trash_item', 'path_key'],
  ['first_seen', 'path_key'],
  ['path_origin', 'path_key'],
  ['file_edit', 'path_key'],
  ['activity', 'key'],
  ['commit_object', 'id'],
] as const

/**
 * Takes a deleted library out of the database, in steps small enough to let others write in between.
 * Interrupted, it leaves a deleted library that can only be purged again. One that was restored
 * meanwhile is left alone.
 */
export async function purge(
  core: LibraryCore,
  libraryKey: number,
  also?: (tx: Transaction) => Promise<void>,
): Promise<void> {
  // Beyond this point it cannot be restored: part of it is gone.
  const claim = 'update library set deleted_at = 0 where key = ? and deleted_at is not null'
  const claimed = await core.db.write(async (tx) => {
    if ((await tx.run(claim, libraryKey)) === 0) return false
    await also?.(tx)
    return true
  })
  if (!claimed) return
  for (const [table, column] of LARGE) {
    const sql = `delete from ${table} where library_key = ? and ${column} in
      (select ${column} from ${table} where library_key = ? limit ${ROWS_A_STEP})`
    while ((await core.db.write((tx) => tx.run(sql, libraryKey, libraryKey), { durable: false })) > 0) {
      await nextTurn()
    }
  }
  await core.db.write((tx) => tx.run('delete from library where key = ?', libraryKey))
  core.events.purged(libraryKey)
}
