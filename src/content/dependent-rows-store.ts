import { deleteBatch, type Transaction } from '../database/index.ts'

/** The blocks that a purged library holds. Garbage collection frees those that no other library holds. */
export const blockRows = {
  purgeBatch: (tx: Transaction, libraryKey: number, limit: number) =>
    deleteBatch(tx, 'library_block', 'block_id', libraryKey, limit),
}
