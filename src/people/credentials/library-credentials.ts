import { inGroups, type Transaction } from '../../platform/database/index.ts'
import { accountRows } from '../accounts/index.ts'
import { deleteLibraryTokens, deleteScopedTokensFor } from './scoped-token-store.ts'
import { deleteSyncTokensFor, deleteSyncTokensOfAccountFor } from './sync-token-store.ts'

/**
 * Revokes the credentials for libraries that are deleted, transferred or purged, in the transaction of that
 * change.
 */
export const libraryCredentials = {
  async onDeleted(tx: Transaction, libraryKeys: readonly number[]): Promise<void> {
    for (const { some } of inGroups(libraryKeys)) {
      await deleteSyncTokensFor(tx, some)
      await deleteLibraryTokens(tx, some)
    }
  },
  async onTransferred(
    tx: Transaction,
    { libraryKeys, from }: { readonly libraryKeys: readonly number[]; readonly from: number },
  ): Promise<void> {
    for (const { some } of inGroups(libraryKeys)) {
      await deleteSyncTokensOfAccountFor(tx, from, some)
      await deleteLibraryTokens(tx, some)
      await accountRows.releaseDefaultLibrary(tx, from, some)
    }
  },
  async onPurged(tx: Transaction, libraryKey: number): Promise<void> {
    await deleteSyncTokensFor(tx, [libraryKey])
    await deleteScopedTokensFor(tx, libraryKey)
  },
}
