import type { Reader, Transaction } from '../../platform/database/index.ts'
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
import { type Group, parseGroupName } from './group.ts'
import { findGroupByName, insertGroup, insertMember, listGroups } from './group-store.ts'

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
  /** As the other server stores it, if it can be checked here. */
  readonly passwordHash: string | undefined
  /** Unix seconds. */
  readonly createdAt: number
}

/** The account, and whether it is new: one that exists stays as it is. Undefined if the id is not an e-mail address. */
async function importAccount(
  tx: Transaction,
  wanted: ImportedAccount,
): Promise<{ account: Account; isNew: boolean } | undefined> {
  const email = parseEmail(wanted.email)
  if (email === undefined) return undefined
  const existing = await findAccount(tx, email)
  if (existing !== undefined) return { account: existing, isNew: false }
  const contact = optional(() => checkedContactEmail(wanted.contactEmail)) ?? ''
  const isContactFree = contact !== '' && !(await isContactTaken(tx, contact, email))
  const loginId = wanted.loginId === '' ? undefined : optional(() => checkedLoginId(wanted.loginId))
  const values: AccountValues = {
    name: optional(() => checkedName(wanted.name.replaceAll('/', ' '))) ?? '',
    role: wanted.role,
    active: wanted.isActive ? 1 : 0,
    quota: wanted.quota,
    password_hash: wanted.passwordHash ?? '',
    password_assigned: 0,
    // The other server let its users sign in with this address.
    ...(isContactFree && contact !== email && { contact_email: contact, contact_verified: 1 }),
    ...(loginId && !(await isLoginIdTaken(tx, loginId)) && { login_id: loginId }),
  }
  await insertAccount(tx, { ...values, email, created_at: wanted.createdAt })
  const account = await findAccount(tx, email)
  return account && { account, isNew: true }
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
async function importGroup(
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
async function copyPeople(from: Reader, tx: Transaction): Promise<ReadonlyMap<number, number>> {
  const keys = new Map<number, number>()
  const all = { limit: Number.MAX_SAFE_INTEGER, offset: 0 }
  for (const found of await listAccounts(from, all)) {
    const { key, active: isActive, ...account } = found
    const copied = await importAccount(tx, { ...account, isActive, passwordHash: undefined })
    if (copied !== undefined) keys.set(key, copied.account.key)
  }
  for (const group of await listGroups(from, { name: undefined, ...all })) {
    const ownerKey = keys.get(group.ownerKey)
    if (ownerKey !== undefined) await insertGroup(tx, group.name, ownerKey, group.createdAt)
  }
  return keys
}

/** Adds accounts and groups of another server. */
export const peopleImport = { importAccount, importGroup, copyPeople }
