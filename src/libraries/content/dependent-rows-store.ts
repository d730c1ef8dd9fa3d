import { deleteBatch, deleteBatches, type Transaction } from '../../platform/database/index.ts'

/** Deletes the block references of a purged library. Garbage collection frees blocks that no other library holds. */
export const blockRows = {
  purgeBatch: (tx: Transaction, libraryKey: number, limit: number) =>
    deleteBatches(limit, [
      (left) => deleteBatch(tx, 'condemned_reference', 'block_id', libraryKey, left),
      (left) => deleteBatch(tx, 'library_block', 'block_id', libraryKey, left),
    ]),
}
