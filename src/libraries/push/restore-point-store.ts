import { type CommitId, idFromBytes, idToBytes } from '../../base/objects/index.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'

/** Records the head of a library that was just restored from a backup. */
export async function insertRestorePoint(
  tx: Transaction,
  libraryKey: number,
  head: CommitId,
  now: number,
): Promise<void> {
  await tx.run('delete from restore_point where library_key = ?', libraryKey)
  await tx.insert(
    'restore_point',
    ['library_key', 'head', 'restored_at'],
    [[libraryKey, idToBytes(head), now]],
  )
}

/** The head of a library when it was last restored; undefined if it never was. */
export async function findRestorePoint(reader: Reader, libraryKey: number): Promise<CommitId | undefined> {
  const row = await reader.get<{ head: Uint8Array }>(
    'select head from restore_point where library_key = ?',
    libraryKey,
  )
  return row && idFromBytes<CommitId>(row.head)
}
