import {
  type CommitId,
  type DirId,
  EMPTY_ID,
  idFromBytes,
  idToBytes,
  type LibraryId,
  newLibraryId,
} from '../../base/objects/index.ts'
import { type MaybePromise, whenReady } from '../../base/scheduling/index.ts'
import type { Dialect, Reader, Transaction, Value } from '../../platform/database/index.ts'
import type { LibraryEncryption } from '../content/index.ts'
import { objectRows } from '../tree/index.ts'
import type { LibraryInfo, LibraryName, LibraryStatus, LibrarySummary } from './library-info.ts'
import { fileSizeSum } from './relations.ts'

/** All columns of a library row. */
export interface LibraryRow {
  key: number
  id: string
  owner_key: number
  name: string
  description: string
  head: Uint8Array
  head_seq: number
  root: Uint8Array
  size: number
  file_count: number
  updated_at: number
  modifier: string
  modifier_via_link: number
  status: number
  enc_version: number
  magic: string
  random_key: string
  salt: string
  pwd_hash: string
  pwd_hash_algo: string
  pwd_hash_params: string
  history_days: number | null
  valid_since_seq: number
  created_at: number
  deleted_at: number | null
  epoch: number
  objects_epoch: number
}

/** A library to be inserted. */
interface NewLibrary {
  readonly id: LibraryId
  readonly ownerKey: number
  readonly name: string
  readonly description: string
  readonly head: CommitId
  readonly root: DirId
  readonly createdAt: number
  readonly modifier: string
  readonly encryption: LibraryEncryption | undefined
  readonly historyDays: number | null
}

/** The columns that change together with a head (I2). */
interface HeadMove {
  readonly key: number
  readonly from: CommitId
  readonly to: CommitId
  readonly seq: number
  readonly root: DirId
  readonly size: number
  readonly fileCount: number
  readonly at: number
  readonly modifier: string
  readonly modifierViaLink: boolean
}

/**
 * By its key if that is known: the row cache then has the row for those who ask by id and by key. A key can belong to another library in another
 * database, so the row decides.
 */
export function findLibrary(reader: Reader, id: LibraryId): MaybePromise<LibraryInfo | undefined> {
  const key = keys.get(id)
  if (key === undefined) return findLibraryById(reader, id)
  return whenReady(findLibraryByKey(reader, key), (found) =>
    found?.id === id ? found : findLibraryById(reader, id),
  )
}

function findLibraryById(reader: Reader, id: LibraryId): MaybePromise<LibraryInfo | undefined> {
  const finding = one(reader, 'select * from library where id = ? and deleted_at is null', id)
  return whenReady(finding, (found) => {
    if (found === undefined) return undefined
    if (keys.size >= MAX_KEYS) keys.clear()
    keys.set(id, found.key)
    return found
  })
}

const MAX_KEYS = 10_000
/** Keys of libraries by id. */
const keys = new Map<LibraryId, number>()

export function findLibraryByKey(reader: Reader, key: number): MaybePromise<LibraryInfo | undefined> {
  return one(reader, 'select * from library where key = ? and deleted_at is null', key)
}

/** The key of a library, also of a deleted one. */
export async function findLibraryKey(reader: Reader, id: LibraryId): Promise<number | undefined> {
  return (await reader.get<{ key: number }>('select key from library where id = ?', id))?.key
}

/** By key, including deleted libraries. */
export async function findLibraryWithDeleted(reader: Reader, key: number): Promise<LibraryInfo | undefined> {
  return one(reader, 'select * from library where key = ? and (deleted_at is null or deleted_at > 0)', key)
}

/** Those of `ids` that exist, unordered. */
export async function findLibraries(reader: Reader, ids: readonly LibraryId[]): Promise<LibraryInfo[]> {
  const [first] = ids
  if (first !== undefined && ids.length === 1) {
    // The statement of findLibrary, so that the row cache has the row when the library is opened again or committed to.
    const only = await findLibrary(reader, first)
    return only === undefined ? [] : [only]
  }
  const found: LibraryInfo[] = []
  for (let start = 0; start < ids.length; start += 500) {
    const some = ids.slice(start, start + 500)
    const rows = await reader.all<LibraryRow>(
      `select * from library where deleted_at is null and id in (${some.map(() => '?').join(', ')})`,
      ...some,
    )
    for (const row of rows) found.push(libraryFromRow(row))
  }
  return found
}

export async function findDeletedLibrary(reader: Reader, id: LibraryId): Promise<LibraryInfo | undefined> {
  return one(reader, 'select * from library where id = ? and deleted_at > 0', id)
}

type LibraryNameRow = Pick<LibraryRow, 'key' | 'id' | 'name' | 'status' | 'enc_version'>

/** Most recently changed first. */
export async function listLibrariesOf(reader: Reader, ownerKey: number): Promise<LibrarySummary[]> {
  const rows = await reader.all<
    LibraryNameRow &
      Pick<LibraryRow, 'head' | 'size' | 'updated_at' | 'modifier' | 'modifier_via_link' | 'salt'>
  >(
    `select key, id, name, head, size, updated_at, modifier, modifier_via_link, status, enc_version, salt from library
     where owner_key = ? and deleted_at is null order by updated_at desc, key desc`,
    ownerKey,
  )
  return rows.map((row) => ({
    key: row.key,
    id: row.id as LibraryId,
    name: row.name,
    head: idFromBytes<CommitId>(row.head),
    size: row.size,
    updatedAt: row.updated_at,
    modifier: row.modifier,
    modifierViaLink: row.modifier_via_link === 1,
    status: statusOf(row),
    encrypted: row.enc_version !== 0,
    salt: row.salt,
  }))
}

/** As listLibrariesOf, with identifying columns only; limited to `among` if given. */
export async function listLibraryNamesOf(
  reader: Reader,
  ownerKey: number,
  among?: readonly number[],
): Promise<LibraryName[]> {
  const only = among === undefined ? '' : `and key in (${among.map(() => '?').join(', ')})`
  const rows = await reader.all<LibraryNameRow>(
    `select key, id, name, status, enc_version from library
     where owner_key = ? and deleted_at is null ${only} order by updated_at desc, key desc`,
    ownerKey,
    ...(among ?? []),
  )
  return rows.map((row) => ({
    key: row.key,
    id: row.id as LibraryId,
    name: row.name,
    status: statusOf(row),
    encrypted: row.enc_version !== 0,
  }))
}

/**
 * The keys of an account's libraries, aggregated into one text. Cheaper for accounts with a thousand
 * libraries.
 */
export async function listLibraryKeysOf(reader: Reader, ownerKey: number): Promise<number[]> {
  const row = await reader.get<{ keys: string | null }>(
    "select string_agg(cast(key as text), ',') as keys from library where owner_key = ? and deleted_at is null",
    ownerKey,
  )
  return row?.keys ? row.keys.split(',').map(Number) : []
}

/** As listLibrariesOf, with all columns. */
export async function listAllLibrariesOf(reader: Reader, ownerKey: number): Promise<LibraryInfo[]> {
  const sql =
    'select * from library where owner_key = ? and deleted_at is null order by updated_at desc, key desc'
  return (await reader.all<LibraryRow>(sql, ownerKey)).map(libraryFromRow)
}

/** The head of a library. */
export interface LibraryHead {
  readonly key: number
  readonly id: LibraryId
  readonly head: CommitId
  readonly headSeq: number
}

/** A page of all libraries that are not deleted, ordered by key. */
export async function listLibraryHeads(
  reader: Reader,
  afterKey: number,
  limit: number,
): Promise<LibraryHead[]> {
  const rows = await reader.all<{ key: number; id: string; head: Uint8Array; head_seq: number }>(
    `select key, id, head, head_seq from library
     where key > ? and deleted_at is null order by key limit ?`,
    afterKey,
    limit,
  )
  return rows.map((row) => ({
    key: row.key,
    id: row.id as LibraryId,
    head: idFromBytes<CommitId>(row.head),
    headSeq: row.head_seq,
  }))
}

/**
 * A page of all libraries that are not deleted, ordered by key: their roots, and whether the folders below
 * are counted.
 */
export async function listRootsAfter(
  reader: Reader,
  afterKey: number,
  limit: number,
): Promise<{ key: number; root: DirId; isCounted: boolean }[]> {
  const rows = await reader.all<{ key: number; root: Uint8Array; uncounted: Uint8Array | null }>(
    `select l.key, l.root, f.id as uncounted from library l
       left join ${objectRows.relation} f on f.library_key = l.key and f.id = l.root and f.dir_count is null
     where l.key > ? and l.deleted_at is null order by l.key limit ?`,
    afterKey,
    limit,
  )
  return rows.map(({ key, root, uncounted }) => ({
    key,
    root: idFromBytes<DirId>(root),
    isCounted: uncounted === null,
  }))
}

/** Owner account keys by library key. Libraries whose owner was removed are omitted. */
export async function findOwnerKeys(reader: Reader, keys: readonly number[]): Promise<Map<number, number>> {
  if (keys.length === 0) return new Map()
  const sql = `select key, owner_key from library where key in (${keys.map(() => '?').join(', ')})`
  const rows = await reader.all<{ key: number; owner_key: number }>(sql, ...keys)
  return new Map(rows.map((row) => [row.key, row.owner_key]))
}

/** The existing library keys in a range, deleted libraries included. */
export async function listLibraryKeys(reader: Reader, afterKey: number, upToKey: number): Promise<number[]> {
  const sql = 'select key from library where key > ? and key <= ?'
  return (await reader.all<{ key: number }>(sql, afterKey, upToKey)).map(({ key }) => key)
}

/** A page of the keys of all libraries after a key, deleted ones included. */
export async function listAllLibraryKeys(reader: Reader, afterKey: number, limit: number): Promise<number[]> {
  const sql = 'select key from library where key > ? order by key limit ?'
  return (await reader.all<{ key: number }>(sql, afterKey, limit)).map(({ key }) => key)
}

/** Repair: corrects the sums of a library, unless its head has moved since. */
export async function setLibrarySums(
  tx: Transaction,
  key: number,
  root: DirId,
  sums: { readonly size: number; readonly fileCount: number },
): Promise<void> {
  const sql = 'update library set size = ?, file_count = ? where key = ? and root = ?'
  await tx.run(sql, sums.size, sums.fileCount, key, idToBytes(root))
}

/** Most recently deleted first. */
export async function listDeletedLibrariesOf(reader: Reader, ownerKey: number): Promise<LibraryInfo[]> {
  const rows = await reader.all<LibraryRow>(
    'select * from library where owner_key = ? and deleted_at > 0 order by deleted_at desc, key desc',
    ownerKey,
  )
  return rows.map(libraryFromRow)
}

/** Unix time of the most recent change of any library; 0 if there is none. */
export async function newestChange(reader: Reader): Promise<number> {
  const row = await reader.get<{ at: number | null }>('select max(updated_at) as at from library')
  return row?.at ?? 0
}

/** The file size of all libraries of an owner. */
export async function usageOf(reader: Reader, ownerKey: number): Promise<number> {
  const row = await reader.get<{ used: number | string | null }>(
    `select ${fileSizeSum} as used from library where owner_key = ? and deleted_at is null`,
    ownerKey,
  )
  // PostgreSQL sums bigint as numeric, which arrives as text.
  return Number(row?.used ?? 0)
}

/** The file size by owner key. Owners without libraries are omitted. */
export async function usageOfMany(
  reader: Reader,
  ownerKeys: readonly number[],
): Promise<Map<number, number>> {
  if (ownerKeys.length === 0) return new Map()
  const rows = await reader.all<{ owner_key: number; used: number | string }>(
    `select owner_key, ${fileSizeSum} as used from library
     where deleted_at is null and owner_key in (${ownerKeys.map(() => '?').join(', ')}) group by owner_key`,
    ...ownerKeys,
  )
  return new Map(rows.map((row) => [row.owner_key, Number(row.used)]))
}

/** Resolves to the key of the new library, or undefined if the id is taken, also by a deleted library. */
export async function insertLibrary(tx: Transaction, library: NewLibrary): Promise<number | undefined> {
  const { encryption } = library
  const row = await tx.get<{ key: number }>(
    `insert into library (id, owner_key, name, description, head, head_seq, root, size, file_count,
       updated_at, modifier, enc_version, magic, random_key, salt, pwd_hash, pwd_hash_algo, pwd_hash_params,
       history_days, created_at)
     values (?, ?, ?, ?, ?, 1, ?, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     on conflict (id) do nothing returning key`,
    library.id,
    library.ownerKey,
    library.name,
    library.description,
    idToBytes(library.head),
    idToBytes(library.root),
    library.createdAt,
    library.modifier,
    encryption?.version ?? 0,
    encryption?.magic ?? '',
    encryption?.randomKey ?? '',
    encryption?.salt ?? '',
    encryption?.pwdHash ?? '',
    encryption?.pwdHashAlgo ?? '',
    encryption?.pwdHashParams ?? '',
    library.historyDays,
    library.createdAt,
  )
  return row?.key
}

/** The owner of a library whose head moved, and the account's own quota; null if there is no account. */
interface MovedHead {
  readonly ownerKey: number
  readonly quota: number | null
}

/**
 * Undefined if the head has moved since, or the library was deleted (I2). `quotaOf` is the SQL expression for the quota of an account, given the column with its
 * key: found together with the owner, because every commit needs both.
 */
export async function moveHead(
  tx: Transaction,
  move: HeadMove,
  quotaOf: (owner: string) => string,
  dialect: Dialect,
): Promise<MovedHead | undefined> {
  const update = `update library set head = ?, head_seq = ?, root = ?, size = ?, file_count = ?, updated_at = ?, modifier = ?,
       modifier_via_link = ?
     where key = ? and head = ? and deleted_at is null`
  const parameters = [
    idToBytes(move.to),
    move.seq,
    idToBytes(move.root),
    move.size,
    move.fileCount,
    move.at,
    move.modifier,
    move.modifierViaLink ? 1 : 0,
    move.key,
    idToBytes(move.from),
  ]
  const found = `owner_key as "ownerKey", ${quotaOf('library.owner_key')} as quota`
  if (dialect === 'postgres') return tx.get<MovedHead>(`${update} returning ${found}`, ...parameters)
  // To return rows SQLite makes a temporary table, whose pages it allocates each time. That takes several times as long as a second statement.
  if ((await tx.run(update, ...parameters)) === 0) return undefined
  return tx.get<MovedHead>(`select ${found} from library where key = ?`, move.key)
}

/** Locks the head until the end of the transaction. False if it is not `head` any more. */
export async function holdHead(tx: Transaction, key: number, head: CommitId): Promise<boolean> {
  const sql = 'update library set head = head where key = ? and head = ? and deleted_at is null'
  return (await tx.run(sql, key, idToBytes(head))) === 1
}

export async function setLibraryText(
  tx: Transaction,
  key: number,
  name: string,
  description: string,
): Promise<void> {
  await tx.run('update library set name = ?, description = ? where key = ?', name, description, key)
}

/** Stores the values derived from a new password. The version and the salt never change. */
export async function setEncryption(
  tx: Transaction,
  key: number,
  { magic, randomKey, pwdHash }: LibraryEncryption,
): Promise<void> {
  const sql = 'update library set magic = ?, random_key = ?, pwd_hash = ? where key = ?'
  await tx.run(sql, magic, randomKey, pwdHash, key)
}

/** Files and folders in the libraries of an owner. */
export async function entriesOf(reader: Reader, ownerKey: number): Promise<number> {
  const row = await reader.get<{ entries: number | null }>(
    `select sum(l.file_count + coalesce(o.dir_count, 0)) as entries from library l
       left join ${objectRows.relation} o on o.library_key = l.key and o.id = l.root
     where l.owner_key = ? and l.deleted_at is null`,
    ownerKey,
  )
  return row?.entries ?? 0
}

/** The number of libraries of an owner, with deleted ones; `most` at most. */
export async function countLibrariesOf(reader: Reader, ownerKey: number, most: number): Promise<number> {
  const row = await reader.get<{ count: number }>(
    'select count(*) as count from (select 1 as one from library where owner_key = ? limit ?) counted',
    ownerKey,
    most,
  )
  return row?.count ?? 0
}

/** Stores the former name of a library under the number of the commit that renames it. */
export async function insertRename(
  tx: Transaction,
  before: Pick<LibraryInfo, 'key' | 'headSeq' | 'name'>,
  newName: string,
): Promise<void> {
  const columns = ['library_key', 'seq', 'old_name', 'new_name']
  await tx.insert('library_rename', columns, [[before.key, before.headSeq + 1, before.name, newName]])
}

/** Renames of a library in a range of commit numbers. */
export async function listRenames(
  reader: Reader,
  libraryKey: number,
  from: number,
  to: number,
): Promise<Map<number, { oldName: string; newName: string }>> {
  const rows = await reader.all<{ seq: number; old_name: string; new_name: string }>(
    'select seq, old_name, new_name from library_rename where library_key = ? and seq between ? and ?',
    libraryKey,
    from,
    to,
  )
  return new Map(rows.map((row) => [row.seq, { oldName: row.old_name, newName: row.new_name }]))
}

/** False if `from` does not own it any more, or it was deleted. */
export async function setOwner(tx: Transaction, key: number, from: number, to: number): Promise<boolean> {
  const sql = 'update library set owner_key = ? where key = ? and owner_key = ? and deleted_at is null'
  return (await tx.run(sql, to, key, from)) === 1
}

/** All libraries of an owner that are not deleted. */
export async function setOwnerOfAll(tx: Transaction, from: number, to: number): Promise<void> {
  await tx.run('update library set owner_key = ? where owner_key = ? and deleted_at is null', to, from)
}

/** False if it has this limit already. */
export async function setHistoryDays(tx: Transaction, key: number, days: number): Promise<boolean> {
  const sql =
    'update library set history_days = ? where key = ? and (history_days is null or history_days <> ?)'
  return (await tx.run(sql, days, key, days)) === 1
}

/** The mark only increases. False if it is there or beyond already. */
export async function raiseValidSince(tx: Transaction, key: number, seq: number): Promise<boolean> {
  const sql = 'update library set valid_since_seq = ? where key = ? and valid_since_seq < ?'
  return (await tx.run(sql, seq, key, seq)) === 1
}

/** Must be in the transaction that deletes or corrects objects or blocks of the library. Resolves to the new value; undefined if the library is gone. */
export async function raiseObjectsEpoch(tx: Transaction, key: number): Promise<number | undefined> {
  const sql = 'update library set objects_epoch = objects_epoch + 1 where key = ? returning objects_epoch'
  return (await tx.get<{ objects_epoch: number }>(sql, key))?.objects_epoch
}

/** False if it is already deleted. */
export async function markDeleted(tx: Transaction, key: number, at: number): Promise<boolean> {
  const sql = 'update library set deleted_at = ?, epoch = epoch + 1 where key = ? and deleted_at is null'
  return (await tx.run(sql, at, key)) === 1
}

export async function markAllDeleted(tx: Transaction, ownerKey: number, at: number): Promise<void> {
  const sql = `update library set deleted_at = ?, epoch = epoch + 1 where owner_key = ? and deleted_at is null`
  await tx.run(sql, at, ownerKey)
}

/** Keys of the libraries deleted before a time, and of those whose purge was interrupted. */
export async function listDeletedBefore(
  reader: Reader,
  time: number,
): Promise<{ key: number; id: string; name: string }[]> {
  const sql = 'select key, id, name from library where deleted_at is not null and deleted_at < ?'
  return reader.all<{ key: number; id: string; name: string }>(sql, time)
}

/** False if it has this status already. */
export async function setLibraryStatus(
  tx: Transaction,
  key: number,
  status: LibraryStatus,
): Promise<boolean> {
  const value = status === 'normal' ? 0 : 1
  return (
    (await tx.run('update library set status = ? where key = ? and status <> ?', value, key, value)) === 1
  )
}

/** For a deleted library whose owner was removed. */
export async function setOwnerOfDeleted(tx: Transaction, key: number, ownerKey: number): Promise<void> {
  await tx.run('update library set owner_key = ? where key = ?', ownerKey, key)
}

/** Makes a deleted library impossible to restore. False if it is not deleted. */
export async function claimForPurge(tx: Transaction, key: number): Promise<boolean> {
  return (await tx.run('update library set deleted_at = 0 where key = ? and deleted_at is not null', key)) > 0
}

export async function deleteLibraryRow(tx: Transaction, key: number): Promise<void> {
  await tx.run('delete from library where key = ?', key)
}

/** False if it is not deleted, or if its restore from a backup is unfinished. */
export async function unmarkDeleted(tx: Transaction, key: number): Promise<boolean> {
  const sql = 'update library set deleted_at = null where key = ? and deleted_at > 0 and head_seq > 0'
  return (await tx.run(sql, key)) === 1
}

function one(reader: Reader, sql: string, parameter: Value): MaybePromise<LibraryInfo | undefined> {
  return whenReady(reader.get<LibraryRow>(sql, parameter), (row) => row && infoFromRow(row))
}

function infoFromRow(row: LibraryRow): LibraryInfo {
  const known = converted.get(row)
  if (known !== undefined) return known
  const info = libraryFromRow(row)
  converted.set(row, info)
  return info
}

/** The row cache may return the same row object again. Its LibraryInfo is then reused. */
const converted = new WeakMap<LibraryRow, LibraryInfo>()

function statusOf(row: Pick<LibraryRow, 'status'>): LibraryStatus {
  return row.status === 0 ? 'normal' : 'read-only'
}

/** Converts a row. */
export function libraryFromRow(row: LibraryRow): LibraryInfo {
  return {
    key: row.key,
    id: row.id as LibraryId,
    ownerKey: row.owner_key,
    name: row.name,
    description: row.description,
    head: idFromBytes<CommitId>(row.head),
    headSeq: row.head_seq,
    root: idFromBytes<DirId>(row.root),
    size: row.size,
    fileCount: row.file_count,
    updatedAt: row.updated_at,
    modifier: row.modifier,
    modifierViaLink: row.modifier_via_link === 1,
    status: statusOf(row),
    encryption:
      row.enc_version === 0
        ? undefined
        : {
            version: row.enc_version,
            magic: row.magic,
            randomKey: row.random_key,
            salt: row.salt,
            pwdHash: row.pwd_hash,
            pwdHashAlgo: row.pwd_hash_algo,
            pwdHashParams: row.pwd_hash_params,
          },
    historyDays: row.history_days,
    validSinceSeq: row.valid_since_seq,
    createdAt: row.created_at,
    deletedAt: row.deleted_at,
    epoch: row.epoch,
    objectsEpoch: row.objects_epoch,
    sub: undefined,
  }
}

/** Deletes former names of a library from before a commit. */
export async function deleteRenamesBelow(tx: Transaction, libraryKey: number, seq: number): Promise<number> {
  return tx.run('delete from library_rename where library_key = ? and seq < ?', libraryKey, seq)
}

/** The part of a restored library that makes its content visible. */
interface RestoredContent {
  readonly name: string
  readonly head: Uint8Array
  readonly headSeq: number
  readonly root: Uint8Array
  readonly size: number
  readonly fileCount: number
}

/**
 * Inserts the row of a library from a backup, as a deleted and empty one, so that nobody sees it before its content is complete. Returns its key;
 * undefined if the id is taken.
 */
export async function insertRestoredLibrary(
  tx: Transaction,
  row: Readonly<Record<string, Value>>,
  now: number,
): Promise<number | undefined> {
  // Without commits, so that nothing relies on rows that are still to come.
  const hidden = { ...row, head_seq: 0, root: idToBytes(EMPTY_ID), size: 0, file_count: 0, deleted_at: now }
  const columns = Object.keys(hidden)
  const inserted = await tx.get<{ key: number }>(
    `insert into library (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})
     on conflict (id) do nothing returning key`,
    ...Object.values(hidden),
  )
  return inserted?.key
}

/**
 * Gives up restores of a library that were interrupted, whether under its own id or beside it: the id is free again, and what there is of them
 * is purged like any library whose purge was interrupted. A restore that is still running fails at its end.
 */
export async function abandonRestores(
  tx: Transaction,
  { id, head }: { readonly id: LibraryId; readonly head: Uint8Array },
): Promise<void> {
  const unfinished = await tx.all<{ key: number }>(
    'select key from library where (id = ? or head = ?) and head_seq = 0 and deleted_at > 0',
    id,
    head,
  )
  for (const { key } of unfinished) {
    await tx.run('update library set id = ?, deleted_at = 0 where key = ?', newLibraryId(), key)
  }
}

/** The libraries of an owner with a certain head. */
export async function listLibrariesAt(
  reader: Reader,
  ownerKey: number,
  head: Uint8Array,
): Promise<LibraryInfo[]> {
  const rows = await reader.all<LibraryRow>(
    'select * from library where owner_key = ? and head = ? and deleted_at is null order by key',
    ownerKey,
    head,
  )
  return rows.map(libraryFromRow)
}

/** Shows a restored library once all its objects and blocks are stored (I1). False if it was purged meanwhile. */
export async function publishRestoredLibrary(
  tx: Transaction,
  key: number,
  { name, head, headSeq, root, size, fileCount }: RestoredContent,
): Promise<boolean> {
  const published = await tx.run(
    `update library set name = ?, head = ?, head_seq = ?, root = ?, size = ?, file_count = ?, deleted_at = null
     where key = ? and deleted_at > 0 and head_seq = 0`,
    name,
    head,
    headSeq,
    root,
    size,
    fileCount,
    key,
  )
  return published === 1
}
