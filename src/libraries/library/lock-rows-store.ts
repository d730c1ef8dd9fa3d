import { inGroups, type Transaction } from '../../platform/database/index.ts'
import { type PathBinding, tableBinding } from '../registry/index.ts'

/** The locks of libraries and accounts that are deleted. */
export const lockRows = {
  async onDeleted(tx: Transaction, libraryKeys: readonly number[]): Promise<void> {
    for (const { some, marks } of inGroups(libraryKeys)) {
      await tx.run(`delete from file_lock where library_key in (${marks})`, ...some)
    }
  },
  async onPurged(tx: Transaction, libraryKey: number): Promise<void> {
    await tx.run('delete from file_lock where library_key = ?', libraryKey)
  },
  async deleteOfAccount(tx: Transaction, accountKey: number): Promise<void> {
    await tx.run('delete from file_lock where account_key = ?', accountKey)
  },
}

/** Locks follow the item at their path. */
export const lockBinding: PathBinding = tableBinding('file_lock', { rows: 'locks', endsWithItem: true })
