import type { Reader, Transaction } from '../../platform/database/index.ts'

/** What a token in a mail permits. */
export type TokenPurpose = 'invitation' | 'password-reset' | 'contact'

/** A token that was sent by mail. The token itself is not stored. */
interface AccountToken {
  readonly accountKey: number
  readonly purpose: TokenPurpose
  /** The address to be verified; '' for other purposes. */
  readonly address: string
  readonly expiresAt: number
}

interface TokenRow {
  account_key: number
  purpose: TokenPurpose
  address: string
  expires_at: number
}

/** Replaces earlier tokens of the same purpose. */
export async function replaceAccountToken(
  tx: Transaction,
  hash: Uint8Array,
  { accountKey, purpose, address, expiresAt }: AccountToken,
  now: number,
): Promise<void> {
  await tx.run('delete from account_token where account_key = ? and purpose = ?', accountKey, purpose)
  await tx.run(
    'insert into account_token (hash, account_key, purpose, address, created_at, expires_at) values (?, ?, ?, ?, ?, ?)',
    hash,
    accountKey,
    purpose,
    address,
    now,
    expiresAt,
  )
}

export async function findAccountToken(
  reader: Reader,
  hash: Uint8Array,
  now: number,
): Promise<AccountToken | undefined> {
  const row = await reader.get<TokenRow>(
    'select account_key, purpose, address, expires_at from account_token where hash = ? and expires_at > ?',
    hash,
    now,
  )
  return (
    row && {
      accountKey: row.account_key,
      purpose: row.purpose,
      address: row.address,
      expiresAt: row.expires_at,
    }
  )
}

/** Uses a token up. False if it was used, replaced or has expired. */
export async function consumeAccountToken(tx: Transaction, hash: Uint8Array, now: number): Promise<boolean> {
  return (await tx.run('delete from account_token where hash = ? and expires_at > ?', hash, now)) === 1
}

export async function deleteAccountTokens(tx: Transaction, accountKey: number): Promise<void> {
  await tx.run('delete from account_token where account_key = ?', accountKey)
}

/** Those that set a password, which were sent to an address that changed. */
export async function deletePasswordTokens(tx: Transaction, accountKey: number): Promise<void> {
  await tx.run("delete from account_token where account_key = ? and purpose <> 'contact'", accountKey)
}

export function deleteExpiredAccountTokens(tx: Transaction, now: number): Promise<number> {
  return tx.run('delete from account_token where expires_at <= ?', now)
}
