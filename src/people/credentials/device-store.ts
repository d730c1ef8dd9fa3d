import type { Reader } from '../../platform/database/index.ts'
import { accountRows } from '../accounts/index.ts'
import { type DeviceRow, deviceFromRow, type LinkedDevice } from './api-token-store.ts'
import type { Platform } from './device.ts'

/** A device and its account. */
export interface DeviceOfAccount extends LinkedDevice {
  readonly email: string
}

/** Devices of all accounts, most recently used first. */
export async function listAllDevices(
  reader: Reader,
  platforms: readonly Platform[],
  { offset, limit }: { offset: number; limit: number },
): Promise<DeviceOfAccount[]> {
  const rows = await reader.all<DeviceRow & { email: string }>(
    `select account.email, platform, device_id, device_name, client_version, platform_version, login_address,
       api_token.created_at, last_used_at, wiped_at
     from api_token join ${accountRows.briefRelation} account on account.key = api_token.account_key
     where platform in (${platforms.map(() => '?').join(', ')}) and account.active = 1
     order by last_used_at desc, account.email, device_id limit ? offset ?`,
    ...platforms,
    limit,
    offset,
  )
  return rows.map((row) => ({ email: row.email, ...deviceFromRow(row) }))
}

/** The number of devices, and of those used since a time. */
export async function countDevices(reader: Reader, since: number): Promise<{ all: number; recent: number }> {
  const row = await reader.get<{ all_devices: number; recent: number | string | null }>(
    `select count(*) as all_devices, sum(case when last_used_at >= ? then 1 else 0 end) as recent
     from api_token where platform <> ''`,
    since,
  )
  // PostgreSQL sums bigint as numeric, which arrives as text.
  return { all: row?.all_devices ?? 0, recent: Number(row?.recent ?? 0) }
}

/** Number of accounts that used a token since a time. */
export async function countActiveAccounts(reader: Reader, since: number): Promise<number> {
  const row = await reader.get<{ active: number }>(
    `select count(*) as active from (
       select account_key from api_token where last_used_at >= ?
       union select account_key from scoped_token where last_used_at >= ?) used`,
    since,
    since,
  )
  return row?.active ?? 0
}
