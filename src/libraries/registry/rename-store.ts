import type { Reader, Transaction } from '../../platform/database/index.ts'
import type { LibraryInfo } from './library-info.ts'

/** Stores the former name of a library under the number of the commit that renames it. */
async function insertRename(
  tx: Transaction,
  before: Pick<LibraryInfo, 'key' | 'headSeq' | 'name'>,
  newName: string,
): Promise<void> {
  const columns = ['library_key', 'seq', 'old_name', 'new_name']
  await tx.insert('library_rename', columns, [[before.key, before.headSeq + 1, before.name, newName]])
}

/** Renames of a library in a range of commit numbers. */
async function listRenames(
  reader: Reader,
  libraryKey: number,
  from: number,
  to: number,
): Promise<Map<number, { oldName: string; newName: string }>> {
  const rows = await reader.all<{ seq: number; old_name: string; new_name: string }>(
    'select seq, old_name, new_name from library_rename where library_key = ? and seq between ? and ?',
    libraryKey,
    from,
    to,
  )
  return new Map(rows.map((row) => [row.seq, { oldName: row.old_name, newName: row.new_name }]))
}

/** Deletes former names of a library from before a commit. */
async function deleteRenamesBelow(tx: Transaction, libraryKey: number, seq: number): Promise<number> {
  return tx.run('delete from library_rename where library_key = ? and seq < ?', libraryKey, seq)
}

/** Former names of libraries. */
export const libraryRenames = {
  insert: insertRename,
  list: listRenames,
  deleteBelow: deleteRenamesBelow,
  async onPurged(tx: Transaction, libraryKey: number): Promise<void> {
    await tx.run('delete from library_rename where library_key = ?', libraryKey)
  },
}
