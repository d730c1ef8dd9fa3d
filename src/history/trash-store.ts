import type { Reader, Transaction, Value } from '../database/index.ts'
import {
  baseName,
  type CommitId,
  type FsId,
  idFromBytes,
  idToBytes,
  isWithin,
  type LibraryPath,
  pathKey,
  ROOT,
  toNfc,
  withSlash,
} from '../objects/index.ts'

// Characters of a path that are indexed: an index entry has an upper limit, a path has a higher one.
const INDEXED_START = 200
const KEYS_A_QUERY = 500

/** Something that was deleted, and the commit that still had it. */
export interface TrashRow {
  readonly path: LibraryPath
  readonly isDir: boolean
  readonly objectId: FsId
  readonly size: number
  readonly deletedAt: number
  readonly deletedBy: string
  /** The number of the deleting commit, and the place among its deletions. */
  readonly seq: number
  readonly position: number
  readonly commitBefore: CommitId
}

/** A row of the trash, and whether something of its kind is at its path now. */
export interface TrashPresence {
  readonly path: LibraryPath
  readonly isDir: boolean
  readonly present: boolean
}

/** Where a listing of the trash goes on. */
export interface TrashCursor {
  readonly seq: number
  readonly position: number
}

/** Which rows of the trash are wanted; what is left out does not matter. */
export interface TrashFilter {
  /** Deleted by commits after this one. */
  readonly afterSeq: number
  /** Below this folder. */
  readonly folder?: LibraryPath
  /** Unix seconds, both included. */
  readonly from?: number | undefined
  readonly to?: number | undefined
  /** Part of the name, in any case. */
  readonly name?: string | undefined
  readonly deletedBy?: readonly string[]
  /** Files whose name ends with one of these extensions. */
  readonly extensions?: readonly string[]
}

export async function hasTrash(reader: Reader, libraryKey: number): Promise<boolean> {
  const sql = 'select 1 as found from trash_item where library_key = ? limit 1'
  return (await reader.get(sql, libraryKey)) !== undefined
}

/** Latest deletion first, of what is still gone. */
export async function listTrash(
  reader: Reader,
  libraryKey: number,
  filter: TrashFilter,
  page: { cursor?: TrashCursor | undefined; skip?: number; limit: number },
): Promise<TrashRow[]> {
  const { cursor, limit } = page
  if (cursor === undefined) return readTrash(reader, conditions(libraryKey, filter), limit, page.skip)
  // The rest of the commit, then the commits before it: each is one range of the index, however deep the page.
  const { seq, position } = cursor
  const rest = conditions(libraryKey, filter).add('seq = ? and position > ?', seq, position)
  const rows = await readTrash(reader, rest, limit)
  if (rows.length === limit) return rows
  const earlier = conditions(libraryKey, filter).add('seq < ?', seq)
  return [...rows, ...(await readTrash(reader, earlier, limit - rows.length))]
}

/** As listTrash, where fewer rows follow the page than come before it: skips those that follow. */
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

/** The rows at some paths, no more than a statement takes. */
export async function findTrashAt(
  reader: Reader,
  libraryKey: number,
  paths: readonly LibraryPath[],
): Promise<TrashPresence[]> {
  const rows = await reader.all<StoredPresence>(
    `select path, is_dir, present from trash_item where library_key = ? and path_key in (${marks(paths)})`,
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

/** Rows by path, the latest deletion of each. Older deletions of those paths, up to `upTo`, give way. */
export async function putTrash(
  tx: Transaction,
  libraryKey: number,
  rows: readonly (TrashRow & TrashPresence)[],
  upTo: number,
): Promise<void> {
  for (let start = 0; start < rows.length; start += KEYS_A_QUERY) {
    const keys = rows.slice(start, start + KEYS_A_QUERY).map((row) => pathKey(row.path))
    await tx.run(
      `delete from trash_item where library_key = ? and seq <= ? and path_key in (${marks(keys)})`,
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
    for (let start = 0; start < keys.length; start += KEYS_A_QUERY) {
      const some = keys.slice(start, start + KEYS_A_QUERY)
      await tx.run(
        `update trash_item set present = ?
         where library_key = ? and path_key in (${marks(some)})`,
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
    // For what is longer than the start that is indexed.
    where.add('substr(path, 1, ?) = ?', Array.from(below).length, below)
  }
  if (from !== undefined) where.add('deleted_at >= ?', from)
  if (to !== undefined) where.add('deleted_at <= ?', to)
  if (name) where.add("name_folded like ? escape '!'", `%${literally(folded(name))}%`)
  if (deletedBy !== undefined) where.add(`deleted_by in (${marks(deletedBy)})`, ...deletedBy)
  if (extensions !== undefined) {
    const endings = extensions.map((extension) => `%.${literally(folded(extension))}`)
    where.add(
      `is_dir = 0 and (${endings.map(() => "name_folded like ? escape '!'").join(' or ')})`,
      ...endings,
    )
  }
  return where
}

/** Texts at the start of which a folder with its slash stands, as far as the start is indexed. */
function startsWith(below: string): { text: string; values: Value[] } {
  if (below.length > INDEXED_START) return { text: 'path_start = ?', values: [startOf(below)] }
  // After the slash comes the zero: in between is all that begins with the slash.
  return { text: 'path_start >= ? and path_start < ?', values: [below, `${below.slice(0, -1)}0`] }
}

function startOf(path: string): string {
  return path.slice(0, INDEXED_START).toWellFormed()
}

function folded(text: string): string {
  return toNfc(text).toLowerCase()
}

function literally(text: string): string {
  return text.replace(/[!%_]/g, '!$&')
}

function marks(values: readonly unknown[]): string {
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
    startOf(row.path),
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
