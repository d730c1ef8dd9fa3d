import type { Reader, Transaction } from '../../platform/database/index.ts'
import type { Account } from './account.ts'
import { type AccountRow, accountColumns, accountFromRow } from './account-store.ts'
import { foldedName, type Group, type Membership } from './group.ts'

interface GroupRow {
  key: number
  name: string
  owner_key: number
  created_at: number
}

/** A member and its account. */
export interface Member {
  readonly account: Account
  readonly isAdmin: boolean
}

const COLUMNS = 'g.key, g.name, g.owner_key, g.created_at'

/** False if the name is taken. */
export async function insertGroup(
  tx: Transaction,
  name: string,
  ownerKey: number,
  now: number,
): Promise<Group | undefined> {
  const row = await tx.get<{ key: number }>(
    `insert into user_group (name, name_folded, owner_key, created_at) values (?, ?, ?, ?)
     on conflict (name_folded) do nothing returning key`,
    name,
    foldedName(name),
    ownerKey,
    now,
  )
  return row && { key: row.key, name, ownerKey, createdAt: now }
}

export async function findGroup(reader: Reader, key: number): Promise<Group | undefined> {
  const row = await reader.get<GroupRow>(`select ${COLUMNS} from user_group g where g.key = ?`, key)
  return row && toGroup(row)
}

export async function findGroupByName(reader: Reader, name: string): Promise<Group | undefined> {
  const sql = `select ${COLUMNS} from user_group g where g.name_folded = ?`
  const row = await reader.get<GroupRow>(sql, foldedName(name))
  return row && toGroup(row)
}

export async function findGroups(reader: Reader, keys: readonly number[]): Promise<Group[]> {
  const found: Group[] = []
  for (let start = 0; start < keys.length; start += 500) {
    const some = keys.slice(start, start + 500)
    const sql = `select ${COLUMNS} from user_group g where g.key in (${some.map(() => '?').join(', ')})`
    for (const row of await reader.all<GroupRow>(sql, ...some)) found.push(toGroup(row))
  }
  return found
}

/** All groups, newest first; only those that contain `name`, ignoring case, if given. */
export async function listGroups(
  reader: Reader,
  { name, limit, offset }: { name: string | undefined; limit: number; offset: number },
): Promise<Group[]> {
  const part = foldedName(name ?? '').replace(/[\\%_]/g, '\\$&')
  const rows = await reader.all<GroupRow>(
    `select ${COLUMNS} from user_group g where g.name_folded like ? escape '\\'
     order by g.key desc limit ? offset ?`,
    `%${part}%`,
    limit,
    offset,
  )
  return rows.map(toGroup)
}

export async function countGroups(reader: Reader): Promise<number> {
  const sql = 'select count(*) as groups_count from user_group'
  return (await reader.get<{ groups_count: number }>(sql))?.groups_count ?? 0
}

/** The groups of an account, ordered by name. */
export async function groupsOf(reader: Reader, accountKey: number): Promise<Membership[]> {
  const rows = await reader.all<GroupRow & { is_admin: number }>(
    `select ${COLUMNS}, m.is_admin from group_member m join user_group g on g.key = m.group_key
     where m.account_key = ? and m.held_by is null order by g.name_folded, g.key`,
    accountKey,
  )
  return rows.map((row) => ({ group: toGroup(row), accountKey, isAdmin: row.is_admin === 1 }))
}

export async function findMembership(
  reader: Reader,
  groupKey: number,
  accountKey: number,
): Promise<Membership | undefined> {
  const row = await reader.get<GroupRow & { is_admin: number }>(
    `select ${COLUMNS}, m.is_admin from group_member m join user_group g on g.key = m.group_key
     where m.group_key = ? and m.account_key = ? and m.held_by is null`,
    groupKey,
    accountKey,
  )
  return row && { group: toGroup(row), accountKey, isAdmin: row.is_admin === 1 }
}

/** Ordered by time of joining; one page, or all. */
export async function listMembers(
  reader: Reader,
  groupKey: number,
  page: { limit: number; offset?: number; onlyAdmins?: boolean },
): Promise<Member[]> {
  const rows = await reader.all<AccountRow & { member_is_admin: number }>(
    `select ${accountColumns}, m.is_admin as member_is_admin
     from group_member m join account on account.key = m.account_key
     where m.group_key = ? and m.held_by is null ${page.onlyAdmins === true ? 'and m.is_admin = 1' : ''}
     order by m.joined_at, m.account_key limit ? offset ?`,
    groupKey,
    page.limit,
    page.offset ?? 0,
  )
  return rows.map((row) => ({ account: accountFromRow(row), isAdmin: row.member_is_admin === 1 }))
}

/** How many groups of one owner an account is in. */
export async function countMemberships(
  reader: Reader,
  accountKey: number,
  ownerKey: number,
): Promise<number> {
  const sql = `select count(*) as memberships from user_group g join group_member m on m.group_key = g.key
     where g.owner_key = ? and m.account_key = ?`
  return (await reader.get<{ memberships: number }>(sql, ownerKey, accountKey))?.memberships ?? 0
}

/** The keys of all members. */
export async function memberKeys(reader: Reader, groupKey: number): Promise<number[]> {
  const sql = 'select account_key from group_member where group_key = ? and held_by is null'
  return (await reader.all<{ account_key: number }>(sql, groupKey)).map((row) => row.account_key)
}

/** E-mails of the administrators of several groups, by group key. */
export async function adminsOf(reader: Reader, groupKeys: readonly number[]): Promise<Map<number, string[]>> {
  const admins = new Map<number, string[]>()
  for (let start = 0; start < groupKeys.length; start += 500) {
    const some = groupKeys.slice(start, start + 500)
    const rows = await reader.all<{ group_key: number; email: string }>(
      `select m.group_key, a.email from group_member m join account a on a.key = m.account_key
       where m.is_admin = 1 and m.held_by is null and m.group_key in (${some.map(() => '?').join(', ')})
       order by m.joined_at, m.account_key`,
      ...some,
    )
    for (const { group_key, email } of rows) {
      const known = admins.get(group_key)
      if (known === undefined) admins.set(group_key, [email])
      else known.push(email)
    }
  }
  return admins
}

/** The number of groups that an account owns; `most` at most. */
export function countGroupsOf(reader: Reader, ownerKey: number, most: number): Promise<number> {
  const some = 'select 1 as one from user_group where owner_key = ? limit ?'
  return counted(reader, some, ownerKey, most)
}

/** The number of members of a group; `most` at most. */
export function countMembers(reader: Reader, groupKey: number, most: number): Promise<number> {
  const some = 'select 1 as one from group_member where group_key = ? limit ?'
  return counted(reader, some, groupKey, most)
}

async function counted(reader: Reader, some: string, key: number, most: number): Promise<number> {
  const row = await reader.get<{ count: number }>(
    `select count(*) as count from (${some}) counted`,
    key,
    most,
  )
  return row?.count ?? 0
}

/** False if the account is already a member. With `heldBy`, the membership waits until the account accepts it. */
export async function insertMember(
  tx: Transaction,
  groupKey: number,
  accountKey: number,
  isAdmin: boolean,
  now: number,
  heldBy?: number,
): Promise<boolean> {
  const columns = ['group_key', 'account_key', 'is_admin', 'joined_at', 'held_by']
  const row = [groupKey, accountKey, isAdmin ? 1 : 0, now, heldBy ?? null]
  return (await tx.insertNew('group_member', columns, [row])) === 1
}

/** Whether two accounts are in one group. */
export async function haveCommonGroup(reader: Reader, one: number, other: number): Promise<boolean> {
  const sql = `select 1 from group_member m join group_member o on o.group_key = m.group_key
     where m.account_key = ? and o.account_key = ? and m.held_by is null and o.held_by is null limit 1`
  return (await reader.get(sql, one, other)) !== undefined
}

/** The groups that wait for an account to accept its membership, oldest first, with the account that added it. */
export async function listHeldMemberships(
  reader: Reader,
  accountKey: number,
): Promise<{ group: Group; heldBy: number }[]> {
  const rows = await reader.all<GroupRow & { held_by: number }>(
    `select ${COLUMNS}, m.held_by from group_member m join user_group g on g.key = m.group_key
     where m.account_key = ? and m.held_by is not null order by m.joined_at, g.key`,
    accountKey,
  )
  return rows.map((row) => ({ group: toGroup(row), heldBy: row.held_by }))
}

/** False if there is no such membership that is held. */
export async function acceptMembership(
  tx: Transaction,
  groupKey: number,
  accountKey: number,
): Promise<boolean> {
  const sql = `update group_member set held_by = null
     where group_key = ? and account_key = ? and held_by is not null`
  return (await tx.run(sql, groupKey, accountKey)) === 1
}

/** False if there is no such membership that is held. */
export async function deleteHeldMembership(
  tx: Transaction,
  groupKey: number,
  accountKey: number,
): Promise<boolean> {
  const sql = 'delete from group_member where group_key = ? and account_key = ? and held_by is not null'
  return (await tx.run(sql, groupKey, accountKey)) === 1
}

export async function setMemberAdmin(
  tx: Transaction,
  groupKey: number,
  accountKey: number,
  isAdmin: boolean,
): Promise<void> {
  const sql = 'update group_member set is_admin = ? where group_key = ? and account_key = ?'
  await tx.run(sql, isAdmin ? 1 : 0, groupKey, accountKey)
}

/** False if it was no member. */
export async function deleteMember(tx: Transaction, groupKey: number, accountKey: number): Promise<boolean> {
  const sql = 'delete from group_member where group_key = ? and account_key = ?'
  return (await tx.run(sql, groupKey, accountKey)) === 1
}

/** False if the name is taken by another group. */
export async function setGroupName(tx: Transaction, key: number, name: string): Promise<boolean> {
  const changed = await tx.run(
    `update user_group set name = ?, name_folded = ? where key = ?
       and not exists (select 1 from user_group o where o.name_folded = ? and o.key <> ?)`,
    name,
    foldedName(name),
    key,
    foldedName(name),
    key,
  )
  return changed === 1
}

/** False if `from` does not own it any more. */
export async function setGroupOwner(
  tx: Transaction,
  key: number,
  from: number,
  to: number,
): Promise<boolean> {
  const sql = 'update user_group set owner_key = ? where key = ? and owner_key = ?'
  return (await tx.run(sql, to, key, from)) === 1
}

/** Deletes the group and its members. */
export async function deleteGroup(tx: Transaction, key: number): Promise<void> {
  await tx.run('delete from group_member where group_key = ?', key)
  await tx.run('delete from user_group where key = ?', key)
}

/** The groups an account owns, each with its next owner: administrators first, then by time of joining. */
export async function successorsOf(
  tx: Transaction,
  accountKey: number,
): Promise<{ groupKey: number; successorKey: number | undefined }[]> {
  const rows = await tx.all<{ key: number; heir: number | null }>(
    `select g.key, (select m.account_key from group_member m
       where m.group_key = g.key and m.account_key <> g.owner_key and m.held_by is null
       order by m.is_admin desc, m.joined_at, m.account_key limit 1) as heir
     from user_group g where g.owner_key = ?`,
    accountKey,
  )
  return rows.map(({ key, heir }) => ({ groupKey: key, successorKey: heir ?? undefined }))
}

export async function deleteMemberships(tx: Transaction, accountKey: number): Promise<void> {
  await tx.run('delete from group_member where account_key = ?', accountKey)
}

function toGroup(row: GroupRow): Group {
  return { key: row.key, name: row.name, ownerKey: row.owner_key, createdAt: row.created_at }
}

/** The rows of groups, for stores and transactions of other modules. */
export const groupRows = {
  findMany: findGroups,
  findMembership,
  ofMember: groupsOf,
  memberKeys,
  /** Group memberships in effect. */
  memberRelation: '(select group_key, account_key, is_admin from group_member where held_by is null)',
}
