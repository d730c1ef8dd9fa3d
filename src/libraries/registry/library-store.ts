import {
  type CommitId,
  type DirId,
  idFromBytes,
  idToBytes,
  type LibraryId,
} from '../../base/objects/index.ts'
import { type MaybePromise, whenReady } from '../../base/scheduling/index.ts'
import type { Reader, Transaction, Value } from '../../platform/database/index.ts'
import type { LibraryEncryption } from '../content/index.ts'
import type { LibraryInfo, LibraryName, LibrarySummary } from './library-info.ts'

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

/**
 * By its key if that is known: the row cache then has the row for those who ask by id and by key. A key can belong to another library in another
 * database, so the row decides.
 */
function findLibrary(reader: Reader, id: LibraryId): MaybePromise<LibraryInfo | undefined> {
  const key = keys.get(id)
  if (key === undefined) return findLibraryById(reader, id)
  return whenReady(findLibraryByKey(reader, key), (found) =>
    found?.id === id ? found : findLibraryById(reader, id),
  )
}

function findLibraryById(reader: Reader, id: LibraryId): MaybePromise<LibraryInfo | undefined> {
  const finding = oneLibrary(reader, 'select * from library where id = ? and deleted_at is null', id)
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

function findLibraryByKey(reader: Reader, key: number): MaybePromise<LibraryInfo | undefined> {
  return oneLibrary(reader, 'select * from library where key = ? and deleted_at is null', key)
}

/** The key of a library, also of a deleted one. */
async function findLibraryKey(reader: Reader, id: LibraryId): Promise<number | undefined> {
  return (await reader.get<{ key: number }>('select key from library where id = ?', id))?.key
}

/** By key, including deleted libraries. */
async function findLibraryWithDeleted(reader: Reader, key: number): Promise<LibraryInfo | undefined> {
  return oneLibrary(
    reader,
    'select * from library where key = ? and (deleted_at is null or deleted_at > 0)',
    key,
  )
}

/** Those of `ids` that exist, unordered. */
async function findLibraries(reader: Reader, ids: readonly LibraryId[]): Promise<LibraryInfo[]> {
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

type LibraryNameRow = Pick<LibraryRow, 'key' | 'id' | 'name' | 'status' | 'enc_version'>

/** Most recently changed first. */
async function listLibrariesOf(reader: Reader, ownerKey: number): Promise<LibrarySummary[]> {
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
async function listLibraryNamesOf(
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
async function listLibraryKeysOf(reader: Reader, ownerKey: number): Promise<number[]> {
  const row = await reader.get<{ keys: string | null }>(
    "select string_agg(cast(key as text), ',') as keys from library where owner_key = ? and deleted_at is null",
    ownerKey,
  )
  return row?.keys ? row.keys.split(',').map(Number) : []
}

/** As listLibrariesOf, with all columns. */
async function listAllLibrariesOf(reader: Reader, ownerKey: number): Promise<LibraryInfo[]> {
  const sql =
    'select * from library where owner_key = ? and deleted_at is null order by updated_at desc, key desc'
  return (await reader.all<LibraryRow>(sql, ownerKey)).map(libraryFromRow)
}

/** Owner account keys by library key. Libraries whose owner was removed are omitted. */
async function findOwnerKeys(reader: Reader, keys: readonly number[]): Promise<Map<number, number>> {
  if (keys.length === 0) return new Map()
  const sql = `select key, owner_key from library where key in (${keys.map(() => '?').join(', ')})`
  const rows = await reader.all<{ key: number; owner_key: number }>(sql, ...keys)
  return new Map(rows.map((row) => [row.key, row.owner_key]))
}

/** The existing library keys in a range, deleted libraries included. */
async function listLibraryKeys(reader: Reader, afterKey: number, upToKey: number): Promise<number[]> {
  const sql = 'select key from library where key > ? and key <= ?'
  return (await reader.all<{ key: number }>(sql, afterKey, upToKey)).map(({ key }) => key)
}

/** A page of the keys of all libraries after a key, deleted ones included. */
async function listAllLibraryKeys(reader: Reader, afterKey: number, limit: number): Promise<number[]> {
  const sql = 'select key from library where key > ? order by key limit ?'
  return (await reader.all<{ key: number }>(sql, afterKey, limit)).map(({ key }) => key)
}

/** Resolves to the key of the new library, or undefined if the id is taken, also by a deleted library. */
async function insertLibrary(tx: Transaction, library: NewLibrary): Promise<number | undefined> {
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

async function setLibraryText(
  tx: Transaction,
  key: number,
  name: string,
  description: string,
): Promise<void> {
  await tx.run('update library set name = ?, description = ? where key = ?', name, description, key)
}

/** Stores the values derived from a new password. The version and the salt never change. */
async function setEncryption(
  tx: Transaction,
  key: number,
  { magic, randomKey, pwdHash }: LibraryEncryption,
): Promise<void> {
  const sql = 'update library set magic = ?, random_key = ?, pwd_hash = ? where key = ?'
  await tx.run(sql, magic, randomKey, pwdHash, key)
}

/** The number of libraries of an owner, with deleted ones; `most` at most. */
async function countLibrariesOf(reader: Reader, ownerKey: number, most: number): Promise<number> {
  const row = await reader.get<{ count: number }>(
    'select count(*) as count from (select 1 as one from library where owner_key = ? limit ?) counted',
    ownerKey,
    most,
  )
  return row?.count ?? 0
}

/** False if `from` does not own it any more, or it was deleted. */
async function setOwner(tx: Transaction, key: number, from: number, to: number): Promise<boolean> {
  const sql = 'update library set owner_key = ? where key = ? and owner_key = ? and deleted_at is null'
  return (await tx.run(sql, to, key, from)) === 1
}

/** All libraries of an owner that are not deleted. */
async function setOwnerOfAll(tx: Transaction, from: number, to: number): Promise<void> {
  await tx.run('update library set owner_key = ? where owner_key = ? and deleted_at is null', to, from)
}

/** False if it has this limit already. */
async function setHistoryDays(tx: Transaction, key: number, days: number): Promise<boolean> {
  const sql =
    'update library set history_days = ? where key = ? and (history_days is null or history_days <> ?)'
  return (await tx.run(sql, days, key, days)) === 1
}

/** False if it has this status already. */
async function setLibraryStatus(
  tx: Transaction,
  key: number,
  status: LibraryInfo['status'],
): Promise<boolean> {
  const value = status === 'normal' ? 0 : 1
  return (
    (await tx.run('update library set status = ? where key = ? and status <> ?', value, key, value)) === 1
  )
}

/** The library that a statement with one parameter selects. */
export function oneLibrary(
  reader: Reader,
  sql: string,
  parameter: Value,
): MaybePromise<LibraryInfo | undefined> {
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

function statusOf(row: Pick<LibraryRow, 'status'>): LibraryInfo['status'] {
  return row.status === 0 ? 'normal' : 'read-only'
}

/** Converts a row. */
function libraryFromRow(row: LibraryRow): LibraryInfo {
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

// Times that a server with a wrong clock wrote. Retention compares them with the clock, so they would never expire.

/** The number of libraries with a time after `limit`, in Unix seconds. */
async function countFuture(reader: Reader, limit: number): Promise<number> {
  const row = await reader.get<{ n: number }>(
    'select count(*) as n from library where updated_at > ? or created_at > ? or deleted_at > ?',
    limit,
    limit,
    limit,
  )
  return row?.n ?? 0
}

async function repairFuture(tx: Transaction, limit: number, now: number): Promise<void> {
  await tx.run('update library set updated_at = ? where updated_at > ?', now, limit)
  await tx.run('update library set created_at = ? where created_at > ?', now, limit)
  await tx.run('update library set deleted_at = ? where deleted_at > ?', now, limit)
  // Backups read their rows again, those of other modules with such times included.
  await tx.run('update library set objects_epoch = objects_epoch + 1')
}

/** The rows of libraries, for stores and transactions of other modules. */
export const libraryRows = {
  /** Libraries, including deleted ones, whose `deleted_at` is set, as a subquery to be joined. */
  relation: `(select key, id, name, owner_key, size, head, head_seq, updated_at, deleted_at
  from library)`,
  /** All columns, for `read`. */
  wholeRelation: '(select * from library)',
  read: libraryFromRow,
  find: findLibrary,
  findByKey: findLibraryByKey,
  findKey: findLibraryKey,
  findWithDeleted: findLibraryWithDeleted,
  findMany: findLibraries,
  findOwnerKeys,
  listOf: listLibrariesOf,
  listNamesOf: listLibraryNamesOf,
  listKeysOf: listLibraryKeysOf,
  listWholeOf: listAllLibrariesOf,
  countOf: countLibrariesOf,
  listKeys: listLibraryKeys,
  listAllKeys: listAllLibraryKeys,
  insert: insertLibrary,
  setText: setLibraryText,
  setEncryption,
  setHistoryDays,
  setStatus: setLibraryStatus,
  setOwner,
  setOwnerOfAll,
  countFuture,
  repairFuture,
}
