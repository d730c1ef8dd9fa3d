import { type MaybePromise, whenReady } from '../../base/scheduling/index.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'
import type { CredentialOrigin } from './credential-origin.ts'

/** The library a sync token gives access to, and the token's origin. */
export interface SyncGrant {
  readonly libraryKey: number
  /** The epoch of the library when it was issued. */
  readonly libraryEpoch: number
  /** The sub-library it was issued for. It opens nothing else. */
  readonly subKey: number | undefined
  readonly origin: CredentialOrigin
}

export async function insertSyncToken(
  tx: Transaction,
  hash: Uint8Array,
  { libraryKey, libraryEpoch, subKey, origin }: SyncTokenValues,
  now: number,
): Promise<void> {
  const { accountKey, epoch, apiTokenKey } = origin
  const columns = ['hash', 'library_key', 'library_epoch', 'sub_key', 'account_key', 'epoch', 'api_token_key']
  const row = [hash, libraryKey, libraryEpoch, subKey ?? null, accountKey, epoch, apiTokenKey ?? null]
  await tx.insert('sync_token', [...columns, 'created_at'], [[...row, now]])
}

/** Deletes the least recently used tokens of an account for a library, except this one and the newest of the others. */
export async function evictSyncTokens(
  tx: Transaction,
  hash: Uint8Array,
  { libraryKey, accountKey }: { readonly libraryKey: number; readonly accountKey: number },
  others: number,
): Promise<void> {
  await tx.run(
    `delete from sync_token where hash in (
       select hash from sync_token where account_key = ? and library_key = ? and hash <> ?
       order by coalesce(last_used_at, created_at) desc limit 1000 offset ?)`,
    accountKey,
    libraryKey,
    hash,
    others,
  )
}

type SyncTokenValues = SyncGrant & { readonly origin: { readonly epoch: number } }

/** An issued token, regardless of whether its origin is still valid. */
export function findSyncGrant(reader: Reader, hash: Uint8Array): MaybePromise<SyncGrant | undefined> {
  return whenReady(reader.get<GrantRow>(grantByHash, hash), (row) => row && grantFromRow(row))
}

const grantByHash =
  'select library_key, library_epoch, sub_key, account_key, epoch, api_token_key from sync_token where hash = ?'

interface GrantRow {
  readonly library_key: number
  readonly library_epoch: number
  readonly sub_key: number | null
  readonly account_key: number
  readonly epoch: number
  readonly api_token_key: number | null
}

function grantFromRow(row: GrantRow): SyncGrant {
  return {
    libraryKey: row.library_key,
    libraryEpoch: row.library_epoch,
    subKey: row.sub_key ?? undefined,
    origin: {
      accountKey: row.account_key,
      epoch: row.epoch,
      apiTokenKey: row.api_token_key ?? undefined,
      scopedTokenKey: undefined,
    },
  }
}

export async function deleteSyncTokensOfAccount(tx: Transaction, accountKey: number): Promise<void> {
  await tx.run('delete from sync_token where account_key = ?', accountKey)
}

export async function deleteSyncTokensOfLibrary(tx: Transaction, libraryKey: number): Promise<void> {
  await tx.run('delete from sync_token where library_key = ?', libraryKey)
}

export async function deleteSyncTokens(
  tx: Transaction,
  { libraryKey, accountKey }: { libraryKey: number; accountKey: number },
): Promise<void> {
  await tx.run('delete from sync_token where library_key = ? and account_key = ?', libraryKey, accountKey)
}

/** Device information a client sends with a sync token. */
export interface SyncDevice {
  readonly deviceId: string
  readonly deviceName: string
  readonly address: string
  readonly clientVersion: string
}

export async function updateSyncTokenUse(
  tx: Transaction,
  hash: Uint8Array,
  device: SyncDevice,
  now: number,
): Promise<void> {
  await tx.run(
    `update sync_token set device_id = ?, device_name = ?, address = ?, client_version = ?, last_used_at = ?
     where hash = ?`,
    device.deviceId,
    device.deviceName,
    device.address,
    device.clientVersion,
    now,
    hash,
  )
}

export async function deleteSyncTokensOfDevice(
  tx: Transaction,
  accountKey: number,
  deviceId: string,
): Promise<void> {
  await tx.run('delete from sync_token where account_key = ? and device_id = ?', accountKey, deviceId)
}

export async function deleteSyncTokensFor(tx: Transaction, libraryKeys: readonly number[]): Promise<void> {
  const marks = libraryKeys.map(() => '?').join(', ')
  await tx.run(`delete from sync_token where library_key in (${marks})`, ...libraryKeys)
}

/** The sync tokens of one account for the given libraries. */
export async function deleteSyncTokensOfAccountFor(
  tx: Transaction,
  accountKey: number,
  libraryKeys: readonly number[],
): Promise<void> {
  const marks = libraryKeys.map(() => '?').join(', ')
  const sql = `delete from sync_token where account_key = ? and library_key in (${marks})`
  await tx.run(sql, accountKey, ...libraryKeys)
}

export async function deleteSyncTokensDerivedFrom(
  tx: Transaction,
  apiTokenKeys: readonly number[],
): Promise<void> {
  if (apiTokenKeys.length === 0) return
  const marks = apiTokenKeys.map(() => '?').join(', ')
  await tx.run(`delete from sync_token where api_token_key in (${marks})`, ...apiTokenKeys)
}
