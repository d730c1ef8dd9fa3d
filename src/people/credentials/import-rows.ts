import { hash } from 'node:crypto'
import type { Transaction } from '../../platform/database/index.ts'
import type { Account } from '../accounts/index.ts'
import { insertApiToken, updateApiTokenLogin } from './api-token-store.ts'
import { cut, type Device } from './device.ts'
import { findSyncGrant, insertSyncToken, updateSyncTokenUse } from './sync-token-store.ts'

// Secrets of another server arrive as they were stored there, and are stored here in the form that this server uses.

const TOKEN = /^[0-9a-f]{40}$/

/** An API token of another server, and its device; undefined for one without a device. False if it is not taken over. */
export async function importApiToken(
  tx: Transaction,
  accountKey: number,
  { token, device }: { readonly token: string; readonly device: Device | undefined },
  now: number,
): Promise<boolean> {
  if (!TOKEN.test(token)) return false
  // Without a nonce: it cannot be derived again, and the next sign-in of the device gets another one.
  const stored = { hash: hash('sha256', token, 'buffer'), nonce: new Uint8Array(0) }
  const holder = { platform: device?.platform ?? ('' as const), deviceId: device?.deviceId ?? '' }
  if (!(await insertApiToken(tx, accountKey, holder, stored, now))) return false
  await updateApiTokenLogin(
    tx,
    stored.hash,
    device ?? {},
    { address: '', userAgent: '', withPassword: false },
    now,
  )
  return true
}

/** A sync token of another server. */
interface ImportedSyncToken {
  readonly token: string
  readonly account: Pick<Account, 'key' | 'epoch'>
  readonly libraryKey: number
  readonly subKey: number | undefined
  readonly device:
    | { readonly id: string; readonly name: string; readonly clientVersion: string; readonly usedAt: number }
    | undefined
}

/** False if it is not one, or taken. */
export async function importSyncToken(
  tx: Transaction,
  wanted: ImportedSyncToken,
  now: number,
): Promise<boolean> {
  const { token, account, libraryKey, subKey, device } = wanted
  if (!TOKEN.test(token)) return false
  const tokenHash = hash('sha256', token, 'buffer')
  if ((await findSyncGrant(tx, tokenHash)) !== undefined) return false
  const origin = {
    accountKey: account.key,
    epoch: account.epoch,
    apiTokenKey: undefined,
    scopedTokenKey: undefined,
  }
  await insertSyncToken(tx, tokenHash, { libraryKey, libraryEpoch: 0, subKey, origin }, now)
  if (device !== undefined) {
    const known = {
      deviceId: cut(device.id, 64),
      deviceName: cut(device.name, 40),
      address: '',
      clientVersion: cut(device.clientVersion, 64),
    }
    await updateSyncTokenUse(tx, tokenHash, known, device.usedAt)
  }
  return true
}
