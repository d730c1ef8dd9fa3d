import type { Transaction } from '../../platform/database/index.ts'

/** The origin of a sign-in link. */
interface SignInLink {
  readonly accountKey: number
  /** The epoch of the account when it was issued. */
  readonly epoch: number
  /** The API token that requested it. */
  readonly apiTokenKey: number
}

export async function insertSignInLink(
  tx: Transaction,
  hash: Uint8Array,
  { accountKey, epoch, apiTokenKey }: SignInLink,
  expiresAt: number,
): Promise<void> {
  const columns = ['hash', 'account_key', 'epoch', 'api_token_key', 'expires_at']
  await tx.insert('sign_in_link', columns, [[hash, accountKey, epoch, apiTokenKey, expiresAt]])
}

/** Deletes and returns it, so that of two concurrent uses one gets nothing. Undefined for an unknown or expired one. */
export async function consumeSignInLink(
  tx: Transaction,
  hash: Uint8Array,
  now: number,
): Promise<SignInLink | undefined> {
  const row = await tx.get<{ account_key: number; epoch: number; api_token_key: number; expires_at: number }>(
    'delete from sign_in_link where hash = ? returning account_key, epoch, api_token_key, expires_at',
    hash,
  )
  if (row === undefined || row.expires_at <= now) return undefined
  return { accountKey: row.account_key, epoch: row.epoch, apiTokenKey: row.api_token_key }
}

export async function deleteSignInLinksOf(tx: Transaction, accountKey: number): Promise<void> {
  await tx.run('delete from sign_in_link where account_key = ?', accountKey)
}

export function deleteExpiredSignInLinks(tx: Transaction, now: number): Promise<number> {
  return tx.run('delete from sign_in_link where expires_at <= ?', now)
}
