import { type Account, peopleImport } from '../../people/accounts/index.ts'
import { importApiToken, parseDevice } from '../../people/credentials/index.ts'
import { parseImportedHash } from '../../people/passwords/index.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import type { Problems } from './problems.ts'
import { flagIn, numberIn, type SourceRow, type SourceRows, textIn, timeIn } from './source-rows.ts'

/** The accounts and groups of the source, as they are here. */
export interface People {
  /** By id in the source, lower-cased. */
  readonly accounts: ReadonlyMap<string, Account>
  /** By number in the source. */
  readonly groups: ReadonlyMap<number, { readonly key: number; readonly ownerKey: number }>
  readonly counts: { accounts: number; groups: number; apiTokens: number }
}

/** Called in the transaction that adds something. */
export type OnAdded = (
  tx: Transaction,
  added: {
    readonly kind: 'account' | 'group' | 'library'
    readonly id: string
    readonly detail: Readonly<Record<string, unknown>>
  },
) => Promise<void>

interface PeopleOptions {
  readonly db: Database
  readonly problems: Problems
  /** Unix seconds. */
  readonly now: number
  readonly onAdded: OnAdded
}

/** Adds the accounts, their API tokens and the groups. Those that exist stay as they are. */
export async function importPeople(rows: SourceRows, options: PeopleOptions): Promise<People> {
  const counts = { accounts: 0, groups: 0, apiTokens: 0 }
  const accounts = await importAccounts(rows, options, counts)
  const groups = await importGroups(rows, options, accounts, counts)
  return { accounts, groups, counts }
}

async function importAccounts(
  rows: SourceRows,
  { db, problems, now, onAdded }: PeopleOptions,
  counts: People['counts'],
): Promise<Map<string, Account>> {
  const accounts = new Map<string, Account>()
  const profiles = byText(rows.of('profile_profile'), 'user')
  const quotas = byText(rows.of('userquota'), 'user')
  const roles = byText(rows.of('userrole'), 'email')
  const tokens = Map.groupBy([...rows.of('api2_token'), ...rows.of('api2_tokenv2')], (row) =>
    textIn(row, 'user').toLowerCase(),
  )
  for (const row of [...rows.of('emailuser'), ...rows.of('ldapusers')]) {
    const id = textIn(row, 'email').toLowerCase()
    if (accounts.has(id)) continue
    const profile = profiles.get(id) ?? {}
    const stored = textIn(row, 'passwd')
    const passwordHash = parseImportedHash(stored) && stored
    const wanted = {
      email: id,
      name: textIn(profile, 'nickname'),
      contactEmail: textIn(profile, 'contact_email'),
      loginId: textIn(profile, 'login_id'),
      role: roleOf(row, roles.get(id)),
      isActive: flagIn(row, 'is_active'),
      quota: Math.max(0, numberIn(quotas.get(id) ?? {}, 'quota')),
      passwordHash,
      createdAt: timeIn(row, 'ctime') ?? now,
    }
    const outcome = await db.write(async (tx) => {
      const found = await peopleImport.importAccount(tx, wanted)
      const imported: boolean[] = []
      if (found?.isNew) {
        await onAdded(tx, accountAdded(found.account))
        for (const token of tokens.get(id) ?? [])
          imported.push(await importToken(tx, found.account, token, now))
      }
      return { found, imported }
    })
    const { found, imported } = outcome
    if (found === undefined) {
      problems.add('account-skipped', `${id} is not an e-mail address.`)
      continue
    }
    accounts.set(id, found.account)
    if (!found.isNew) {
      problems.add('account-kept', `${id} exists here and stays as it is.`)
      continue
    }
    counts.accounts += 1
    counts.apiTokens += imported.filter(Boolean).length
    if (passwordHash === undefined)
      problems.add(
        'account-added',
        `${id} needs a new password: the source has none that can be checked here.`,
      )
    if (imported.includes(false))
      problems.add('token-skipped', `An API token of ${id} is of an unknown device, or was revoked.`)
  }
  return accounts
}

async function importToken(tx: Transaction, account: Account, row: SourceRow, now: number): Promise<boolean> {
  if (textIn(row, 'wiped_at') !== '') return false
  const fields = {
    platform: textIn(row, 'platform'),
    deviceId: textIn(row, 'device_id'),
    deviceName: textIn(row, 'device_name'),
    clientVersion: textIn(row, 'client_version'),
    platformVersion: textIn(row, 'platform_version'),
  }
  const device = fields.platform === '' ? undefined : parseDevice(fields)
  if (typeof device === 'string') return false
  return importApiToken(tx, account.key, { token: textIn(row, 'key'), device }, now)
}

async function importGroups(
  rows: SourceRows,
  { db, problems, now, onAdded }: PeopleOptions,
  accounts: People['accounts'],
  counts: People['counts'],
): Promise<People['groups']> {
  const imported = new Map<number, { key: number; ownerKey: number }>()
  const members = Map.groupBy(rows.of('groupuser'), (row) => numberIn(row, 'group_id'))
  const taken = new Set<number>()
  for (const row of rows.of('group')) {
    const number = numberIn(row, 'group_id')
    const name = textIn(row, 'group_name')
    const known = (members.get(number) ?? []).flatMap((member) => {
      const account = accounts.get(textIn(member, 'user_name').toLowerCase())
      return account === undefined ? [] : [{ accountKey: account.key, isAdmin: flagIn(member, 'is_staff') }]
    })
    // A department has no creator among the accounts.
    const owner =
      accounts.get(textIn(row, 'creator_name').toLowerCase())?.key ??
      (known.find(({ isAdmin }) => isAdmin) ?? known[0])?.accountKey ??
      [...accounts.values()].find(({ role }) => role === 'admin')?.key
    if (owner === undefined) {
      problems.add('group-skipped', `The group ${name} has neither an owner nor a member.`)
      continue
    }
    const wanted = { name, ownerKey: owner, members: known, createdAt: timeIn(row, 'timestamp') ?? now }
    const { group, isNew } = await db.write(async (tx) => {
      const added = await peopleImport.importGroup(tx, wanted, taken)
      const { key, name: given } = added.group
      if (added.isNew) await onAdded(tx, { kind: 'group', id: String(key), detail: { name: given } })
      return added
    })
    taken.add(group.key)
    imported.set(number, { key: group.key, ownerKey: owner })
    if (isNew) counts.groups += 1
    if (group.name !== name) problems.add('group-renamed', `The group ${name} is now called ${group.name}.`)
  }
  return imported
}

/** An account for an owner that the source has no row of, for example from a directory service. It cannot sign in before it is activated. */
export async function addMissingAccount(
  email: string,
  { db, problems, now, onAdded }: PeopleOptions,
): Promise<Account | undefined> {
  const wanted = {
    email,
    name: '',
    contactEmail: '',
    loginId: '',
    role: 'default' as const,
    isActive: false,
    quota: 0,
    passwordHash: undefined,
    createdAt: now,
  }
  const found = await db.write(async (tx) => {
    const added = await peopleImport.importAccount(tx, wanted)
    if (added?.isNew) await onAdded(tx, accountAdded(added.account))
    return added
  })
  if (found?.isNew) {
    problems.add(
      'account-added',
      `${email} owns libraries and has no account in the source: added here, not active.`,
    )
  }
  return found?.account
}

function accountAdded({ email, role, active }: Account) {
  return { kind: 'account', id: email, detail: { role, active } } as const
}

function roleOf(row: SourceRow, role: SourceRow | undefined): Account['role'] {
  if (flagIn(row, 'is_staff')) return 'admin'
  return textIn(role ?? {}, 'role') === 'guest' ? 'guest' : 'default'
}

function byText(rows: readonly SourceRow[], column: string): Map<string, SourceRow> {
  return new Map(rows.map((row) => [textIn(row, column).toLowerCase(), row]))
}
