import { deleteBatch, type Transaction } from '../database/index.ts'

/** Deletes the objects of a purged library. */
export const objectRows = {
  purgeBatch: (tx: Transaction, libraryKey: number, limit: number) =>
    deleteBatch(tx, 'fs_object', 'id', libraryKey, limit),
}
