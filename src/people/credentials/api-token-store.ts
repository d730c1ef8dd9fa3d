import { type MaybePromise, whenReady } from '../../base/scheduling/index.ts'
import type { Reader, Transaction, Value } from '../../platform/database/index.ts'
import { type Account, accountRows } from '../accounts/index.ts'
import type { Device } from './device.ts'

/** A stored API token: enough to recognize it, and with the server's secret to derive it again. */
export interface StoredApiToken {
  /** Unchanged when the token is replaced; undefined before it is stored. */
  readonly key?: number
  readonly hash: Uint8Array
  readonly nonce: Uint8Array
  /** Whether a wipe of its device was requested. */
  readonly wiped?: boolean
  /** Unix seconds. */
  readonly lastUsedAt?: number
}

/** A device with an API token. Times are Unix seconds. */
export interface LinkedDevice extends Device {
  readonly loginAddress: string
  readonly createdAt: number
  readonly lastUsedAt: number
  /** When a wipe was requested; null if it was not. */
  readonly wipedAt: number | null
}

// Both are '' for the token of an account without a device.
type Holder = Pick<Device, 'deviceId'> & { readonly platform: Device['platform'] | '' }

export async function findApiToken(
  reader: Reader,
  accountKey: number,
  { platform, deviceId }: Holder,
): Promise<StoredApiToken | undefined> {
  const row = await reader.get<{
    key: number
    hash: Uint8Array
    nonce: Uint8Array
    wiped_at: number | null
    last_used_at: number
  }>(
    `select key, hash, nonce, wiped_at, last_used_at from api_token
     where account_key = ? and platform = ? and device_id = ?`,
    accountKey,
    platform,
    deviceId,
  )
  if (row === undefined) return undefined
  const { key, hash, nonce, wiped_at: wipedAt, last_used_at: lastUsedAt } = row
  return { key, hash, nonce, wiped: wipedAt !== null, lastUsedAt }
}

/** False if a concurrent login of the same device was first. */
export async function insertApiToken(
  tx: Transaction,
  accountKey: number,
  { platform, deviceId }: Holder,
  { hash, nonce }: StoredApiToken,
  now: number,
): Promise<boolean> {
  const columns = ['hash', 'nonce', 'account_key', 'platform', 'device_id', 'device_name', 'client_version']
  columns.push('platform_version', 'login_address', 'created_at', 'last_used_at')
  const row = [hash, nonce, accountKey, platform, deviceId, '', '', '', '', now, now]
  return (await tx.insertNew('api_token', columns, [row])) === 1
}

/** The key is unchanged, so that the device's sync tokens stay valid. */
export async function replaceApiToken(tx: Transaction, older: StoredApiToken, newer: StoredApiToken) {
  const sql = 'update api_token set hash = ?, nonce = ?, wiped_at = null where hash = ?'
  await tx.run(sql, newer.hash, newer.nonce, older.hash)
}

/** The token cannot be derived again from its row and the secret. The next sign-in of its device gets another one. */
export async function forgetNonce(tx: Transaction, key: number): Promise<void> {
  await tx.run('update api_token set nonce = ? where key = ? and length(nonce) > 0', new Uint8Array(0), key)
}

/** Gives a token without a device a name of its own, so that it stays valid beside the next one. */
export async function parkApiToken(tx: Transaction, hash: Uint8Array, name: string): Promise<void> {
  await tx.run(`update api_token set device_id = ? where hash = ? and platform = ''`, name, hash)
}

/** Address and user agent of a sign-in, and whether it was one with the password. */
export interface SignInClient {
  readonly address: string
  readonly userAgent: string
  readonly withPassword: boolean
}

/** Records the last sign-in of a token. */
export async function updateApiTokenLogin(
  tx: Transaction,
  hash: Uint8Array,
  device: Partial<Device>,
  { address, userAgent, withPassword }: SignInClient,
  now: number,
): Promise<void> {
  await tx.run(
    `update api_token set device_name = ?, client_version = ?, platform_version = ?, user_agent = ?,
       login_address = ?, last_used_at = ?, wiped_at = null, signed_in_at = coalesce(?, signed_in_at) where hash = ?`,
    device.deviceName ?? '',
    device.clientVersion ?? '',
    device.platformVersion ?? '',
    userAgent,
    address,
    now,
    withPassword ? now : null,
    hash,
  )
}

/** When the holder of a token last signed in with the password; undefined if it never did. */
export async function findPasswordSignIn(reader: Reader, key: number): Promise<number | undefined> {
  const sql = 'select signed_in_at from api_token where key = ?'
  return (await reader.get<{ signed_in_at: number | null }>(sql, key))?.signed_in_at ?? undefined
}

// Built once, because it runs with every request.
const accountByHash = `select ${accountRows.columns}, api_token.key as token_key, api_token.last_used_at, api_token.platform,
    api_token.client_version, api_token.platform_version, api_token.wiped_at
  from api_token join ${accountRows.relation} account on account.key = api_token.account_key where api_token.hash = ?`

type HolderRow = Parameters<typeof accountRows.read>[0] & UseRow & { readonly token_key: number }

/** An API token and its account. */
export interface ApiTokenHolder {
  readonly account: Account
  readonly removed: boolean
  readonly wiped: boolean
  readonly use: ApiTokenUse
}

/** The account of an API token, and the use of the token. Reads one row through one index. */
export function findAccountByApiToken(
  reader: Reader,
  hash: Uint8Array,
): MaybePromise<ApiTokenHolder | undefined> {
  return whenReady(reader.get<HolderRow>(accountByHash, hash), (row) => row && holderFromRow(row))
}

function holderFromRow(row: HolderRow): ApiTokenHolder {
  const known = converted.get(row)
  if (known !== undefined) return known
  const account: Account = { ...accountRows.read(row), apiTokenKey: row.token_key }
  const wiped = row.wiped_at !== null
  const holder = { account, removed: accountRows.isRemoved(row.email), wiped, use: useFromRow(row) }
  converted.set(row, holder)
  return holder
}

/** The row cache may return the same row object again. Its holder is then reused. */
const converted = new WeakMap<HolderRow, ApiTokenHolder>()

/** The fields of an API token that a request may update: time of use and client version. */
export interface ApiTokenUse {
  readonly lastUsedAt: number
  readonly hasDevice: boolean
  readonly clientVersion: string
  readonly platformVersion: string
}

interface UseRow {
  last_used_at: number
  platform: string
  client_version: string
  platform_version: string
  wiped_at: number | null
}

function useFromRow(row: UseRow): ApiTokenUse {
  return {
    lastUsedAt: row.last_used_at,
    hasDevice: row.platform !== '',
    clientVersion: row.client_version,
    platformVersion: row.platform_version,
  }
}

export async function updateApiTokenUse(tx: Transaction, hash: Uint8Array, use: ApiTokenUse): Promise<void> {
  await tx.run(
    'update api_token set last_used_at = ?, client_version = ?, platform_version = ? where hash = ?',
    use.lastUsedAt,
    use.clientVersion,
    use.platformVersion,
    hash,
  )
}

/**
 * Whether an API token exists and its device is not to be wiped. Otherwise credentials derived from it are
 * invalid.
 */
export function isLiveApiToken(reader: Reader, key: number): MaybePromise<boolean> {
  const sql = 'select wiped_at from api_token where key = ?'
  return whenReady(
    reader.get<{ wiped_at: number | null }>(sql, key),
    (row) => row !== undefined && row.wiped_at === null,
  )
}

/** As isLiveApiToken. The row stays locked until the transaction ends, so that a concurrent wipe waits and finds what is derived here. */
export async function lockLiveApiToken(tx: Transaction, key: number): Promise<boolean> {
  const sql = 'update api_token set last_used_at = last_used_at where key = ? and wiped_at is null'
  return (await tx.run(sql, key)) === 1
}

/** Derives the token of a device from another one. It ends with that. */
export async function setParentOfApiToken(
  tx: Transaction,
  accountKey: number,
  { platform, deviceId }: Holder,
  parentKey: number,
): Promise<void> {
  const sql = 'update api_token set parent_key = ? where account_key = ? and platform = ? and device_id = ?'
  await tx.run(sql, parentKey, accountKey, platform, deviceId)
}

/**
 * Deletes the tokens derived from these, and those derived from them. Called after these were deleted or marked, so that a transaction that
 * derives one at the same time has either ended or finds its origin gone.
 */
export async function deleteApiTokensDerivedFrom(tx: Transaction, keys: readonly number[]): Promise<void> {
  for (const key of keys) {
    const sql = 'delete from api_token where parent_key = ? returning key'
    const derived = await tx.all<{ key: number }>(sql, key)
    await deleteApiTokensDerivedFrom(
      tx,
      derived.map((row) => row.key),
    )
  }
}

/** Maintenance: deletes tokens whose origin was deleted because it expired unused. */
export async function deleteOrphanedApiTokens(tx: Transaction): Promise<void> {
  const sql = `delete from api_token where parent_key is not null
    and not exists (select 1 from api_token origin where origin.key = api_token.parent_key)`
  while ((await tx.run(sql)) > 0);
}

/** The device of an API token, and whether it is to be wiped. Platform and device are '' for none. */
export async function findHolder(reader: Reader, column: 'hash' | 'key', value: Value) {
  const row = await reader.get<{
    key: number
    account_key: number
    platform: string
    device_id: string
    wiped_at: number | null
  }>(`select key, account_key, platform, device_id, wiped_at from api_token where ${column} = ?`, value)
  return (
    row && {
      key: row.key,
      accountKey: row.account_key,
      platform: row.platform as Holder['platform'],
      deviceId: row.device_id,
      wiped: row.wiped_at !== null,
    }
  )
}

/** Deletes the token and the credentials derived from it. */
export async function deleteApiToken(tx: Transaction, key: number): Promise<boolean> {
  const existed = (await tx.run('delete from api_token where key = ?', key)) === 1
  await deleteApiTokensDerivedFrom(tx, [key])
  return existed
}

export async function listApiTokenKeysOfDevice(
  reader: Reader,
  accountKey: number,
  { platform, deviceId }: Holder,
): Promise<number[]> {
  const sql = 'select key from api_token where account_key = ? and platform = ? and device_id = ?'
  const rows = await reader.all<{ key: number }>(sql, accountKey, platform, deviceId)
  return rows.map(({ key }) => key)
}

export async function deleteApiTokenOfDevice(
  tx: Transaction,
  accountKey: number,
  { platform, deviceId }: Holder,
): Promise<boolean> {
  const sql = 'delete from api_token where account_key = ? and platform = ? and device_id = ? returning key'
  const row = await tx.get<{ key: number }>(sql, accountKey, platform, deviceId)
  if (row !== undefined) await deleteApiTokensDerivedFrom(tx, [row.key])
  return row !== undefined
}

/**
 * Requests a wipe of a device. Its token then gives no access and tells the device to wipe itself. False if
 * there is none.
 */
export async function markDeviceWiped(
  tx: Transaction,
  accountKey: number,
  { platform, deviceId }: Holder,
  now: number,
): Promise<boolean> {
  const sql = 'update api_token set wiped_at = ? where account_key = ? and platform = ? and device_id = ?'
  return (await tx.run(sql, now, accountKey, platform, deviceId)) === 1
}

export async function deleteApiTokens(tx: Transaction, accountKey: number): Promise<void> {
  await tx.run('delete from api_token where account_key = ?', accountKey)
}

/**
 * For an account that is removed. The hashes stay, so that a client with such a token learns that the account
 * is gone. Nothing stays from which a token could be derived.
 */
export async function invalidateApiTokens(tx: Transaction, accountKey: number): Promise<void> {
  await tx.run(
    `update api_token set nonce = ?, device_name = '', client_version = '', platform_version = '',
       login_address = '' where account_key = ?`,
    new Uint8Array(0),
    accountKey,
  )
}

/** Desktop devices first, each kind most recently used first. */
export async function listApiTokenDevices(reader: Reader, accountKey: number): Promise<LinkedDevice[]> {
  const rows = await reader.all<DeviceRow>(
    `select platform, device_id, device_name, client_version, platform_version, login_address, created_at,
       last_used_at, wiped_at
     from api_token where account_key = ? and platform <> ''
     order by case when platform in ('windows', 'linux', 'mac') then 0 else 1 end, last_used_at desc, device_id`,
    accountKey,
  )
  return rows.map(deviceFromRow)
}

/** Unix time of the last use of an API token, for accounts that have one. */
export async function selectLastUses(
  reader: Reader,
  accountKeys: readonly number[],
): Promise<Map<number, number>> {
  if (accountKeys.length === 0) return new Map()
  const rows = await reader.all<{ account_key: number; at: number }>(
    `select account_key, max(last_used_at) as at from api_token
     where account_key in (${accountKeys.map(() => '?').join(', ')}) group by account_key`,
    ...accountKeys,
  )
  return new Map(rows.map((row) => [row.account_key, row.at]))
}

/** A row of a token with a device. */
export interface DeviceRow extends UseRow {
  device_id: string
  device_name: string
  login_address: string
  created_at: number
}

export function deviceFromRow(row: DeviceRow): LinkedDevice {
  return {
    platform: row.platform as Device['platform'],
    deviceId: row.device_id,
    deviceName: row.device_name,
    clientVersion: row.client_version,
    platformVersion: row.platform_version,
    loginAddress: row.login_address,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    wipedAt: row.wiped_at,
  }
}
