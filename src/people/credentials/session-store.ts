import type { Reader, Transaction } from '../../platform/database/index.ts'
import type { Platform } from './device.ts'

/** A session: an API token, with or without a device. Times are Unix seconds. */
export interface Session {
  /** The key of its API token. */
  readonly key: number
  /** '' for a session without a device, like `deviceId` and `deviceName`. */
  readonly platform: Platform | ''
  readonly deviceId: string
  readonly deviceName: string
  readonly clientVersion: string
  readonly platformVersion: string
  /** The user agent of the last sign-in, and its address. */
  readonly userAgent: string
  readonly loginAddress: string
  readonly createdAt: number
  readonly lastUsedAt: number
  /** When a wipe of its device was requested; null if it was not. */
  readonly wipedAt: number | null
}

/** All sessions of an account, most recently used first. */
export async function listSessions(reader: Reader, accountKey: number): Promise<Session[]> {
  const rows = await reader.all<{
    key: number
    platform: string
    device_id: string
    device_name: string
    client_version: string
    platform_version: string
    user_agent: string
    login_address: string
    created_at: number
    last_used_at: number
    wiped_at: number | null
  }>(
    `select key, platform, device_id, device_name, client_version, platform_version, user_agent, login_address,
       created_at, last_used_at, wiped_at
     from api_token where account_key = ? order by last_used_at desc, key desc`,
    accountKey,
  )
  return rows.map((row) => ({
    key: row.key,
    platform: row.platform as Session['platform'],
    deviceId: row.device_id,
    deviceName: row.device_name,
    clientVersion: row.client_version,
    platformVersion: row.platform_version,
    userAgent: row.user_agent,
    loginAddress: row.login_address,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    wipedAt: row.wiped_at,
  }))
}

/**
 * Deletes API tokens that were not used since a time. It keeps those whose device still syncs and those that a library token ends with,
 * because these are ended through them, and those whose device has not confirmed a wipe.
 */
export async function deleteIdleApiTokens(tx: Transaction, usedBefore: number): Promise<number> {
  return tx.run(
    `delete from api_token where last_used_at < ? and wiped_at is null
       and not exists (select 1 from sync_token where sync_token.api_token_key = api_token.key)
       and not exists (select 1 from scoped_token where scoped_token.api_token_key = api_token.key)`,
    usedBefore,
  )
}

/** API tokens of an account, except this one and the most recently used others. A thousand at a time. */
export async function listLeastUsed(
  reader: Reader,
  accountKey: number,
  hash: Uint8Array,
  others: number,
): Promise<{ key: number; platform: Session['platform']; deviceId: string }[]> {
  return reader.all(
    `select key, platform, device_id as "deviceId" from api_token where account_key = ? and hash <> ?
     order by last_used_at desc, key desc limit 1000 offset ?`,
    accountKey,
    hash,
    others,
  )
}

/** API tokens with a last use after `limit`, in Unix seconds, which would not expire. */
export async function countFutureSignIns(reader: Reader, limit: number): Promise<{ signIns: number }> {
  const found = await reader.get<{ n: number }>(
    'select count(*) as n from api_token where last_used_at > ?',
    limit,
  )
  return { signIns: found?.n ?? 0 }
}

export async function repairFutureSignIns(tx: Transaction, limit: number, now: number): Promise<void> {
  await tx.run('update api_token set last_used_at = ? where last_used_at > ?', now, limit)
}
