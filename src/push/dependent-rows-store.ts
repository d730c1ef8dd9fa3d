import type { LibraryDependent } from '../commits/index.ts'
import { deleteBatch, deleteBatches } from '../database/index.ts'

/** Uncommitted blocks and received objects of a purged library. */
export const receivedRows: LibraryDependent = {
  purgeBatch: (tx, libraryKey, limit) =>
    deleteBatches(limit, [
      (left) => deleteBatch(tx, 'received_object', 'id', libraryKey, left),
      (left) => deleteBatch(tx, 'uncommitted_block', 'block_id', libraryKey, left),
    ]),
}
