import { inflateSync } from 'node:zlib'
import {
  type BlockId,
  Dir,
  type Dirent,
  type DirId,
  EMPTY_ID,
  type FileId,
  type FileObject,
  type FsId,
  idFromBytes,
  idToBytes,
  parseDir,
  parseFile,
} from '../../base/objects/index.ts'
import {
  packChanges,
  packDir,
  packDirInSlices,
  packFile,
  unpackChanges,
  unpackDir,
  unpackDirInSlices,
  unpackFile,
} from '../../base/packing/index.ts'
import { type Slices, TimeSlicer } from '../../base/scheduling/index.ts'
import {
  type Database,
  deleteBatch,
  deleteBatches,
  type Reader,
  type Transaction,
} from '../../platform/database/index.ts'
import { CacheEpochs } from './cache-epochs.ts'
import { holdBases, releaseObjects } from './condemned-store.ts'
import { DirCache, type StoredDir } from './dir-cache.ts'
import { AS_RECEIVED, DELTA, DIR, FILE, PACKED } from './object-encodings.ts'

// Within these limits a version of a folder is stored as a delta to the previous version. Longer chains are
// slower to read, shorter ones store more full copies.
const MAX_CHAIN_LENGTH = 256
const MIN_ENTRIES_FOR_DELTA = 32 // entries
/**
 * Rows that are read to find a cached version that other nodes or groups have edited since: first a few, because a node that writes to the folder often has
 * missed only a few edits, then more.
 */
const RECENT_ROWS = [8, 24]
// About a thousand entries.
const LARGE_DIR_BYTES = 64 * 1024

/** A row of fs_object, ready to be written. */
export interface PreparedObject {
  readonly id: FsId
  readonly kind: number
  readonly encoding: number
  readonly base: FsId | undefined
  readonly depth: number
  readonly size: number
  readonly fileCount: number
  readonly dirCount: number | undefined
  readonly data: Uint8Array
}

/** Bytes, files and folders below an entry. */
export interface Totals {
  readonly size: number
  readonly fileCount: number
  /** Undefined in rows of older releases; `countDirs` computes it. */
  readonly dirCount: number | undefined
}

export interface ObjectRow {
  id: Uint8Array
  encoding: number
  base: Uint8Array | null
  depth: number
  size: number
  file_count: number
  dir_count: number | null
  data: Uint8Array
}

const OBJECT_COLUMNS = [
  'library_key',
  'id',
  'kind',
  'encoding',
  'base',
  'depth',
  'size',
  'file_count',
  'dir_count',
  'data',
]
const emptyDir: StoredDir = { dir: Dir.empty, size: 0, fileCount: 0, dirCount: 0, depth: 0 }

/** A commit or dir refers to an object that is not stored: the data is damaged, or there is a bug. */
export class ObjectMissing extends Error {
  readonly id: string
  constructor(libraryKey: number, id: string) {
    super(`object ${id} of library ${libraryKey} is missing`)
    this.name = 'ObjectMissing'
    this.id = id
  }
}

/** Reads and prepares the dirs and files of all libraries. Decoded dirs are in a bounded cache. */
export class ObjectStore {
  readonly #db: Database
  /** Also of the caches of blocks. */
  readonly epochs = new CacheEpochs()
  readonly #cache: DirCache
  readonly #loading = new Map<string, Promise<StoredDir>>()

  constructor(db: Database, cacheBytes: number) {
    this.#db = db
    this.#cache = new DirCache(cacheBytes, this.epochs)
  }

  /** Not a promise if the dir is cached, so that walking a cached path takes no microtasks. */
  getDir(libraryKey: number, id: DirId): StoredDir | Promise<StoredDir> {
    if (id === EMPTY_ID) return emptyDir
    const cached = this.#cache.find(libraryKey, id)
    if (cached !== undefined) return cached
    const key = this.epochs.keyOf(libraryKey, id)
    let loading = this.#loading.get(key)
    if (loading === undefined) {
      loading = this.#load(libraryKey, id).finally(() => this.#loading.delete(key))
      this.#loading.set(key, loading)
    }
    return loading
  }

  /** A cached dir. */
  findCached(libraryKey: number, id: DirId): StoredDir | undefined {
    return id === EMPTY_ID ? emptyDir : this.#cache.find(libraryKey, id)
  }

  /** For an untrusted id. An object of another library is not found (I7). */
  async findDir(libraryKey: number, id: DirId): Promise<StoredDir | undefined> {
    try {
      return await this.getDir(libraryKey, id)
    } catch (error) {
      if (error instanceof ObjectMissing && error.id === id) return undefined
      throw error
    }
  }

  async getFile(libraryKey: number, id: FileId): Promise<FileObject> {
    const file = await this.findFile(libraryKey, id)
    if (file === undefined) throw new ObjectMissing(libraryKey, id)
    return file
  }

  /** For an untrusted id. An object of another library is not found (I7). */
  async findFile(libraryKey: number, id: FileId): Promise<FileObject | undefined> {
    if (id === EMPTY_ID) return { blockIds: [], size: 0 }
    const row = await this.#findRow(libraryKey, id, FILE)
    return row && readFileRow(row)
  }

  /** Bytes and files below an entry, without walking it. */
  async totalsOf(libraryKey: number, dirent: Dirent): Promise<Totals> {
    if (dirent.kind === 'file') return { size: dirent.size, fileCount: 1, dirCount: 0 }
    if (dirent.id === EMPTY_ID) return emptyDir
    const cached = this.#cache.find(libraryKey, dirent.id)
    if (cached !== undefined) return cached
    const row = await this.#db.get<{ size: number; file_count: number; dir_count: number | null }>(
      'select size, file_count, dir_count from fs_object where library_key = ? and id = ?',
      libraryKey,
      idToBytes(dirent.id),
    )
    if (row === undefined) throw new ObjectMissing(libraryKey, dirent.id)
    return { size: row.size, fileCount: row.file_count, dirCount: row.dir_count ?? undefined }
  }

  /** The number of folders below a dir from its row; undefined in rows of older releases. */
  async storedDirCount(libraryKey: number, id: DirId): Promise<number | undefined> {
    if (id === EMPTY_ID) return 0
    const row = await this.#db.get<{ dir_count: number | null }>(
      'select dir_count from fs_object where library_key = ? and id = ?',
      libraryKey,
      idToBytes(id),
    )
    return row?.dir_count ?? undefined
  }

  /** Stores missing folder counts of dirs. They are derived (I3), so the write need not be durable. */
  async storeDirCounts(
    libraryKey: number,
    counts: readonly (readonly [id: DirId, count: number])[],
  ): Promise<void> {
    if (counts.length === 0) return
    const sql = 'update fs_object set dir_count = ? where library_key = ? and id = ? and dir_count is null'
    await this.#db.write(
      async (tx) => {
        for (const [id, count] of counts) await tx.run(sql, count, libraryKey, idToBytes(id))
      },
      { durable: false },
    )
  }

  /** Files by id, in batches. Missing ones are left out. */
  async findFileRows(libraryKey: number, ids: readonly FsId[]): Promise<PreparedObject[]> {
    const found: PreparedObject[] = []
    for (let start = 0; start < ids.length; start += 500) {
      const some = ids.slice(start, start + 500)
      const rows = await this.#db.all<ObjectRow>(
        `select id, encoding, base, depth, size, file_count, dir_count, data from fs_object
         where library_key = ? and kind = ${FILE} and id in (${some.map(() => '?').join(', ')})`,
        libraryKey,
        ...some.map(idToBytes),
      )
      for (const row of rows) {
        found.push({
          id: idFromBytes<FileId>(row.id),
          kind: FILE,
          encoding: row.encoding,
          base: undefined,
          depth: 0,
          size: row.size,
          fileCount: 1,
          dirCount: 0,
          data: row.data,
        })
      }
    }
    return found
  }

  /** Those of `ids` that are stored in the library, as a set. */
  async findStored(libraryKey: number, ids: readonly FsId[]): Promise<Set<FsId>> {
    const found = new Set<FsId>()
    for (let start = 0; start < ids.length; start += 500) {
      const some = ids.slice(start, start + 500)
      const rows = await this.#db.all<{ id: Uint8Array }>(
        `select id from fs_object where library_key = ? and id in (${some.map(() => '?').join(', ')})`,
        libraryKey,
        ...some.map(idToBytes),
      )
      for (const { id } of rows) found.add(idFromBytes<FsId>(id))
    }
    return found
  }

  /** Evicts all cached dirs, to return memory while the server is idle. */
  clearCache(): void {
    this.#cache.clear()
  }

  /** Removes deleted dirs from the cache. */
  forget(libraryKey: number, ids: readonly string[]): void {
    for (const id of ids) this.#cache.delete(libraryKey, id)
  }

  /** Caches a new dir, so that the next edit does not decode it. */
  cacheDir(libraryKey: number, stored: StoredDir): void {
    if (stored.dir.size > 0) this.#cache.put(libraryKey, stored)
  }

  async #load(libraryKey: number, id: DirId): Promise<StoredDir> {
    const readAt = this.epochs.now
    const stored = await this.#read(libraryKey, id)
    if (this.epochs.now === readAt) this.#cache.put(libraryKey, stored)
    return stored
  }

  /**
   * Reads a version with one query if it is a full copy, or if few deltas lead from a cached version to it: nodes that write to one folder read only
   * what the others changed, and keep their encoded sections. Otherwise a second query reads more deltas, and a third one the rest of the chain.
   */
  async #read(libraryKey: number, id: DirId): Promise<StoredDir> {
    let about: Omit<StoredDir, 'dir'> | undefined
    const deltas: ObjectRow[] = []
    let next = id
    for (const limit of RECENT_ROWS) {
      for (const row of await listRecent(this.#db, libraryKey, next, limit)) {
        about ??= aboutOf(row)
        if (row.encoding !== DELTA) return { dir: applied(await wholeDir(row), deltas, id), ...about }
        deltas.push(row)
        next = baseOf(libraryKey, row)
        const cached = this.#cache.find(libraryKey, next)
        if (cached !== undefined) return { dir: applied(cached.dir, deltas, id), ...about }
      }
      if (about === undefined) throw new ObjectMissing(libraryKey, id)
    }
    const [whole, ...older] = await listChain(this.#db, libraryKey, next)
    if (about === undefined || whole === undefined || whole.encoding === DELTA)
      throw new ObjectMissing(libraryKey, id)
    return { dir: applied(await wholeDir(whole), [...deltas, ...older.toReversed()], id), ...about }
  }

  async #findRow(libraryKey: number, id: FsId, kind: number): Promise<ObjectRow | undefined> {
    return this.#db.get<ObjectRow>(
      `select id, encoding, base, depth, size, file_count, dir_count, data from fs_object
       where library_key = ? and id = ? and kind = ?`,
      libraryKey,
      idToBytes(id),
      kind,
    )
  }
}

function aboutOf({ size, file_count, dir_count, depth }: ObjectRow): Omit<StoredDir, 'dir'> {
  return { size, fileCount: file_count, dirCount: dir_count ?? undefined, depth }
}

function wholeDir({ id, encoding, data }: ObjectRow): Dir | Promise<Dir> {
  return encoding === AS_RECEIVED ? parseDir(inflateSync(data)) : unpacked(data, idFromBytes<DirId>(id))
}

/** The version with this id: a dir with deltas applied, of which the newest is first. */
function applied(dir: Dir, newestFirst: readonly ObjectRow[], id: DirId): Dir {
  if (newestFirst.length === 0) return dir
  const changes = new Map<string, Dirent | null>()
  for (const row of newestFirst.toReversed()) {
    for (const [name, dirent] of unpackChanges(Buffer.from(row.data))) changes.set(name, dirent)
  }
  return dir.with(changes, id)
}

function baseOf(libraryKey: number, { id, base }: ObjectRow): DirId {
  if (base === null) throw new ObjectMissing(libraryKey, idFromBytes<DirId>(id))
  return idFromBytes<DirId>(base)
}

/** Unpacks a large dir in slices, with cooperative yields (I10). */
function unpacked(data: Uint8Array, id: DirId): Dir | Promise<Dir> {
  if (data.length < LARGE_DIR_BYTES) return unpackDir(data, id)
  return new TimeSlicer().through(unpackDirInSlices(data, id))
}

/** The rows of a delta chain: the full copy first, then the deltas in order. */
export async function listChain(reader: Reader, libraryKey: number, id: DirId): Promise<ObjectRow[]> {
  return (await readChain(reader, libraryKey, id, `c.encoding = ${DELTA}`)).toReversed()
}

/** The row of a version, then the deltas that it is based on, newest first. A full copy below them is left out. */
function listRecent(reader: Reader, libraryKey: number, id: DirId, limit: number): Promise<ObjectRow[]> {
  return readChain(reader, libraryKey, id, `f.encoding = ${DELTA} and c.step < ${limit - 1}`)
}

/** Newest first. `condition` says which rows `f` follow a row `c`. */
async function readChain(
  reader: Reader,
  libraryKey: number,
  id: DirId,
  condition: string,
): Promise<ObjectRow[]> {
  return reader.all<ObjectRow>(
    `with recursive chain as (
       select id, encoding, base, depth, size, file_count, dir_count, data, 0 as step from fs_object
         where library_key = ? and id = ? and kind = ${DIR}
       union all
       select f.id, f.encoding, f.base, f.depth, f.size, f.file_count, f.dir_count, f.data, c.step + 1
         from chain c join fs_object f on f.library_key = ? and f.id = c.base
         where ${condition}
     ) select * from chain order by step`,
    libraryKey,
    idToBytes(id),
    libraryKey,
  )
}

/** The row of a new version of a dir, as a delta to `base` where that is smaller. */
export function prepareDir(
  dir: Dir,
  totals: Totals,
  base: StoredDir | undefined,
  changes: ReadonlyMap<string, Dirent | null>,
): { object: PreparedObject; stored: StoredDir } {
  // A dir that is not canonical is stored whole, because only its own bytes hash to the id.
  const asDelta =
    dir.canonical &&
    base !== undefined &&
    base.dir.size >= MIN_ENTRIES_FOR_DELTA &&
    base.depth < MAX_CHAIN_LENGTH &&
    changes.size * 4 <= dir.size
  const depth = asDelta ? base.depth + 1 : 0
  return {
    object: {
      id: dir.id,
      kind: DIR,
      encoding: asDelta ? DELTA : PACKED,
      base: asDelta ? base.dir.id : undefined,
      depth,
      size: totals.size,
      fileCount: totals.fileCount,
      dirCount: totals.dirCount,
      data: asDelta ? packChanges(changes) : packDir(dir),
    },
    stored: { dir, size: totals.size, fileCount: totals.fileCount, dirCount: totals.dirCount, depth },
  }
}

/** As prepareDir, for a full copy, in slices. */
export function* prepareWholeDir({ dir, size, fileCount, dirCount }: StoredDir): Slices<PreparedObject> {
  const data = yield* packDirInSlices(dir)
  return {
    id: dir.id,
    kind: DIR,
    encoding: PACKED,
    base: undefined,
    depth: 0,
    size,
    fileCount,
    dirCount,
    data,
  }
}

export function prepareFile(id: FileId, file: FileObject): PreparedObject {
  return {
    id,
    kind: FILE,
    encoding: PACKED,
    base: undefined,
    depth: 0,
    size: file.size,
    fileCount: 1,
    dirCount: 0,
    data: packFile(file),
  }
}

/** Decodes the file of a row. */
export function readFileRow(row: { encoding: number; data: Uint8Array }): FileObject {
  const data = Buffer.from(row.data)
  return row.encoding === AS_RECEIVED ? parseFile(inflateSync(data)) : unpackFile(data)
}

/** The block ids of a prepared file. */
export function blocksOf(object: PreparedObject): readonly BlockId[] {
  return object.kind === FILE ? readFileRow(object).blockIds : []
}

/** Idempotent: objects are immutable, so existing rows are ignored. */
export async function insertObjects(
  tx: Transaction,
  libraryKey: number,
  objects: readonly PreparedObject[],
): Promise<void> {
  const first = firstOfEach(objects)
  // Issued before the insert.
  const releasing = releaseObjects(
    tx,
    libraryKey,
    Array.from(first.values(), ({ id }) => idToBytes(id)),
  )
  await Promise.all([releasing, insertReleased(tx, libraryKey, first)])
}

/**
 * Objects by id. Of duplicates the first is written. A later one may be a delta whose chain leads back to the first, and the database may insert rows in any
 * order.
 */
export function firstOfEach(objects: readonly PreparedObject[]): Map<FsId, PreparedObject> {
  const first = new Map<FsId, PreparedObject>()
  for (const object of objects) if (!first.has(object.id)) first.set(object.id, object)
  return first
}

/** As insertObjects, for objects that the transaction has released by a statement before. */
async function insertReleased(
  tx: Transaction,
  libraryKey: number,
  first: ReadonlyMap<FsId, PreparedObject>,
): Promise<void> {
  if (first.size === 0) return
  const bases = new Set<FsId>()
  for (const { base } of first.values()) if (base !== undefined && !first.has(base)) bases.add(base)
  const holding = holdBases(tx, libraryKey, [...bases])
  const inserting = tx.insert(
    'fs_object',
    OBJECT_COLUMNS,
    Array.from(first.values(), (object) => [
      libraryKey,
      idToBytes(object.id),
      object.kind,
      object.encoding,
      object.base === undefined ? null : idToBytes(object.base),
      object.depth,
      object.size,
      object.fileCount,
      object.dirCount ?? null,
      object.data,
    ]),
    { ignoreExisting: true },
  )
  const [found] = await Promise.all([holding, inserting])
  const [base] = bases
  if (base !== undefined && found < bases.size) throw new ObjectMissing(libraryKey, base)
}

/** The subset of `ids` stored as a full copy. `ids` must fit into one statement. */
async function findWhole(reader: Reader, libraryKey: number, ids: readonly DirId[]): Promise<Set<DirId>> {
  const rows = await reader.all<{ id: Uint8Array }>(
    `select id from fs_object
     where library_key = ? and encoding <> ${DELTA} and id in (${ids.map(() => '?').join(', ')})`,
    libraryKey,
    ...ids.map(idToBytes),
  )
  return new Set(rows.map(({ id }) => idFromBytes<DirId>(id)))
}

/** The rows of those of `ids` that are stored as a full copy, as they are, for another database. `ids` must fit into one statement. */
async function listWholeRows(
  reader: Reader,
  libraryKey: number,
  ids: readonly FsId[],
): Promise<PreparedObject[]> {
  const rows = await reader.all<Omit<ObjectRow, 'base' | 'depth'> & { kind: number }>(
    `select id, kind, encoding, size, file_count, dir_count, data from fs_object
     where library_key = ? and encoding <> ${DELTA} and id in (${ids.map(() => '?').join(', ')})`,
    libraryKey,
    ...ids.map(idToBytes),
  )
  return rows.map((row) => ({
    id: idFromBytes<FsId>(row.id),
    kind: row.kind,
    encoding: row.encoding,
    base: undefined,
    depth: 0,
    size: row.size,
    fileCount: row.file_count,
    dirCount: row.dir_count ?? undefined,
    data: row.data,
  }))
}

/** Copies the objects of `ids` that `fromKey` stores as a full copy to `toKey`, within the database. */
async function copyWholeRows(
  tx: Transaction,
  fromKey: number,
  toKey: number,
  ids: readonly FsId[],
): Promise<void> {
  const columns = OBJECT_COLUMNS.slice(1).join(', ')
  for (let start = 0; start < ids.length; start += 500) {
    const some = ids.slice(start, start + 500)
    await releaseObjects(tx, toKey, some.map(idToBytes))
    await tx.run(
      `insert into fs_object (library_key, ${columns})
       select ?, ${columns} from fs_object
       where library_key = ? and encoding <> ${DELTA} and id in (${some.map(() => '?').join(', ')})
       order by id
       on conflict do nothing`,
      toKey,
      fromKey,
      ...some.map(idToBytes),
    )
  }
}

/** The rows of objects, for transactions of other modules. */
export const objectRows = {
  /** Dirs and files, without their content, as a subquery to be joined. */
  relation: '(select library_key, id, kind, size, file_count, dir_count from fs_object)',
  /** As relation, without condemned objects: what may be relied on without storing it again. */
  keptRelation: `(select f.library_key, f.id, f.kind, f.size, f.file_count, f.dir_count from fs_object f
    where not exists (select 1 from condemned_object c where c.library_key = f.library_key and c.id = f.id))`,
  /** Deletes the objects of a purged library. */
  purgeBatch: (tx: Transaction, libraryKey: number, limit: number) =>
    deleteBatches(limit, [
      (left) => deleteBatch(tx, 'condemned_object', 'id', libraryKey, left),
      (left) => deleteBatch(tx, 'fs_object', 'id', libraryKey, left),
    ]),
  insert: insertObjects,
  insertReleased,
  findWhole,
  listWhole: listWholeRows,
  copyWhole: copyWholeRows,
}
