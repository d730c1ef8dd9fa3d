import { EMPTY_ID, idToBytes, type LibraryId, newLibraryId } from '../../base/objects/index.ts'
import type { Transaction, Value } from '../../platform/database/index.ts'

/** The part of a restored library that makes its content visible. */
interface RestoredContent {
  readonly name: string
  readonly head: Uint8Array
  readonly headSeq: number
  readonly root: Uint8Array
  readonly size: number
  readonly fileCount: number
}

/**
 * Inserts the row of a library from a backup, as a deleted and empty one, so that nobody sees it before its content is complete. Returns its key;
 * undefined if the id is taken.
 */
async function insertRestoredLibrary(
  tx: Transaction,
  row: Readonly<Record<string, Value>>,
  now: number,
): Promise<number | undefined> {
  // Without commits, so that nothing relies on rows that are still to come.
  const hidden = { ...row, head_seq: 0, root: idToBytes(EMPTY_ID), size: 0, file_count: 0, deleted_at: now }
  const columns = Object.keys(hidden)
  const inserted = await tx.get<{ key: number }>(
    `insert into library (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})
     on conflict (id) do nothing returning key`,
    ...Object.values(hidden),
  )
  return inserted?.key
}

/**
 * Gives up restores of a library that were interrupted, whether under its own id or beside it: the id is free again, and what there is of them
 * is purged like any library whose purge was interrupted. A restore that is still running fails at its end.
 */
async function abandonRestores(
  tx: Transaction,
  { id, head }: { readonly id: LibraryId; readonly head: Uint8Array },
): Promise<void> {
  const unfinished = await tx.all<{ key: number }>(
    'select key from library where (id = ? or head = ?) and head_seq = 0 and deleted_at > 0',
    id,
    head,
  )
  for (const { key } of unfinished) {
    await tx.run('update library set id = ?, deleted_at = 0 where key = ?', newLibraryId(), key)
  }
}

/** Shows a restored library once all its objects and blocks are stored (I1). False if it was purged meanwhile. */
async function publishRestoredLibrary(
  tx: Transaction,
  key: number,
  { name, head, headSeq, root, size, fileCount }: RestoredContent,
): Promise<boolean> {
  const published = await tx.run(
    `update library set name = ?, head = ?, head_seq = ?, root = ?, size = ?, file_count = ?, deleted_at = null
     where key = ? and deleted_at > 0 and head_seq = 0`,
    name,
    head,
    headSeq,
    root,
    size,
    fileCount,
    key,
  )
  return published === 1
}

/** Libraries that are being restored from a backup. */
export const restoredLibraries = {
  insert: insertRestoredLibrary,
  abandon: abandonRestores,
  publish: publishRestoredLibrary,
}
