import type { Reader, Transaction } from '../../platform/database/index.ts'
import type { Scope } from '../accounts/index.ts'
import type { Device } from './device.ts'

/** What a client asks for: a personal token with a scope, or a session of the account. */
export type DeviceAccess = Scope['access'] | 'session'

/** A client that asks for access, and where it asks from. */
export interface DeviceRequest {
  /** The name of the program. */
  readonly clientId: string
  /** The name of the machine; '' if the client did not send it. */
  readonly deviceName: string
  readonly access: DeviceAccess
  /** The device of a session; undefined if the client did not send it. */
  readonly device?: Device | undefined
  readonly address: string
}

/** A request that waits for a person. Times are Unix seconds. */
export interface PendingDevice extends DeviceRequest {
  readonly createdAt: number
  readonly expiresAt: number
}

interface NewDeviceAuthorization extends PendingDevice {
  readonly deviceHash: Uint8Array
  readonly userHash: Uint8Array
  /** The network that open requests are counted by. */
  readonly network: string
  /** Seconds. */
  readonly pollInterval: number
}

/** The part of a request that decides the response to its client. */
interface PolledDevice {
  readonly clientId: string
  readonly access: DeviceAccess
  readonly device: Device | undefined
  readonly expiresAt: number
  readonly pollInterval: number
  readonly polledAt: number | undefined
  readonly state: 'pending' | 'approved' | 'denied'
  readonly accountKey: number | undefined
  readonly epoch: number | undefined
  readonly tokenName: string
  readonly tokenExpiresAt: number | undefined
}

/** What a person granted. */
interface Approval {
  readonly accountKey: number
  readonly epoch: number
  readonly access: DeviceAccess
  readonly tokenName: string
  readonly tokenExpiresAt: number | undefined
}

/** Open requests of a network, and when the first of them ends. */
export async function countOpenDevices(
  reader: Reader,
  now: number,
  network: string,
): Promise<{ count: number; firstEnd: number }> {
  const row = await reader.get<{ count: number; first_end: number | null }>(
    `select count(*) as count, min(expires_at) as first_end from device_authorization
     where expires_at > ? and network = ?`,
    now,
    network,
  )
  return { count: row?.count ?? 0, firstEnd: row?.first_end ?? now }
}

/** A network with requests that wait for a person. */
export interface WaitingNetwork {
  readonly network: string
  readonly count: number
  /** When its oldest request was made. Unix seconds. */
  readonly first: number
}

export async function countPendingDevices(reader: Reader, now: number): Promise<number> {
  const sql = "select count(*) as count from device_authorization where state = 'pending' and expires_at > ?"
  return (await reader.get<{ count: number }>(sql, now))?.count ?? 0
}

/** The networks with pending requests. */
export async function listWaitingNetworks(reader: Reader, now: number): Promise<WaitingNetwork[]> {
  return reader.all<{ network: string; count: number; first: number }>(
    `select network, count(*) as count, min(created_at) as first from device_authorization
     where state = 'pending' and expires_at > ? group by network`,
    now,
  )
}

/** Deletes the oldest pending request of a network. */
export async function deleteOldestPending(tx: Transaction, network: string, now: number): Promise<void> {
  await tx.run(
    `delete from device_authorization where device_hash = (
       select device_hash from device_authorization where network = ? and state = 'pending' and expires_at > ?
       order by created_at, device_hash limit 1)`,
    network,
    now,
  )
}

/** False if the user code is taken. */
export async function insertDeviceAuthorization(
  tx: Transaction,
  row: NewDeviceAuthorization,
): Promise<boolean> {
  const inserted = await tx.run(
    `insert into device_authorization (device_hash, user_hash, client_id, device_name, access, address, network,
       created_at, expires_at, poll_interval, device, state) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending')
     on conflict do nothing`,
    row.deviceHash,
    row.userHash,
    row.clientId,
    row.deviceName,
    row.access,
    row.address,
    row.network,
    row.createdAt,
    row.expiresAt,
    row.pollInterval,
    row.device === undefined ? null : JSON.stringify(row.device),
  )
  return inserted === 1
}

/** Undefined if it is unknown, expired or decided. */
export async function findPendingDevice(
  reader: Reader,
  userHash: Uint8Array,
  now: number,
): Promise<PendingDevice | undefined> {
  const row = await reader.get<{
    client_id: string
    device_name: string
    access: DeviceAccess
    address: string
    created_at: number
    expires_at: number
  }>(
    `select client_id, device_name, access, address, created_at, expires_at from device_authorization
     where user_hash = ? and state = 'pending' and expires_at > ?`,
    userHash,
    now,
  )
  return (
    row && {
      clientId: row.client_id,
      deviceName: row.device_name,
      access: row.access,
      address: row.address,
      createdAt: row.created_at,
      expiresAt: row.expires_at,
    }
  )
}

/** False if the request is unknown, expired or decided. Of two concurrent decisions one fails. */
export async function approveDevice(
  tx: Transaction,
  userHash: Uint8Array,
  { accountKey, epoch, access, tokenName, tokenExpiresAt }: Approval,
  now: number,
): Promise<boolean> {
  const changed = await tx.run(
    `update device_authorization
     set state = 'approved', account_key = ?, epoch = ?, access = ?, token_name = ?, token_expires_at = ?
     where user_hash = ? and state = 'pending' and expires_at > ?`,
    accountKey,
    epoch,
    access,
    tokenName,
    tokenExpiresAt ?? null,
    userHash,
    now,
  )
  return changed === 1
}

/** False if the request is unknown, expired or decided. */
export async function denyDevice(tx: Transaction, userHash: Uint8Array, now: number): Promise<boolean> {
  const changed = await tx.run(
    `update device_authorization set state = 'denied' where user_hash = ? and state = 'pending' and expires_at > ?`,
    userHash,
    now,
  )
  return changed === 1
}

/**
 * What an account approved and no client has fetched yet is denied, because all its credentials end. The rows stay for the next poll of
 * the client, without the account, which may be about to be removed.
 */
export async function denyDeviceAuthorizationsOf(tx: Transaction, accountKey: number): Promise<void> {
  await tx.run(
    "update device_authorization set state = 'denied', account_key = null, epoch = null where account_key = ?",
    accountKey,
  )
}

interface PolledRow {
  client_id: string
  access: DeviceAccess
  device: string | null
  expires_at: number
  poll_interval: number
  polled_at: number | null
  state: PolledDevice['state']
  account_key: number | null
  epoch: number | null
  token_name: string | null
  token_expires_at: number | null
}

const POLLED_COLUMNS = `client_id, access, device, expires_at, poll_interval, polled_at, state, account_key, epoch,
  token_name, token_expires_at`

export async function findDevice(reader: Reader, deviceHash: Uint8Array): Promise<PolledDevice | undefined> {
  const sql = `select ${POLLED_COLUMNS} from device_authorization where device_hash = ?`
  return polledFrom(await reader.get<PolledRow>(sql, deviceHash))
}

/** The row stays locked until the transaction ends, so that of two concurrent polls one gets the token. */
export async function lockDevice(tx: Transaction, deviceHash: Uint8Array): Promise<PolledDevice | undefined> {
  const sql = `update device_authorization set state = state where device_hash = ? returning ${POLLED_COLUMNS}`
  return polledFrom(await tx.get<PolledRow>(sql, deviceHash))
}

function polledFrom(row: PolledRow | undefined): PolledDevice | undefined {
  return (
    row && {
      clientId: row.client_id,
      access: row.access,
      device: row.device === null ? undefined : (JSON.parse(row.device) as Device),
      expiresAt: row.expires_at,
      pollInterval: row.poll_interval,
      polledAt: row.polled_at ?? undefined,
      state: row.state,
      accountKey: row.account_key ?? undefined,
      epoch: row.epoch ?? undefined,
      tokenName: row.token_name ?? '',
      tokenExpiresAt: row.token_expires_at ?? undefined,
    }
  )
}

export async function recordPoll(
  tx: Transaction,
  deviceHash: Uint8Array,
  poll: { readonly at: number; readonly interval: number },
): Promise<void> {
  const sql = 'update device_authorization set polled_at = ?, poll_interval = ? where device_hash = ?'
  await tx.run(sql, poll.at, poll.interval, deviceHash)
}

export async function deleteDevice(tx: Transaction, deviceHash: Uint8Array): Promise<void> {
  await tx.run('delete from device_authorization where device_hash = ?', deviceHash)
}

export function deleteDevicesBefore(tx: Transaction, time: number): Promise<number> {
  return tx.run('delete from device_authorization where expires_at <= ?', time)
}
