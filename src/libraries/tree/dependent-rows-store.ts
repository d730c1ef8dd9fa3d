import { deleteBatch, deleteBatches, type Transaction } from '../../platform/database/index.ts'

/** Deletes the objects of a purged library. */
export const objectRows = {
  purgeBatch: (tx: Transaction, libraryKey: number, limit: number) =>
    deleteBatches(limit, [
      (left) => deleteBatch(tx, 'condemned_object', 'id', libraryKey, left),
      (left) => deleteBatch(tx, 'fs_object', 'id', libraryKey, left),
    ]),
}
