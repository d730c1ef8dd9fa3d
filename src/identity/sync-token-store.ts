import type { Reader, Transaction } from '../database/database.ts'

/** What a sync token opens, and for whom. */
export interface SyncGrant {
  readonly libraryKey: number
  /** Of the sub-library it was issued for: it opens nothing else. */
  readonly subKey?: number | undefined
  readonly accountKey: number
}

export async function insertSyncToken(
  tx: Transaction,
  hash: Uint8Array,
  { libraryKey, subKey, accountKey }: SyncGrant,
  now: number,
): Promise<void> {
  const columns = ['hash', 'library_key', 'sub_key', 'account_key', 'created_at']
  await tx.insert('sync_token', columns, [[hash, libraryKey, subKey ?? null, accountKey, now]])
}

/** Accounts that are not active open nothing. */
export async function findSyncGrant(reader: Reader, hash: Uint8Array): Promise<SyncGrant | undefined> {
  const row = await reader.get<{ library_key: number; sub_key: number | null; account_key: number }>(
    `select sync_token.library_key, sync_token.sub_key, sync_token.account_key
     from sync_token join account on account.key = sync_token.account_key
     where sync_token.hash = ? and account.active = 1`,
    hash,
  )
  if (row === undefined) return undefined
  const grant = { libraryKey: row.library_key, accountKey: row.account_key }
  return row.sub_key === null ? grant : { ...grant, subKey: row.sub_key }
}

export async function deleteSyncTokensOfAccount(tx: Transaction, accountKey: number): Promise<void> {
  await tx.run('delete from sync_token where account_key = ?', accountKey)
}

export async function deleteSyncTokensOfLibrary(tx: Transaction, libraryKey: number): Promise<void> {
  await tx.run('delete from sync_token where library_key = ?', libraryKey)
}

export async function deleteSyncTokens(
  tx: Transaction,
  { libraryKey, accountKey }: Pick<SyncGrant, 'libraryKey' | 'accountKey'>,
): Promise<void> {
  await tx.run('delete from sync_token where library_key = ? and account_key = ?', libraryKey, accountKey)
}
