import type { LibraryId } from '../../base/objects/index.ts'
import { baseName, joinPath, type LibraryPath, pathKey, ROOT, seenFrom } from '../../base/paths/index.ts'
import { libraryRows } from '../../libraries/registry/index.ts'
import { viewRelation } from '../../libraries/views/index.ts'
import { accountRows } from '../../people/accounts/index.ts'
import type { Reader, Transaction, Value } from '../../platform/database/index.ts'
import type { FileRequest, Link, LinkKind, LinkScope } from './link.ts'

interface LinkRow {
  key: number
  token: string
  kind: LinkKind
  account_key: number
  library_key: number
  sub_key: number | null
  sub_id: string | null
  sub_path: string | null
  path: string
  is_dir: number
  is_gone: number
  password: Uint8Array | null
  expires_at: number | null
  can_edit: number
  can_download: number
  can_upload: number
  scope: LinkScope
  emails: string
  description: string
  request: string | null
  views: number
  active: number
  epoch: number
  scoped_token_key: number | null
  created_at: number
  creator: string
  library_id: string
  library_name: string
}

// Links are deleted with their library or account, so inner joins lose none.
const SELECT = `select k.key, k.token, k.kind, k.account_key, k.library_key, k.sub_key, k.path, k.is_dir,
    case when k.path_key is null then 1 else 0 end as is_gone, k.password, k.expires_at, k.can_edit, k.can_download,
    k.can_upload, k.scope, k.emails, k.description, k.request, k.views, k.active, k.epoch,
    k.scoped_token_key, k.created_at,
    a.email as creator, l.id as library_id, l.name as library_name, sub.id as sub_id, sub.path as sub_path
  from link k join ${accountRows.briefRelation} a on a.key = k.account_key
  join ${libraryRows.relation} l on l.key = k.library_key left join ${viewRelation} sub on sub.key = k.sub_key`

/** Selects links; omitted fields match every link. */
interface LinkFilter {
  readonly kind?: LinkKind
  readonly accountKey?: number
  readonly libraryKey?: number
  /** Only links created in this sub-library. 0: only those created in none. */
  readonly subKey?: number
  /** Only links with this current path, as a path of the library, not of the sub-library. */
  readonly place?: LibraryPath | undefined
}

/** Oldest first. */
export async function listLinks(reader: Reader, filter: LinkFilter): Promise<Link[]> {
  const wanted: [sql: string, value: Value | undefined][] = [
    ['k.kind = ?', filter.kind],
    ['k.account_key = ?', filter.accountKey],
    ['k.library_key = ?', filter.libraryKey],
    ['coalesce(k.sub_key, 0) = ?', filter.subKey],
    ['k.path_key = ?', filter.place && pathKey(filter.place)],
  ]
  const given = wanted.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]))
  const rows = await reader.all<LinkRow>(
    `${SELECT} where ${['l.deleted_at is null', ...given.map(({ sql }) => sql)].join(' and ')}
     order by k.created_at, k.key`,
    ...given.map(({ value }) => value),
  )
  return rows.map(toLink)
}

/** A page of all links, newest first. */
export async function listAllLinks(
  reader: Reader,
  kind: LinkKind,
  { limit, offset }: { limit: number; offset: number },
): Promise<Link[]> {
  const sql = `${SELECT} where k.kind = ? and l.deleted_at is null order by k.key desc limit ? offset ?`
  return (await reader.all<LinkRow>(sql, kind, limit, offset)).map(toLink)
}

export async function countAllLinks(reader: Reader, kind: LinkKind): Promise<number> {
  const sql = `select count(*) as links from link k join ${libraryRows.relation} l on l.key = k.library_key
    where k.kind = ? and l.deleted_at is null`
  return (await reader.get<{ links: number }>(sql, kind))?.links ?? 0
}

export async function findLink(reader: Reader, token: string): Promise<Link | undefined> {
  const sql = `${SELECT} where k.token = ? and l.deleted_at is null`
  const row = await reader.get<LinkRow>(sql, token)
  return row && toLink(row)
}

/** Whether a link has the token, also one of a deleted library. */
export async function findLinkToken(reader: Reader, token: string): Promise<boolean> {
  return (await reader.get('select 1 as found from link where token = ?', token)) !== undefined
}

/** Whether a link is active, and its epoch. Undefined if it does not exist. */
export async function findLinkState(
  reader: Reader,
  key: number,
): Promise<{ isActive: boolean; epoch: number } | undefined> {
  const row = await reader.get<{ active: number; path_key: Uint8Array | null; epoch: number }>(
    'select active, path_key, epoch from link where key = ?',
    key,
  )
  return row && { isActive: row.active === 1 && row.path_key !== null, epoch: row.epoch }
}

/** The paths of items of a library that have a link which works, unless the library has more than `most` links. */
export async function listLinkedPaths(
  reader: Reader,
  libraryKey: number,
  now: number,
  most: number,
): Promise<LibraryPath[]> {
  const rows = await reader.all<{ path: string; expires_at: number | null; active: number; gone: number }>(
    `select path, expires_at, active, case when path_key is null then 1 else 0 end as gone
     from link where library_key = ? limit ?`,
    libraryKey,
    most + 1,
  )
  if (rows.length > most) return []
  const working = rows.filter(
    (row) => row.active === 1 && row.gone === 0 && (row.expires_at ?? Number.MAX_SAFE_INTEGER) > now,
  )
  return working.map((row) => row.path as LibraryPath)
}

/** A page of the links of a library that are active and whose item exists, oldest first, after the link with this key. Expired ones too. */
export async function listLinksIn(
  reader: Reader,
  libraryKey: number,
  { after, limit }: { after: number; limit: number },
): Promise<Link[]> {
  const rows = await reader.all<LinkRow>(
    `${SELECT} where k.library_key = ? and k.key > ? and k.active = 1 and k.path_key is not null
     and l.deleted_at is null order by k.key limit ?`,
    libraryKey,
    after,
    limit,
  )
  return rows.map(toLink)
}

/** The number of working links of each library of an owner, whoever created them. */
export async function countLinksByLibrary(
  reader: Reader,
  ownerKey: number,
  now: number,
): Promise<{ id: LibraryId; links: number }[]> {
  const rows = await reader.all<{ id: string; links: number }>(
    `select l.id, count(*) as links from link k join ${libraryRows.relation} l on l.key = k.library_key
     where l.owner_key = ? and l.deleted_at is null and k.active = 1 and k.path_key is not null
       and (k.expires_at is null or k.expires_at > ?) group by l.id`,
    ownerKey,
    now,
  )
  return rows.map(({ id, links }) => ({ id: id as LibraryId, links }))
}

export async function countLinks(reader: Reader, libraryKey: number): Promise<number> {
  const sql = 'select count(*) as links from link where library_key = ?'
  return (await reader.get<{ links: number }>(sql, libraryKey))?.links ?? 0
}

const COLUMNS = [
  'token',
  'kind',
  'account_key',
  'library_key',
  'sub_key',
  'path_key',
  'path',
  'is_dir',
  'password',
  'expires_at',
  'can_edit',
  'can_download',
  'can_upload',
  'scope',
  'emails',
  'description',
  'request',
  'views',
  'active',
  'scoped_token_key',
  'created_at',
]

/** A link to be inserted. */
export type NewLink = Omit<
  Link,
  'key' | 'path' | 'isGone' | 'views' | 'active' | 'epoch' | 'creator' | 'libraryId' | 'libraryName'
>

export async function insertLink(tx: Transaction, link: NewLink, views = 0): Promise<void> {
  const { rights } = link
  const row = [
    link.token,
    link.kind,
    link.accountKey,
    link.libraryKey,
    link.subKey ?? null,
    pathKey(link.place),
    link.place,
    bit(link.isDir),
    link.password ?? null,
    link.expiresAt ?? null,
    bit(rights.canEdit),
    bit(rights.canDownload),
    bit(rights.canUpload),
    link.scope,
    JSON.stringify(link.emails),
    link.description,
    requestText(link),
    views,
    1,
    link.scopedTokenKey ?? null,
    link.createdAt,
  ]
  await tx.insert('link', COLUMNS, [row])
}

/** Writes the changeable columns of a link and revokes its tickets, which were issued under other terms. */
export async function updateLink(tx: Transaction, link: Link): Promise<void> {
  const { rights } = link
  await tx.run(
    `update link set expires_at = ?, can_edit = ?, can_download = ?, can_upload = ?, scope = ?, emails = ?,
       description = ?, request = ?, active = ?, password = ?, epoch = epoch + 1 where key = ?`,
    link.expiresAt ?? null,
    bit(rights.canEdit),
    bit(rights.canDownload),
    bit(rights.canUpload),
    link.scope,
    JSON.stringify(link.emails),
    link.description,
    requestText(link),
    bit(link.active),
    link.password ?? null,
    link.key,
  )
}

/** Revokes all tickets of the link. */
export async function deleteTicketsOfLink(tx: Transaction, key: number): Promise<void> {
  await tx.run('delete from ticket where link_key = ?', key)
}

/** Deletes the link and its tickets. */
export async function deleteLink(tx: Transaction, key: number): Promise<void> {
  await tx.run('delete from link where key = ?', key)
}

export async function addView(tx: Transaction, key: number): Promise<void> {
  await tx.run('update link set views = views + 1 where key = ?', key)
}

function bit(value: boolean): number {
  return value ? 1 : 0
}

function requestText({ request }: Pick<Link, 'request'>): string | null {
  return request === undefined ? null : JSON.stringify(request)
}

function toLink(row: LinkRow): Link {
  const place = row.path as LibraryPath
  const base = row.sub_path as LibraryPath | null
  const seen = base === null ? place : seenFrom(base, place)
  return {
    key: row.key,
    token: row.token,
    kind: row.kind,
    accountKey: row.account_key,
    libraryKey: row.library_key,
    subKey: row.sub_key ?? undefined,
    place,
    // An item moved out of the sub-library shows only its name: its new path must not be revealed to the
    // creator.
    path: seen ?? joinPath(ROOT, baseName(place)),
    isDir: row.is_dir === 1,
    isGone: row.is_gone === 1 || seen === undefined,
    password: row.password ?? undefined,
    expiresAt: row.expires_at ?? undefined,
    rights: {
      canEdit: row.can_edit === 1,
      canDownload: row.can_download === 1,
      canUpload: row.can_upload === 1,
    },
    scope: row.scope,
    emails: JSON.parse(row.emails) as string[],
    description: row.description,
    request: row.request === null ? undefined : (JSON.parse(row.request) as FileRequest),
    views: row.views,
    active: row.active === 1,
    epoch: row.epoch,
    scopedTokenKey: row.scoped_token_key ?? undefined,
    createdAt: row.created_at,
    creator: row.creator,
    libraryId: (row.sub_id ?? row.library_id) as LibraryId,
    libraryName: base === null ? row.library_name : baseName(base),
  }
}

/** The encrypted passwords of all links. */
export async function listLinkPasswords(
  reader: Reader,
): Promise<{ key: number; token: string; password: Uint8Array }[]> {
  return reader.all('select key, token, password from link where password is not null order by key')
}

/** As setLinkPassword, unless the password was changed meanwhile. */
export async function replaceLinkPassword(
  tx: Transaction,
  { key, password }: Pick<Link, 'key' | 'password'>,
  replacement: Uint8Array,
): Promise<void> {
  await tx.run(
    'update link set password = ? where key = ? and password = ?',
    replacement,
    key,
    password ?? null,
  )
}

/** Replaces the ciphertext only. Tickets stay valid. */
export async function setLinkPassword(tx: Transaction, key: number, password: Uint8Array): Promise<void> {
  await tx.run('update link set password = ? where key = ?', password, key)
}
