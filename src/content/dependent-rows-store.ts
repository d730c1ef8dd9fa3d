import { deleteBatch, type Transaction } from '../database/index.ts'

/** Deletes the block references of a purged library. Garbage collection frees blocks that no other library holds. */
export const blockRows = {
  purgeBatch: (tx: Transaction, libraryKey: number, limit: number) =>
    deleteBatch(tx, 'library_block', 'block_id', libraryKey, limit),
}
