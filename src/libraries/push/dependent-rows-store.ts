import { deleteBatch, deleteBatches } from '../../platform/database/index.ts'
import type { LibraryDependent } from '../registry/index.ts'

/** Uncommitted blocks, received objects and the restore point of a purged library. */
export const receivedRows: LibraryDependent = {
  purgeBatch: (tx, libraryKey, limit) =>
    deleteBatches(limit, [
      (left) => deleteBatch(tx, 'received_object', 'id', libraryKey, left),
      (left) => deleteBatch(tx, 'uncommitted_block', 'block_id', libraryKey, left),
    ]),
  async onPurged(tx, libraryKey) {
    await tx.run('delete from restore_point where library_key = ?', libraryKey)
  },
}
