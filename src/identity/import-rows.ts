import { hash } from 'node:crypto'
import type { Reader, Transaction } from '../database/index.ts'
import { type Account, parseEmail, type Role } from './account.ts'
import { checkedContactEmail, checkedLoginId, checkedName } from './account-rules.ts'
import {
  type AccountValues,
  findAccount,
  insertAccount,
  isContactTaken,
  isLoginIdTaken,
  listAccounts,
} from './account-store.ts'
import { insertApiToken, updateApiTokenLogin } from './api-token-store.ts'
import { cut, type Device } from './device.ts'
import { type Group, parseGroupName } from './group.ts'
import { findGroupByName, insertGroup, insertMember, listGroups } from './group-store.ts'
import { parseImportedHash } from './imported-hashes.ts'
import { findSyncGrant, insertSyncToken, updateSyncTokenUse } from './sync-token-store.ts'

// Rows of another server. Secrets arrive as they were stored there, and are stored here in the form that this server uses.

/** An account of another server. */
interface ImportedAccount {
  readonly email: string
  readonly name: string
  readonly contactEmail: string
  readonly loginId: string
  readonly role: Role
  readonly isActive: boolean
  /** Bytes; 0 for the default of the server. */
  readonly quota: number
  /** As the other server stores it; '' for none. */
  readonly passwordHash: string
  /** Unix seconds. */
  readonly createdAt: number
}

/** The account, and whether it is new: one that exists stays as it is. Undefined if the id is not an e-mail address. */
export async function importAccount(
  tx: Transaction,
  wanted: ImportedAccount,
): Promise<{ account: Account; isNew: boolean; keepsPassword: boolean } | undefined> {
  const email = parseEmail(wanted.email)
  if (email === undefined) return undefined
  const existing = await findAccount(tx, email)
  if (existing !== undefined) return { account: existing, isNew: false, keepsPassword: false }
  const keepsPassword = parseImportedHash(wanted.passwordHash) !== undefined
  const contact = optional(() => checkedContactEmail(wanted.contactEmail)) ?? ''
  const isContactFree = contact !== '' && !(await isContactTaken(tx, contact, email))
  const loginId = wanted.loginId === '' ? undefined : optional(() => checkedLoginId(wanted.loginId))
  const values: AccountValues = {
    name: optional(() => checkedName(wanted.name.replaceAll('/', ' '))) ?? '',
    role: wanted.role,
    active: wanted.isActive ? 1 : 0,
    quota: wanted.quota,
    password_hash: keepsPassword ? wanted.passwordHash : '',
    password_assigned: 0,
    // The other server let its users sign in with this address.
    ...(isContactFree && contact !== email && { contact_email: contact, contact_verified: 1 }),
    ...(loginId && !(await isLoginIdTaken(tx, loginId)) && { login_id: loginId }),
  }
  await insertAccount(tx, { ...values, email, created_at: wanted.createdAt })
  const account = await findAccount(tx, email)
  return account && { account, isNew: true, keepsPassword }
}

/** Undefined if the rule for the field refuses the value. */
function optional<T>(check: () => T): T | undefined {
  try {
    return check()
  } catch {
    return undefined
  }
}

/** A group of another server. */
interface ImportedGroup {
  readonly name: string
  readonly ownerKey: number
  readonly members: readonly { readonly accountKey: number; readonly isAdmin: boolean }[]
  /** Unix seconds. */
  readonly createdAt: number
}

/**
 * The group with its members. Names are unique here, so that a second one of the same name gets a number. A group of that name and owner that
 * exists is taken as an earlier import, and stays as it is.
 */
export async function importGroup(
  tx: Transaction,
  wanted: ImportedGroup,
  taken: ReadonlySet<number>,
): Promise<{ group: Group; isNew: boolean }> {
  const base =
    parseGroupName(wanted.name.replace(/[^\p{L}\p{M}\p{N} '._()[\]-]/gu, '_').slice(0, 240)) ?? 'Group'
  for (let number = 1; ; number++) {
    const name = number === 1 ? base : `${base} (${number})`
    const existing = await findGroupByName(tx, name)
    if (existing !== undefined) {
      if (existing.ownerKey === wanted.ownerKey && !taken.has(existing.key))
        return { group: existing, isNew: false }
      continue
    }
    const group = await insertGroup(tx, name, wanted.ownerKey, wanted.createdAt)
    if (group === undefined) continue
    await insertMember(tx, group.key, wanted.ownerKey, true, wanted.createdAt)
    for (const { accountKey, isAdmin } of wanted.members) {
      await insertMember(tx, group.key, accountKey, isAdmin, wanted.createdAt)
    }
    return { group, isNew: true }
  }
}

/** Copies the accounts and groups of this server, without secrets and members, so that the rehearsal of an import finds the names that are taken. The keys of the accounts there, by those here. */
export async function copyPeople(from: Reader, tx: Transaction): Promise<ReadonlyMap<number, number>> {
  const keys = new Map<number, number>()
  const all = { limit: Number.MAX_SAFE_INTEGER, offset: 0 }
  // Only the order by usage needs the libraries.
  for (const found of await listAccounts(from, all, { ownedBytes: () => '0' })) {
    const { key, active: isActive, ...account } = found
    const copied = await importAccount(tx, { ...account, isActive, passwordHash: '' })
    if (copied !== undefined) keys.set(key, copied.account.key)
  }
  for (const group of await listGroups(from, { name: undefined, ...all })) {
    const ownerKey = keys.get(group.ownerKey)
    if (ownerKey !== undefined) await insertGroup(tx, group.name, ownerKey, group.createdAt)
  }
  return keys
}

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
