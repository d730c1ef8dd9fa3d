import { type CommitId, type FsId, idFromBytes, idToBytes } from '../../base/objects/index.ts'
import {
  baseName,
  isWithin,
  type LibraryPath,
  pathKey,
  ROOT,
  toNfc,
  withSlash,
} from '../../base/paths/index.ts'
import type { Reader, Transaction, Value } from '../../platform/database/index.ts'

// Indexed characters of a path, because a path can exceed the maximum size of an index entry.
const INDEXED_PREFIX_LENGTH = 200
const KEYS_PER_QUERY = 500

/** A deleted entry and the commit before its deletion. */
export interface TrashRow {
  readonly path: LibraryPath
  readonly isDir: boolean
  readonly objectId: FsId
  readonly size: number
  readonly deletedAt: number
  readonly deletedBy: string
  /** The number of the deleting commit, and the position among its deletions. */
  readonly seq: number
  readonly position: number
  readonly commitBefore: CommitId
}

/** A trash row, and whether an entry of its kind exists at its path now. */
export interface TrashPresence {
  readonly path: LibraryPath
  readonly isDir: boolean
  readonly present: boolean
}

/** Position from which a listing of the trash continues. */
export interface TrashCursor {
  readonly seq: number
  readonly position: number
}

/** Filter of trash rows. Missing fields do not restrict. */
export interface TrashFilter {
  /** Deleted by commits after this one. */
  readonly afterSeq: number
  /** Below this folder. */
  readonly folder?: LibraryPath
  /** Unix seconds, both included. */
  readonly from?: number | undefined
  readonly to?: number | undefined
  /** Part of the name, case-insensitive. */
  readonly name?: string | undefined
  readonly deletedBy?: readonly string[]
  /** Files whose name ends with one of these extensions. */
  readonly extensions?: readonly string[]
  /** Deleted by commits with these numbers, both included. */
  readonly firstSeq?: number | undefined
  readonly lastSeq?: number | undefined
}

/** What one commit deleted and does not exist again. */
export interface TrashCommit {
  readonly seq: number
  readonly deletedAt: number
  readonly deletedBy: string
  readonly files: number
  readonly folders: number
}

export async function hasTrash(reader: Reader, libraryKey: number): Promise<boolean> {
  const sql = 'select 1 as found from trash_item where library_key = ? limit 1'
  return (await reader.get(sql, libraryKey)) !== undefined
}

/** Entries that do not exist again, latest deletion first. */
export async function listTrash(
  reader: Reader,
  libraryKey: number,
  filter: TrashFilter,
  page: { cursor?: TrashCursor | undefined; skip?: number; limit: number },
): Promise<TrashRow[]> {
  const { cursor, limit } = page
  if (cursor === undefined) return readTrash(reader, conditions(libraryKey, filter), limit, page.skip)
  // The rest of the commit, then earlier commits: two index ranges, so that later pages cost no more.
  const { seq, position } = cursor
  const rest = conditions(libraryKey, filter).add('seq = ? and position > ?', seq, position)
  const rows = await readTrash(reader, rest, limit)
  if (rows.length === limit) return rows
  const earlier = conditions(libraryKey, filter).add('seq < ?', seq)
  return [...rows, ...(await readTrash(reader, earlier, limit - rows.length))]
}

/** The commits that deleted entries that do not exist again, latest first. Reads their rows in the order of the index. */
export async function listTrashCommits(
  reader: Reader,
  libraryKey: number,
  filter: TrashFilter,
  limit: number,
): Promise<TrashCommit[]> {
  const where = conditions(libraryKey, filter)
  const rows = await reader.all<StoredTrashCommit>(
    `select seq, max(deleted_at) as deleted_at, max(deleted_by) as deleted_by, count(*) as entries, sum(is_dir) as folders
     from trash_item where ${where.text} group by seq order by seq desc limit ?`,
    ...where.values,
    limit,
  )
  return rows.map((row) => ({
    seq: row.seq,
    deletedAt: row.deleted_at,
    deletedBy: row.deleted_by,
    files: row.entries - row.folders,
    folders: row.folders,
  }))
}

/** As listTrash, but `skip` counts from the end. Cheaper if fewer rows follow the page than precede it. */
export async function listTrashFromEnd(
  reader: Reader,
  libraryKey: number,
  filter: TrashFilter,
  page: { skip: number; limit: number },
): Promise<TrashRow[]> {
  const where = conditions(libraryKey, filter)
  const rows = await readTrash(reader, where, page.limit, page.skip, 'seq, position desc')
  return rows.toReversed()
}

async function readTrash(
  reader: Reader,
  where: Conditions,
  limit: number,
  skip = 0,
  order = 'seq desc, position',
): Promise<TrashRow[]> {
  const rows = await reader.all<StoredTrashRow>(
    `select path, is_dir, object_id, size, deleted_at, deleted_by, seq, position, commit_before from trash_item
     where ${where.text} order by ${order} limit ? offset ?`,
    ...where.values,
    limit,
    skip,
  )
  return rows.map(toTrashRow)
}

export async function countTrash(reader: Reader, libraryKey: number, filter: TrashFilter): Promise<number> {
  const where = conditions(libraryKey, filter)
  const sql = `select count(*) as count from trash_item where ${where.text}`
  return (await reader.get<{ count: number }>(sql, ...where.values))?.count ?? 0
}

/** The rows at `paths`, which must fit into one statement. */
export async function findTrashAt(
  reader: Reader,
  libraryKey: number,
  paths: readonly LibraryPath[],
): Promise<TrashPresence[]> {
  const rows = await reader.all<StoredPresence>(
    `select path, is_dir, present from trash_item where library_key = ? and path_key in (${placeholders(paths)})`,
    libraryKey,
    ...paths.map(pathKey),
  )
  return rows.map(toPresence)
}

/** The rows below a folder. */
export async function findTrashBelow(
  reader: Reader,
  libraryKey: number,
  folder: LibraryPath,
): Promise<TrashPresence[]> {
  const where = startsWith(withSlash(folder))
  const rows = await reader.all<StoredPresence>(
    `select path, is_dir, present from trash_item where library_key = ? and ${where.text}`,
    libraryKey,
    ...where.values,
  )
  return rows.map(toPresence).filter(({ path }) => isWithin(path, folder))
}

/** Deletes at most `limit` rows of deletions up to a commit. Returns the number deleted. */
export function deleteTrashUpTo(
  tx: Transaction,
  libraryKey: number,
  seq: number,
  limit: number,
): Promise<number> {
  return tx.run(
    `delete from trash_item where library_key = ? and path_key in
     (select path_key from trash_item where library_key = ? and seq <= ? order by seq limit ?)`,
    libraryKey,
    libraryKey,
    seq,
    limit,
  )
}

/** Whether there are rows of deletions up to a commit. */
export async function hasTrashUpTo(reader: Reader, libraryKey: number, seq: number): Promise<boolean> {
  const sql = 'select 1 as found from trash_item where library_key = ? and seq <= ? limit 1'
  return (await reader.get(sql, libraryKey, seq)) !== undefined
}

/** Inserts the latest deletion of each path. Replaces older deletions of those paths, up to `upTo`. */
export async function putTrash(
  tx: Transaction,
  libraryKey: number,
  rows: readonly (TrashRow & TrashPresence)[],
  upTo: number,
): Promise<void> {
  for (let start = 0; start < rows.length; start += KEYS_PER_QUERY) {
    const keys = rows.slice(start, start + KEYS_PER_QUERY).map((row) => pathKey(row.path))
    await tx.run(
      `delete from trash_item where library_key = ? and seq <= ? and path_key in (${placeholders(keys)})`,
      libraryKey,
      upTo,
      ...keys,
    )
  }
  const values = rows.map((row) => trashValues(libraryKey, row))
  await tx.insert('trash_item', TRASH_COLUMNS, values, { ignoreExisting: true })
}

export async function setPresence(
  tx: Transaction,
  libraryKey: number,
  rows: readonly TrashPresence[],
): Promise<void> {
  for (const present of [true, false]) {
    const keys = rows.filter((row) => row.present === present).map((row) => pathKey(row.path))
    for (let start = 0; start < keys.length; start += KEYS_PER_QUERY) {
      const some = keys.slice(start, start + KEYS_PER_QUERY)
      await tx.run(
        `update trash_item set present = ?
         where library_key = ? and path_key in (${placeholders(some)})`,
        present ? 1 : 0,
        libraryKey,
        ...some,
      )
    }
  }
}

class Conditions {
  readonly values: Value[] = []
  readonly #texts: string[] = []

  get text(): string {
    return this.#texts.join(' and ')
  }

  add(text: string, ...values: readonly Value[]): this {
    this.#texts.push(text)
    this.values.push(...values)
    return this
  }
}

function conditions(libraryKey: number, filter: TrashFilter): Conditions {
  const where = new Conditions().add(
    'library_key = ? and present = 0 and seq > ?',
    libraryKey,
    filter.afterSeq,
  )
  const { folder = ROOT, from, to, name, deletedBy, extensions } = filter
  if (folder !== ROOT) {
    const below = withSlash(folder)
    const start = startsWith(below)
    where.add(start.text, ...start.values)
    // For folders longer than the indexed prefix.
    where.add('substr(path, 1, ?) = ?', Array.from(below).length, below)
  }
  if (filter.firstSeq !== undefined) where.add('seq >= ?', filter.firstSeq)
  if (filter.lastSeq !== undefined) where.add('seq <= ?', filter.lastSeq)
  if (from !== undefined) where.add('deleted_at >= ?', from)
  if (to !== undefined) where.add('deleted_at <= ?', to)
  if (name) where.add("name_folded like ? escape '!'", `%${escapeLike(folded(name))}%`)
  if (deletedBy !== undefined) where.add(`deleted_by in (${placeholders(deletedBy)})`, ...deletedBy)
  if (extensions !== undefined) {
    const endings = extensions.map((extension) => `%.${escapeLike(folded(extension))}`)
    where.add(
      `is_dir = 0 and (${endings.map(() => "name_folded like ? escape '!'").join(' or ')})`,
      ...endings,
    )
  }
  return where
}

/** Condition for paths that start with a folder and its slash, on the indexed prefix. */
function startsWith(below: string): { text: string; values: Value[] } {
  if (below.length > INDEXED_PREFIX_LENGTH) return { text: 'path_start = ?', values: [prefixOf(below)] }
  // '0' is the character after '/', so the range contains all paths with this prefix.
  return { text: 'path_start >= ? and path_start < ?', values: [below, `${below.slice(0, -1)}0`] }
}

function prefixOf(path: string): string {
  return path.slice(0, INDEXED_PREFIX_LENGTH).toWellFormed()
}

function folded(text: string): string {
  return toNfc(text).toLowerCase()
}

function escapeLike(text: string): string {
  return text.replace(/[!%_]/g, '!$&')
}

function placeholders(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ')
}

interface StoredPresence {
  path: string
  is_dir: number
  present: number
}

function toPresence(row: StoredPresence): TrashPresence {
  return { path: row.path as LibraryPath, isDir: row.is_dir === 1, present: row.present === 1 }
}

interface StoredTrashCommit {
  seq: number
  deleted_at: number
  deleted_by: string
  entries: number
  folders: number
}

interface StoredTrashRow {
  path: string
  is_dir: number
  object_id: Uint8Array
  size: number
  deleted_at: number
  deleted_by: string
  seq: number
  position: number
  commit_before: Uint8Array
}

const TRASH_COLUMNS = [
  'library_key',
  'path_key',
  'path',
  'path_start',
  'name_folded',
  'is_dir',
  'present',
  'object_id',
  'size',
  'deleted_at',
  'deleted_by',
  'seq',
  'position',
  'commit_before',
]

function trashValues(libraryKey: number, row: TrashRow & TrashPresence): Value[] {
  return [
    libraryKey,
    pathKey(row.path),
    row.path,
    prefixOf(row.path),
    folded(baseName(row.path)),
    row.isDir ? 1 : 0,
    row.present ? 1 : 0,
    idToBytes(row.objectId),
    row.size,
    row.deletedAt,
    row.deletedBy,
    row.seq,
    row.position,
    idToBytes(row.commitBefore),
  ]
}

function toTrashRow(row: StoredTrashRow): TrashRow {
  return {
    path: row.path as LibraryPath,
    isDir: row.is_dir === 1,
    objectId: idFromBytes<FsId>(row.object_id),
    size: row.size,
    deletedAt: row.deleted_at,
    deletedBy: row.deleted_by,
    seq: row.seq,
    position: row.position,
    commitBefore: idFromBytes<CommitId>(row.commit_before),
  }
}
