import type { LibraryId } from '../../base/objects/index.ts'
import { type LibraryPath, ROOT } from '../../base/paths/index.ts'
import type { Permission } from '../../libraries/library/index.ts'
import type { LibraryInfo, LibraryRow, SubLibrary } from '../../libraries/registry/index.ts'
import { libraryRows } from '../../libraries/registry/index.ts'
import { viewRelation } from '../../libraries/views/index.ts'
import { groupRows } from '../../people/accounts/index.ts'
import type { Reader, Transaction, Value } from '../../platform/database/index.ts'
import type { Grant, Grantee } from './grant.ts'

/** A share as stored. */
export interface Share {
  readonly grantee: Grantee
  /** 0 for everyone. */
  readonly granteeKey: number
  readonly permission: Permission
  readonly isAdmin: boolean
  readonly grantedBy: number
  /** Unix seconds; undefined for never. */
  readonly expiresAt: number | undefined
  /** Whether it grants nothing until its recipient accepts it. */
  readonly isHeld?: boolean | undefined
}

/** Whether a share grants nothing any more. It stays listed for those who manage it, until it is deleted. */
export function isShareExpired({ expiresAt }: Pick<Share, 'expiresAt'>, now: number): boolean {
  return expiresAt !== undefined && expiresAt <= now
}

/** The shared item: a library, or the folder of one of its sub-libraries. */
export interface SharedItem {
  readonly libraryKey: number
  readonly subKey: number | undefined
}

/** A share with the library it is on. */
interface LibraryShare extends Share {
  /** The library, or for a folder the library that contains it. */
  readonly library: LibraryInfo
  readonly sub: SubLibrary | undefined
}

/** The account whose grants are read. */
interface Asking {
  readonly key: number
  /** Whether shares with everyone apply to the account. */
  readonly seesPublic: boolean
}

interface GrantRow {
  library_key: number
  grantee: Grantee
  grantee_key: number
  permission: Permission
  is_admin: number
  path: string | null
  sub_key: number | null
  expires_at: number | null
}

const GRANT = 's.library_key, s.grantee, s.grantee_key, s.permission, sub.path, s.sub_key, s.expires_at'
const TO_SUB = `left join ${viewRelation} sub on sub.key = s.sub_key`
/** Takes the time as a parameter. */
const IN_EFFECT = '(s.expires_at is null or s.expires_at > ?)'
const LIBRARIES_PER_QUERY = 500

/**
 * All grants of an account on libraries and their folders that have not expired, by library key. The time is
 * compared here and not in the query, so that the row cache can answer the query.
 */
export async function grantsOf(
  reader: Reader,
  { key, seesPublic }: Asking,
  libraryKeys: readonly number[],
  now: number,
): Promise<Map<number, Grant[]>> {
  const grants = new Map<number, Grant[]>()
  for (let start = 0; start < libraryKeys.length; start += LIBRARIES_PER_QUERY) {
    const some = libraryKeys.slice(start, start + LIBRARIES_PER_QUERY)
    const among = `s.library_key in (${some.map(() => '?').join(', ')})`
    const rows = await reader.all<GrantRow>(
      `select ${GRANT}, s.is_admin from share s ${TO_SUB}
       where s.grantee = 'user' and s.grantee_key = ? and s.is_held = 0 and ${among}
       union all
       select ${GRANT}, s.is_admin * m.is_admin from ${groupRows.memberRelation} m
       join share s on s.grantee = 'group' and s.grantee_key = m.group_key ${TO_SUB}
       where m.account_key = ? and ${among}
       union all
       select ${GRANT}, 0 from share s ${TO_SUB}
       where s.grantee = 'everyone' and s.grantee_key = 0 and 1 = ? and ${among}`,
      key,
      ...some,
      key,
      ...some,
      seesPublic ? 1 : 0,
      ...some,
    )
    for (const row of rows) {
      if (row.expires_at !== null && row.expires_at <= now) continue
      const known = grants.get(row.library_key)
      if (known === undefined) grants.set(row.library_key, [toGrant(row)])
      else known.push(toGrant(row))
    }
  }
  return grants
}

function toGrant(row: GrantRow): Grant {
  return {
    grantee: row.grantee,
    granteeKey: row.grantee_key,
    permission: row.permission,
    isAdmin: row.is_admin === 1,
    path: (row.path ?? ROOT) as LibraryPath,
    subKey: row.sub_key ?? undefined,
  }
}

/** All shares of one item, oldest first. */
export async function sharesOn(reader: Reader, item: SharedItem): Promise<Share[]> {
  const rows = await reader.all<ShareRow>(
    `select grantee, grantee_key, permission, is_admin, granted_by, expires_at, is_held from share
     where library_key = ? and coalesce(sub_key, 0) = ? order by created_at, grantee_key`,
    item.libraryKey,
    item.subKey ?? 0,
  )
  return rows.map(toShare)
}

/** Whether a view is shared now. */
export async function hasShares(reader: Reader, subKey: number, now: number): Promise<boolean> {
  const sql = `select 1 from share s where s.sub_key = ? and ${IN_EFFECT} limit 1`
  return (await reader.get(sql, subKey, now)) !== undefined
}

export async function findShare(
  reader: Reader,
  item: SharedItem,
  grantee: Grantee,
  granteeKey: number,
): Promise<Share | undefined> {
  const row = await reader.get<ShareRow>(
    `select grantee, grantee_key, permission, is_admin, granted_by, expires_at, is_held from share
     where library_key = ? and coalesce(sub_key, 0) = ? and grantee = ? and grantee_key = ?`,
    item.libraryKey,
    item.subKey ?? 0,
    grantee,
    granteeKey,
  )
  return row && toShare(row)
}

/** The number of shares that an account has made, with one grantee or in all. Expired ones count until they are deleted. */
export async function countSharesOf(
  reader: Reader,
  giverKey: number,
  grantee?: Pick<Share, 'grantee' | 'granteeKey'>,
): Promise<number> {
  const all = 'select count(*) as shares from share where granted_by = ?'
  const row =
    grantee === undefined
      ? await reader.get<{ shares: number }>(all, giverKey)
      : await reader.get<{ shares: number }>(
          `${all} and grantee = ? and grantee_key = ?`,
          giverKey,
          grantee.grantee,
          grantee.granteeKey,
        )
  return row?.shares ?? 0
}

/** False if it is already shared with the grantee. */
export async function insertShare(
  tx: Transaction,
  item: SharedItem,
  share: Share,
  now: number,
): Promise<boolean> {
  const columns = [
    'library_key',
    'sub_key',
    'grantee',
    'grantee_key',
    'permission',
    'is_admin',
    'granted_by',
    'created_at',
    'expires_at',
    'is_held',
  ]
  const row = [
    item.libraryKey,
    item.subKey ?? null,
    share.grantee,
    share.granteeKey,
    share.permission,
    share.isAdmin ? 1 : 0,
    share.grantedBy,
    now,
    share.expiresAt ?? null,
    share.isHeld === true ? 1 : 0,
  ]
  return (await tx.insertNew('share', columns, [row])) === 1
}

/** Whether an account has shared something with another that was not held, or was accepted. */
export async function hasSharedWith(reader: Reader, giverKey: number, accountKey: number): Promise<boolean> {
  const sql = `select 1 from share
     where granted_by = ? and grantee = 'user' and grantee_key = ? and is_held = 0 limit 1`
  return (await reader.get(sql, giverKey, accountKey)) !== undefined
}

/** The number of shares that wait for an account to accept them. */
export async function countHeldShares(reader: Reader, accountKey: number): Promise<number> {
  const sql = "select count(*) as held from share where grantee = 'user' and grantee_key = ? and is_held = 1"
  return (await reader.get<{ held: number }>(sql, accountKey))?.held ?? 0
}

/** Lets the held shares of a giver take effect. The number of shares that changed. */
export async function acceptShares(tx: Transaction, accountKey: number, giverKey: number): Promise<number> {
  const sql = `update share set is_held = 0
     where grantee = 'user' and grantee_key = ? and granted_by = ? and is_held = 1`
  return tx.run(sql, accountKey, giverKey)
}

/** Deletes the held shares of a giver. The number of shares that were deleted. */
export async function deleteHeldShares(
  tx: Transaction,
  accountKey: number,
  giverKey: number,
): Promise<number> {
  const sql = `delete from share
     where grantee = 'user' and grantee_key = ? and granted_by = ? and is_held = 1`
  return tx.run(sql, accountKey, giverKey)
}

/** False if there is no such share. */
export async function updateShare(
  tx: Transaction,
  item: SharedItem,
  share: Omit<Share, 'grantedBy'>,
): Promise<boolean> {
  const changed = await tx.run(
    `update share set permission = ?, is_admin = ?, expires_at = ?
     where library_key = ? and coalesce(sub_key, 0) = ? and grantee = ? and grantee_key = ?`,
    share.permission,
    share.isAdmin ? 1 : 0,
    share.expiresAt ?? null,
    item.libraryKey,
    item.subKey ?? 0,
    share.grantee,
    share.granteeKey,
  )
  return changed === 1
}

/** False if there was none. */
export async function deleteShare(
  tx: Transaction,
  item: SharedItem,
  grantee: Grantee,
  granteeKey: number,
): Promise<boolean> {
  const changed = await tx.run(
    `delete from share
     where library_key = ? and coalesce(sub_key, 0) = ? and grantee = ? and grantee_key = ?`,
    item.libraryKey,
    item.subKey ?? 0,
    grantee,
    granteeKey,
  )
  return changed === 1
}

/** Deletes shares that expired before a time. */
export async function deleteSharesExpiredBefore(tx: Transaction, time: number): Promise<number> {
  return tx.run('delete from share where expires_at <= ?', time)
}

/** Selects shares together with their libraries. */
export type ShareQuery =
  | { readonly to: 'user' | 'group'; readonly keys: readonly number[] }
  | { readonly to: 'everyone' }
  | { readonly ownedBy: number }
  | { readonly heldFor: number }

/** Shares of libraries that are not deleted, with the libraries, most recently changed first. */
export async function librarySharesOf(reader: Reader, query: ShareQuery): Promise<LibraryShare[]> {
  if ('keys' in query && query.keys.length === 0) return []
  const { condition, values } = conditionOf(query)
  const rows = await reader.all<LibraryRow & SharedColumns>(
    `select l.*, s.grantee as share_to, s.grantee_key as share_to_key, s.permission as share_permission,
       s.is_admin as share_admin, s.granted_by as share_by, s.expires_at as share_expires_at,
       sub.key as sub_key, sub.id as sub_id, sub.path as sub_path, sub.since_seq as sub_since,
       sub.is_file as sub_is_file
     from share s join ${libraryRows.wholeRelation} l on l.key = s.library_key ${TO_SUB}
     where l.deleted_at is null and ${condition}
     order by l.updated_at desc, l.key desc, s.created_at, s.grantee_key`,
    ...values,
  )
  return rows.map((row) => ({
    grantee: row.share_to,
    granteeKey: row.share_to_key,
    permission: row.share_permission,
    isAdmin: row.share_admin === 1,
    grantedBy: row.share_by,
    expiresAt: row.share_expires_at ?? undefined,
    library: libraryRows.read(row),
    sub: subOf(row),
  }))
}

/** Total bytes of the libraries shared as a whole with each group, by group key. */
export async function sizesSharedWith(
  reader: Reader,
  groupKeys: readonly number[],
  now: number,
): Promise<Map<number, number>> {
  const sizes = new Map<number, number>()
  for (let start = 0; start < groupKeys.length; start += 500) {
    const some = groupKeys.slice(start, start + 500)
    const rows = await reader.all<{ group_key: number; size: number | string }>(
      `select s.grantee_key as group_key, sum(l.size) as size
       from share s join ${libraryRows.relation} l on l.key = s.library_key ${TO_SUB}
       where s.grantee = 'group' and s.grantee_key in (${some.map(() => '?').join(', ')})
         and sub.key is null and l.deleted_at is null and ${IN_EFFECT}
       group by s.grantee_key`,
      ...some,
      now,
    )
    // PostgreSQL sums bigint as numeric, which arrives as text.
    for (const { group_key, size } of rows) sizes.set(group_key, Number(size))
  }
  return sizes
}

function conditionOf(query: ShareQuery): { condition: string; values: Value[] } {
  if ('ownedBy' in query) return { condition: 'l.owner_key = ?', values: [query.ownedBy] }
  if ('heldFor' in query) {
    return {
      condition: "s.grantee = 'user' and s.grantee_key = ? and s.is_held = 1",
      values: [query.heldFor],
    }
  }
  if (query.to === 'everyone') return { condition: "s.grantee = 'everyone'", values: [] }
  const marks = query.keys.map(() => '?').join(', ')
  const condition = `s.grantee = ? and s.grantee_key in (${marks}) and s.is_held = 0`
  return { condition, values: [query.to, ...query.keys] }
}

interface SharedColumns {
  share_to: Grantee
  share_to_key: number
  share_permission: Permission
  share_admin: number
  share_by: number
  share_expires_at: number | null
  sub_key: number | null
  sub_id: string | null
  sub_path: string | null
  sub_since: number | null
  sub_is_file: number | null
}

function subOf(row: LibraryRow & SharedColumns): SubLibrary | undefined {
  if (row.sub_key === null) return undefined
  return {
    key: row.sub_key,
    id: row.sub_id as LibraryId,
    libraryKey: row.key,
    path: row.sub_path as LibraryPath,
    sinceSeq: row.sub_since ?? 0,
    isFile: row.sub_is_file === 1,
    // Folders of encrypted libraries are not shared.
    passwordCheck: undefined,
  }
}

/**
 * Keys of the accounts that a library, or a folder at or above a path, is shared with, directly or through
 * groups.
 */
export async function accountsReading(
  reader: Reader,
  libraryKey: number,
  subKeys: readonly number[],
  now: number,
): Promise<number[]> {
  const among = `coalesce(s.sub_key, 0) in (${[0, ...subKeys].map(() => '?').join(', ')})`
  const keys = [0, ...subKeys]
  const rows = await reader.all<{ account_key: number }>(
    `select s.grantee_key as account_key from share s
     where s.library_key = ? and s.grantee = 'user' and s.is_held = 0 and ${among} and ${IN_EFFECT}
     union
     select m.account_key from share s join ${groupRows.memberRelation} m on m.group_key = s.grantee_key
     where s.library_key = ? and s.grantee = 'group' and ${among} and ${IN_EFFECT}`,
    libraryKey,
    ...keys,
    now,
    libraryKey,
    ...keys,
    now,
  )
  return rows.map((row) => row.account_key)
}

/** The paths of the folders and files of a library that are shared, with the expiry of each share. */
export async function listSharedPaths(
  reader: Reader,
  libraryKey: number,
): Promise<{ path: LibraryPath; expiresAt: number | undefined }[]> {
  const rows = await reader.all<{ path: string; expires_at: number | null }>(
    `select sub.path, s.expires_at from share s join ${viewRelation} sub on sub.key = s.sub_key
     where s.library_key = ?`,
    libraryKey,
  )
  return rows.map((row) => ({ path: row.path as LibraryPath, expiresAt: row.expires_at ?? undefined }))
}

/** A share and the path that it is on. */
export interface PlacedShare extends Share {
  readonly path: LibraryPath
  /** Unix seconds. */
  readonly createdAt: number
  /** Where it is among the shares of its library. */
  readonly cursor: readonly [subKey: number, grantee: string, granteeKey: number]
}

/** A page of the shares of a library and of everything in it, after the one with this cursor. Expired ones too. */
export async function listSharesIn(
  reader: Reader,
  libraryKey: number,
  { after = [-1, '', 0], limit }: { after: PlacedShare['cursor'] | undefined; limit: number },
): Promise<PlacedShare[]> {
  const place = 'coalesce(s.sub_key, 0)'
  const rows = await reader.all<
    ShareRow & { path: string | null; created_at: number; place: number; grantee_key: number }
  >(
    `select s.grantee, s.grantee_key, s.permission, s.is_admin, s.granted_by, s.expires_at, s.is_held, s.created_at,
       sub.path, ${place} as place
     from share s ${TO_SUB} where s.library_key = ? and (${place}, s.grantee, s.grantee_key) > (?, ?, ?)
     order by ${place}, s.grantee, s.grantee_key limit ?`,
    libraryKey,
    ...after,
    limit,
  )
  return rows.map((row) => ({
    ...toShare(row),
    path: (row.path ?? ROOT) as LibraryPath,
    createdAt: row.created_at,
    cursor: [row.place, row.grantee, row.grantee_key] as const,
  }))
}

/** The number of shares in effect of each library of an owner: of the whole library, and of folders and files in it. */
export async function countSharesByLibrary(
  reader: Reader,
  ownerKey: number,
  now: number,
): Promise<{ id: LibraryId; whole: number; inside: number }[]> {
  const rows = await reader.all<{ id: string; whole: number | string; inside: number | string }>(
    `select l.id, sum(case when s.sub_key is null then 1 else 0 end) as whole,
       sum(case when s.sub_key is null then 0 else 1 end) as inside
     from share s join ${libraryRows.relation} l on l.key = s.library_key
     where l.owner_key = ? and l.deleted_at is null and ${IN_EFFECT} group by l.id`,
    ownerKey,
    now,
  )
  // PostgreSQL sums bigint as numeric, which arrives as text.
  return rows.map(({ id, whole, inside }) => ({
    id: id as LibraryId,
    whole: Number(whole),
    inside: Number(inside),
  }))
}

/** Keys of the accounts that a library or any folder of it is shared with, directly or through groups. */
async function accountsSharing(reader: Reader, libraryKey: number): Promise<number[]> {
  const rows = await reader.all<{ account_key: number }>(
    `select grantee_key as account_key from share where library_key = ? and grantee = 'user' and is_held = 0
     union
     select m.account_key from share s join ${groupRows.memberRelation} m on m.group_key = s.grantee_key
     where s.library_key = ? and s.grantee = 'group'`,
    libraryKey,
    libraryKey,
  )
  return rows.map((row) => row.account_key)
}

interface ShareRow {
  grantee: Grantee
  grantee_key: number
  permission: Permission
  is_admin: number
  granted_by: number
  expires_at: number | null
  is_held: number
}

function toShare(row: ShareRow): Share {
  return {
    grantee: row.grantee,
    granteeKey: row.grantee_key,
    permission: row.permission,
    isAdmin: row.is_admin === 1,
    grantedBy: row.granted_by,
    expiresAt: row.expires_at ?? undefined,
    isHeld: row.is_held === 1,
  }
}

/** Rows of shares that other modules read and write in their transactions. */
export const shareRows = { insert: insertShare, listAccounts: accountsSharing }
