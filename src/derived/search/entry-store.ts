import { type FsId, idFromBytes, idToBytes } from '../../base/objects/index.ts'
import type { Database, Dialect, Reader, Transaction, Value } from '../../platform/database/index.ts'
import { renderedTokens } from './expression.ts'
import { fold } from './fold.ts'
import { keyRangeOf, keysIn, rowOf } from './keys.ts'
import { gramsOf } from './tokens.ts'

const NAMES_PER_LOOKUP = 500
const FOLDERS_PER_LOOKUP = 100

/** An index row of a file or folder. */
export interface Entry {
  readonly key: number
  readonly parentKey: number
  readonly name: string
  readonly isDir: boolean
  /** For a folder, the time when it was added. */
  readonly objectId: FsId
  readonly size: number
  readonly mtime: number
}

interface EntryRow {
  key: number
  parent_key: number
  name: string
  is_dir: number
  object_id: Uint8Array
  size: number
  mtime: number
}

/** An entry ready to be written. */
export interface PreparedEntry {
  readonly entry: Entry
  readonly folded: string
}

export function prepareEntry(entry: Entry): PreparedEntry {
  return { entry, folded: fold(entry.name) }
}

/** Existing entries, looked up by the key of the folder and the names in it. */
export async function findEntriesIn(
  reader: Reader,
  names: ReadonlyMap<number, readonly string[]>,
): Promise<Entry[]> {
  const found: Entry[] = []
  for (const some of looks(names)) {
    const places = some.map(
      ([, names]) => `(parent_key = ? and name in (${names.map(() => '?').join(', ')}))`,
    )
    const rows = await reader.all<EntryRow>(
      `select key, parent_key, name, is_dir, object_id, size, mtime from search_entry
       where ${places.join(' or ')}`,
      ...some.flatMap(([parentKey, names]) => [parentKey, ...names]),
    )
    for (const row of rows) found.push(toEntry(row))
  }
  return found
}

/** All entries of a folder. */
export async function listEntriesIn(reader: Reader, parentKey: number): Promise<Entry[]> {
  const sql = `select key, parent_key, name, is_dir, object_id, size, mtime from search_entry
     where parent_key = ? order by name`
  return (await reader.all<EntryRow>(sql, parentKey)).map(toEntry)
}

/** Batches of folders and names that fit in one statement. */
function* looks(
  names: ReadonlyMap<number, readonly string[]>,
): Generator<[parentKey: number, names: readonly string[]][]> {
  let some: [number, readonly string[]][] = []
  let count = 0
  for (const [parentKey, all] of names) {
    for (let start = 0; start < all.length; start += NAMES_PER_LOOKUP) {
      const part = all.slice(start, start + NAMES_PER_LOOKUP)
      if (some.length === FOLDERS_PER_LOOKUP || count + part.length > NAMES_PER_LOOKUP) {
        yield some
        some = []
        count = 0
      }
      some.push([parentKey, part])
      count += part.length
    }
  }
  if (some.length > 0) yield some
}

/** Folders and all folders below them, each after its parent. */
export async function listFoldersFrom(db: Database, keys: readonly number[]): Promise<number[]> {
  const among = keysIn(db.dialect, 'key', keys)
  const rows = await db.all<{ key: number }>(
    `with recursive below (key) as (
       select key from search_entry where ${among.sql} and is_dir = 1
       union all select e.key from below join search_entry e on e.parent_key = below.key and e.is_dir = 1
     ) select key from below`,
    among.value,
  )
  return rows.map(({ key }) => key)
}

/** The direct children of folders, by key. */
export async function listKeysIn(
  db: Database,
  folders: readonly number[],
  afterKey: number,
  limit: number,
): Promise<number[]> {
  const among = keysIn(db.dialect, 'parent_key', folders)
  const rows = await db.all<{ key: number }>(
    `select key from search_entry where ${among.sql} and key > ? order by key limit ?`,
    among.value,
    afterKey,
    limit,
  )
  return rows.map(({ key }) => key)
}

/** A batch of any entries of a library. */
export async function listKeysOf(reader: Reader, libraryKey: number, limit: number): Promise<number[]> {
  const { after, before } = keyRangeOf(libraryKey)
  const sql = 'select key from search_entry where key > ? and key < ? limit ?'
  return (await reader.all<{ key: number }>(sql, after, before, limit)).map(({ key }) => key)
}

export async function insertEntries(
  tx: Transaction,
  dialect: Dialect,
  rows: readonly PreparedEntry[],
): Promise<void> {
  const columns = ['key', 'parent_key', 'name', 'folded', 'is_dir', 'object_id', 'size', 'mtime']
  const values = rows.map(({ entry, folded }): Value[] => [
    entry.key,
    entry.parentKey,
    entry.name,
    folded,
    entry.isDir ? 1 : 0,
    idToBytes(entry.objectId),
    entry.size,
    entry.mtime,
  ])
  await tx.insert('search_entry', columns, values)
  // With PostgreSQL the index makes the grams.
  if (dialect === 'postgres') return
  const names = rows.map(({ entry, folded }): [number, string] => [rowOf(entry.key), gramTokens(folded)])
  await insertRows(tx, 'search_name', names)
}

const gramTokens = (folded: string) => renderedTokens(gramsOf(folded), 'sqlite')

/** Removes entries with all their index rows. */
export async function removeEntries(
  tx: Transaction,
  dialect: Dialect,
  keys: readonly number[],
): Promise<void> {
  const remove = async (table: string, column: string) => {
    const among = keysIn(dialect, column, keys)
    await tx.run(`delete from ${table} where ${among.sql}`, among.value)
  }
  // First, because a worker that just extracted a text holds the row. Its writes become visible only afterwards.
  await remove('search_pending', 'entry_key')
  if (dialect === 'sqlite') await removeRows(tx, 'search_name', keys)
  await removeBodies(tx, dialect, keys)
  await remove('search_text', 'entry_key')
  await remove('search_entry', 'key')
}

/** Removes the indexed texts of files. */
export async function removeBodies(
  tx: Transaction,
  dialect: Dialect,
  keys: readonly number[],
): Promise<void> {
  if (dialect === 'sqlite') return removeRows(tx, 'search_body', keys)
  const among = keysIn(dialect, 'entry_key', keys)
  await tx.run(`delete from search_body where ${among.sql}`, among.value)
}

/** In ascending order: FTS5 starts a new segment for each row id lower than the previous one. */
export async function insertRows(
  tx: Transaction,
  table: 'search_name' | 'search_body',
  rows: readonly (readonly [row: number, tokens: string])[],
): Promise<void> {
  await tx.insert(
    table,
    ['rowid', 'tokens'],
    rows.toSorted(([a], [b]) => a - b),
  )
}

async function removeRows(tx: Transaction, table: string, keys: readonly number[]): Promise<void> {
  const among = keysIn('sqlite', 'rowid', keys.map(rowOf))
  await tx.run(`delete from ${table} where ${among.sql}`, among.value)
}

/** Updates the path and the name of an entry. */
export async function replaceEntry(
  tx: Transaction,
  dialect: Dialect,
  { entry, folded }: PreparedEntry,
): Promise<void> {
  await tx.run(
    `update search_entry set parent_key = ?, name = ?, folded = ?, object_id = ?, size = ?, mtime = ?
     where key = ?`,
    entry.parentKey,
    entry.name,
    folded,
    idToBytes(entry.objectId),
    entry.size,
    entry.mtime,
    entry.key,
  )
  if (dialect === 'postgres') return
  await tx.run('delete from search_name where rowid = ?', rowOf(entry.key))
  await tx.insert('search_name', ['rowid', 'tokens'], [[rowOf(entry.key), gramTokens(folded)]])
}

/** Updates an entry whose name did not change. */
export async function updateEntry(tx: Transaction, entry: Entry): Promise<void> {
  const { key, parentKey, objectId, size, mtime } = entry
  const sql = 'update search_entry set parent_key = ?, object_id = ?, size = ?, mtime = ? where key = ?'
  await tx.run(sql, parentKey, idToBytes(objectId), size, mtime, key)
}

function toEntry(row: EntryRow): Entry {
  return {
    key: row.key,
    parentKey: row.parent_key,
    name: row.name,
    isDir: row.is_dir === 1,
    objectId: idFromBytes<FsId>(row.object_id),
    size: row.size,
    mtime: row.mtime,
  }
}
