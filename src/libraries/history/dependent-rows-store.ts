import { deleteBatch, deleteBatches } from '../../platform/database/index.ts'
import type { LibraryDependent } from '../registry/index.ts'

/** Deletes the trash and file history of a purged library. */
export const historyRows: LibraryDependent = {
  purgeBatch: (tx, libraryKey, limit) =>
    deleteBatches(limit, [
      (left) => deleteBatch(tx, 'trash_item', 'path_key', libraryKey, left),
      (left) => deleteBatch(tx, 'first_seen', 'path_key', libraryKey, left),
      (left) => deleteBatch(tx, 'path_origin', 'path_key', libraryKey, left),
      (left) => deleteBatch(tx, 'file_edit', 'path_key', libraryKey, left),
    ]),
  async onPurged(tx, libraryKey) {
    await tx.run('delete from trash_item where library_key = ?', libraryKey)
    await tx.run('delete from first_seen where library_key = ?', libraryKey)
    await tx.run('delete from path_origin where library_key = ?', libraryKey)
    await tx.run('delete from file_edit where library_key = ?', libraryKey)
  },
}
