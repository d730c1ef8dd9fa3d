import type { Reader, Transaction } from '../../platform/database/index.ts'
import type { Account } from '../accounts/index.ts'

/** The secret of an authenticator app. Times are Unix seconds. */
interface TotpSecret {
  /** Encrypted under the secret of the server, bound to the key of the account. */
  readonly sealed: Uint8Array
  readonly createdAt: number
  readonly lastUsedAt: number | undefined
}

/** A device that signs in without a code. Times are Unix seconds. */
export interface TrustedDevice {
  readonly key: number
  /** The address and user agent of its last sign-in. */
  readonly address: string
  readonly userAgent: string
  readonly createdAt: number
  readonly lastUsedAt: number
  readonly expiresAt: number
}

export async function findTotp(reader: Reader, accountKey: number): Promise<TotpSecret | undefined> {
  const row = await reader.get<{ sealed: Uint8Array; created_at: number; last_used_at: number | null }>(
    'select sealed, created_at, last_used_at from totp_secret where account_key = ?',
    accountKey,
  )
  return row && { sealed: row.sealed, createdAt: row.created_at, lastUsedAt: row.last_used_at ?? undefined }
}

/** Replaces an earlier one. `step` is the time step of the code that proved it. */
export async function putTotp(
  tx: Transaction,
  accountKey: number,
  { sealed, step, now }: { readonly sealed: Uint8Array; readonly step: number; readonly now: number },
): Promise<void> {
  await tx.run('delete from totp_secret where account_key = ?', accountKey)
  const columns = ['account_key', 'sealed', 'last_step', 'created_at']
  await tx.insert('totp_secret', columns, [[accountKey, sealed, step, now]])
}

/** Uses up the code of a time step, and of all steps before. False if it was used up already. */
export async function useTotpStep(
  tx: Transaction,
  accountKey: number,
  step: number,
  now: number,
): Promise<boolean> {
  const sql = 'update totp_secret set last_step = ?, last_used_at = ? where account_key = ? and last_step < ?'
  return (await tx.run(sql, step, now, accountKey, step)) === 1
}

export async function listTotp(reader: Reader): Promise<{ accountKey: number; sealed: Uint8Array }[]> {
  return reader.all('select account_key as "accountKey", sealed from totp_secret')
}

export async function setSealedTotp(tx: Transaction, accountKey: number, sealed: Uint8Array): Promise<void> {
  await tx.run('update totp_secret set sealed = ? where account_key = ?', sealed, accountKey)
}

export async function replaceRecoveryCodes(
  tx: Transaction,
  accountKey: number,
  hashes: readonly Uint8Array[],
): Promise<void> {
  await tx.run('delete from recovery_code where account_key = ?', accountKey)
  const rows = hashes.map((hash) => [accountKey, hash])
  await tx.insert('recovery_code', ['account_key', 'hash'], rows)
}

/** Uses a recovery code up. False if there is none, or it was used. */
export async function useRecoveryCode(
  tx: Transaction,
  accountKey: number,
  hash: Uint8Array,
): Promise<boolean> {
  return (
    (await tx.run('delete from recovery_code where account_key = ? and hash = ?', accountKey, hash)) === 1
  )
}

export async function countRecoveryCodes(reader: Reader, accountKey: number): Promise<number> {
  const sql = 'select count(*) as count from recovery_code where account_key = ?'
  return (await reader.get<{ count: number }>(sql, accountKey))?.count ?? 0
}

/** Beyond `most` of an account, those that were not used for the longest time end. */
export async function insertTrustedDevice(
  tx: Transaction,
  { key: accountKey, epoch }: Pick<Account, 'key' | 'epoch'>,
  device: Omit<TrustedDevice, 'key' | 'lastUsedAt'> & { readonly hash: Uint8Array },
  most: number,
): Promise<void> {
  const { hash, address, userAgent, createdAt, expiresAt } = device
  await tx.insert(
    'trusted_device',
    ['account_key', 'hash', 'epoch', 'address', 'user_agent', 'created_at', 'last_used_at', 'expires_at'],
    [[accountKey, hash, epoch, address, userAgent, createdAt, createdAt, expiresAt]],
  )
  await tx.run(
    `delete from trusted_device where account_key = ? and key not in
       (select key from trusted_device where account_key = ? order by last_used_at desc, key desc limit ?)`,
    accountKey,
    accountKey,
    most,
  )
}

/** Records a sign-in of a trusted device of the account. False if the token is of another account, or of a time before it signed out everywhere. */
export async function useTrustedDevice(
  tx: Transaction,
  { key: accountKey, epoch }: Pick<Account, 'key' | 'epoch'>,
  { hash, address, userAgent }: { readonly hash: Uint8Array; address: string; userAgent: string },
  now: number,
): Promise<boolean> {
  const sql = `update trusted_device set last_used_at = ?, address = ?, user_agent = ?
    where hash = ? and account_key = ? and epoch = ? and expires_at > ?`
  return (await tx.run(sql, now, address, userAgent, hash, accountKey, epoch, now)) === 1
}

/** Most recently used first. */
export async function listTrustedDevices(
  reader: Reader,
  { key: accountKey, epoch }: Pick<Account, 'key' | 'epoch'>,
  now: number,
): Promise<TrustedDevice[]> {
  return reader.all(
    `select key, address, user_agent as "userAgent", created_at as "createdAt", last_used_at as "lastUsedAt",
       expires_at as "expiresAt"
     from trusted_device where account_key = ? and epoch = ? and expires_at > ? order by last_used_at desc, key desc`,
    accountKey,
    epoch,
    now,
  )
}

/** False if the account has no such device. */
export async function deleteTrustedDevice(
  tx: Transaction,
  accountKey: number,
  key: number,
): Promise<boolean> {
  return (await tx.run('delete from trusted_device where account_key = ? and key = ?', accountKey, key)) === 1
}

export async function deleteTrustedDevices(tx: Transaction, accountKey: number): Promise<void> {
  await tx.run('delete from trusted_device where account_key = ?', accountKey)
}

export function deleteExpiredTrustedDevices(tx: Transaction, now: number): Promise<number> {
  return tx.run('delete from trusted_device where expires_at <= ?', now)
}

/** All factors of an account, and the devices that may do without. */
export async function deleteSecondFactors(tx: Transaction, accountKey: number): Promise<void> {
  await tx.run('delete from totp_secret where account_key = ?', accountKey)
  await tx.run('delete from recovery_code where account_key = ?', accountKey)
  await deleteTrustedDevices(tx, accountKey)
}

/** For the removal of accounts, and for signing out everywhere. */
export const secondFactorRows = {
  deleteOfAccount: deleteSecondFactors,
  deleteTrustedDevices,
}
