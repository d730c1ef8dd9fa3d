import type { Transaction } from '../../platform/database/index.ts'

/** A change of owner. */
export interface LibraryTransfer {
  readonly libraryKeys: readonly number[]
  /** Key of the previous owner. */
  readonly from: number
  /** Key of the new owner. */
  readonly to: number
  /**
   * `drop` ends the shares except those with everyone; `regrant` keeps them as grants of the new owner; `keep` leaves
   * them as they are. The new owner never has a share.
   */
  readonly shares: 'drop' | 'regrant' | 'keep'
}

/**
 * A module with rows that refer to libraries. Its methods run in the transaction of the deletion, transfer or purge, and
 * change rows of its own tables only.
 */
export interface LibraryDependent {
  /** The libraries were moved to the trash. Every grant and credential for them ends. */
  onDeleted?(tx: Transaction, libraryKeys: readonly number[]): Promise<void>
  onTransferred?(tx: Transaction, transfer: LibraryTransfer): Promise<void>
  /**
   * Removes up to `limit` rows of a purged library, for tables with many rows per library. Called in transactions of its
   * own until it resolves to 0, so that other writers can run in between.
   */
  purgeBatch?(tx: Transaction, libraryKey: number, limit: number): Promise<number>
  /** Removes all remaining rows of a library, in the transaction that removes the library itself. */
  onPurged?(tx: Transaction, libraryKey: number): Promise<void>
}
