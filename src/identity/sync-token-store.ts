import type { Reader, Transaction } from '../database/database.ts'

/** What a sync token opens, and for whom. */
export interface SyncGrant {
  readonly libraryKey: number
  readonly accountKey: number
}

export async function insertSyncToken(
  tx: Transaction,
  hash: Uint8Array,
  { libraryKey, accountKey }: SyncGrant,
  now: number,
): Promise<void> {
  const columns = ['hash', 'library_key', 'account_key', 'created_at']
  await tx.insert('sync_token', columns, [[hash, libraryKey, accountKey, now]])
}

/** Accounts that are not active open nothing. */
export async function findSyncGrant(reader: Reader, hash: Uint8Array): Promise<SyncGrant | undefined> {
  const row = await reader.get<{ library_key: number; account_key: number }>(
    `select sync_token.library_key, sync_token.account_key
     from sync_token join account on account.key = sync_token.account_key
     where sync_token.hash = ? and account.active = 1`,
    hash,
  )
  return row && { libraryKey: row.library_key, accountKey: row.account_key }
}

export async function deleteSyncTokensOfAccount(tx: Transaction, accountKey: number): Promise<void> {
  await tx.run('delete from sync_token where account_key = ?', accountKey)
}

export async function deleteSyncTokensOfLibrary(tx: Transaction, libraryKey: number): Promise<void> {
  await tx.run('delete from sync_token where library_key = ?', libraryKey)
}

export async function deleteSyncTokens(
  tx: Transaction,
  { libraryKey, accountKey }: SyncGrant,
): Promise<void> {
  await tx.run('delete from sync_token where library_key = ? and account_key = ?', libraryKey, accountKey)
}
