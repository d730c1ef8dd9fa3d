import { deleteBatch, type Transaction } from '../database/index.ts'

/** The objects of a library that is purged. */
export const objectRows = {
  purgeBatch: (tx: Transaction, libraryKey: number, limit: number) =>
    deleteBatch(tx, 'fs_object', 'id', libraryKey, limit),
}
