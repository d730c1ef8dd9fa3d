import {
  Dir,
  type DirDirent,
  type Dirent,
  type DirId,
  EMPTY_ID,
  type FileDirent,
  type FileId,
  type FsId,
  InvalidObject,
} from '../../base/objects/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import { blockRows } from '../../libraries/content/index.ts'
import {
  AS_RECEIVED,
  changedEntries,
  FILE,
  type ObjectStore,
  objectRows,
  PACKED,
  type PreparedObject,
  prepareDir,
  type StoredDir,
  storedObjects,
} from '../../libraries/tree/index.ts'
import type { Transaction } from '../../platform/database/index.ts'
import type { SourceDir } from './seafile-objects.ts'
import { type LostObject, type ObjectThreads, type PackedFile, SourceObjects } from './source-objects.ts'
import { TreeBlocks, type TreeBlocksOptions } from './tree-blocks.ts'

// Files that are read at once, while the blocks of those before are copied. The second limit is for long lists of blocks: blocks are 1 MiB on average.
const FILES_PER_STEP = 200
const BYTES_PER_STEP = 64 * 2 ** 30
/** Subfolders that are read ahead, on each level. */
const DIRS_AHEAD = 8
// A flush syncs up to 256 folders of blocks, so it covers many rows. While it runs, as many rows again are collected.
const FLUSHED_ROWS = 16_000
const FLUSHED_BYTES = 16 * 2 ** 20
/** A transaction of SQLite holds up the writers of a running server, so a flush takes several. */
const ROWS_PER_WRITE = 1000
/** Of up to 64 KiB each. */
const SMALL_BLOCKS_PER_WRITE = 100

/** A dir as it is stored here. */
export interface ImportedDir {
  readonly id: DirId
  readonly size: number
  readonly fileCount: number
  readonly dirCount: number
}

const EMPTY: ImportedDir = { id: EMPTY_ID, size: 0, fileCount: 0, dirCount: 0 }

/** The commit whose tree is imported: version 0 stores neither times nor authors of entries. */
interface TreeContext {
  readonly ctime: number
  readonly modifier: string
}

interface TreeImporterOptions extends TreeBlocksOptions {
  readonly objects: ObjectStore
  readonly threads: ObjectThreads
}

type ChangedEntries = Awaited<ReturnType<typeof changedEntries>>
type ReadFiles = Map<FileId, PackedFile | LostObject>

/** Objects that are not stored yet, with the totals of dirs. */
type Pending = Map<string, ImportedDir | undefined>

/**
 * Imports the trees of a library, oldest first. Compared with the previous tree, only entries that differ are visited, and an object that is
 * stored is complete: children are stored before their parents. Memory is bounded by the largest dir, the depth of the tree, the files of two
 * steps and the rows of two flushes.
 */
export class TreeImporter implements AsyncDisposable {
  readonly #options: TreeImporterOptions
  readonly #slicer = new TimeSlicer()
  /** Dirs and files that are stored under another id than in the source; null for those that are lost. Few, except in version 0. */
  readonly #changedDirs = new Map<string, ImportedDir | null>()
  readonly #changedFiles = new Map<string, { readonly id: FsId; readonly size: number } | null>()
  /** What the next flush writes. */
  #pending: Pending = new Map()
  #ready: PreparedObject[] = []
  #readyBytes = 0
  /** What the flush in progress writes. */
  #writing: Pending = new Map()
  #flushing: Promise<void> = Promise.resolve()
  readonly #source: SourceObjects
  readonly #blocks: TreeBlocks

  constructor(options: TreeImporterOptions) {
    this.#options = options
    this.#source = new SourceObjects(options.threads, options.layout, options.store)
    this.#blocks = new TreeBlocks(options)
  }

  /** The tree of a root of the source. Undefined if the root itself is lost. Its rows are written by the next `flush` at the latest. */
  async importTree(root: DirId, before: DirId, context: TreeContext): Promise<ImportedDir | undefined> {
    return (await this.#dir(root, before, '/', context)) ?? undefined
  }

  /**
   * Writes the rows of all imported trees, after their blocks are durable (I1). The rows are not durable by themselves: the library is shown by a
   * durable transaction at the end.
   */
  async flush(): Promise<void> {
    await this.#startFlush()
    await this.#flushing
  }

  /** Waits for the flush and the copies in progress. They may have failed. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#flushing.catch(() => {})
    await this.#blocks.settled()
  }

  /** Starts to write what is ready, so that the importer can go on. Waits for the flush in progress. Throws its error. */
  async #startFlush(): Promise<void> {
    await this.#flushing
    const objects = this.#ready
    const bytes = this.#readyBytes + this.#blocks.smallBytes
    this.#ready = []
    this.#readyBytes = 0
    this.#writing = this.#pending
    this.#pending = new Map()
    const rows = Math.max(objects.length, this.#blocks.rows)
    this.#flushing = this.#write(objects).then(() => countWritten(rows, bytes))
    this.#flushing.catch(() => {}) // It rejects when the flush is awaited.
  }

  async #write(objects: readonly PreparedObject[]): Promise<void> {
    const { db, libraryKey } = this.#options
    // Called before anything is awaited: blocks that are added from now on belong to the next flush.
    const { held, small } = await this.#blocks.take()
    const write = (work: (tx: Transaction) => Promise<void>) =>
      db.write(work, { durable: 'replicated', isLong: true })
    // Sorted by id, so that a transaction changes neighboring pages of an index instead of one for each row.
    const sortedSmall = [...small].sort(([a], [b]) => compareIds(a, b))
    for (const some of inGroups(sortedSmall, SMALL_BLOCKS_PER_WRITE))
      await write((tx) => blockRows.insertSmall(tx, new Map(some)))
    for (const some of inGroups(held.toSorted(byId), ROWS_PER_WRITE))
      await write((tx) => blockRows.insertHeld(tx, libraryKey, some))
    const files = objects.filter(({ kind }) => kind === FILE).sort(byId)
    const dirs = objects.filter(({ kind }) => kind !== FILE)
    // Files first, and dirs in this order, so that objects are stored after their children.
    for (const some of inGroups([...files, ...dirs], ROWS_PER_WRITE))
      await write((tx) => objectRows.insert(tx, libraryKey, some))
    this.#blocks.release()
    this.#writing = new Map()
  }

  /** Records the blocks that the source does not have. Call `flush` before. */
  recordLostBlocks(): Promise<number> {
    return this.#blocks.recordLost()
  }

  async #dir(id: DirId, before: DirId, path: string, context: TreeContext): Promise<ImportedDir | null> {
    if (id === EMPTY_ID) return EMPTY
    const changed = this.#changedDirs.get(id)
    if (changed !== undefined) return changed
    const known = await this.#findDir(id)
    if (known !== undefined) return known
    const source = await this.#readDir(id, path)
    const imported = source === undefined ? null : await this.#importDir(source, before, path, context)
    if (imported?.id !== id) this.#changedDirs.set(id, imported)
    return imported
  }

  async #findDir(id: DirId): Promise<ImportedDir | undefined> {
    const pending = this.#findPending(id)
    if (pending !== undefined) return pending
    // Dirs of version 0 never have the id of a stored one.
    if (this.#options.store.version === 0) return undefined
    const totals = (await storedObjects.findTotals(this.#options.db, this.#options.libraryKey, [id])).get(id)
    return totals && { id, ...totals, dirCount: totals.dirCount ?? 0 }
  }

  #findPending(id: DirId): ImportedDir | undefined {
    return this.#pending.get(id) ?? this.#writing.get(id)
  }

  #isPending(id: FsId): boolean {
    return this.#pending.has(id) || this.#writing.has(id)
  }

  async #readDir(id: DirId, path: string): Promise<SourceDir | undefined> {
    const { problems, libraryId } = this.#options
    try {
      return await this.#source.readDir(id)
    } catch (error) {
      // Anything else is a fault of the program or of the system.
      if (!(error instanceof InvalidObject)) throw error
      problems.add('folder-lost', `${path}: the folder ${id} ${error.message}.`, libraryId)
      return undefined
    }
  }

  async #importDir(
    source: SourceDir,
    beforeId: DirId,
    path: string,
    context: TreeContext,
  ): Promise<ImportedDir> {
    const { problems, libraryId } = this.#options
    const before = await this.#stored(beforeId)
    for (const { from, to } of source.renamed) {
      // Reported with the first revision that has it.
      if (before.dir.find(to) !== undefined) continue
      problems.add(
        'name-changed',
        `${path}: ${JSON.stringify(from)} is not a valid name, now ${JSON.stringify(to)}.`,
        libraryId,
      )
    }
    const wanted = source.dir ?? Dir.of(source.entries)
    const changed = await changedEntries(before.dir, wanted, this.#slicer)
    const fresh = [...changed.changes.values()].filter((entry) => entry !== null)
    const replaced = await this.#replaced(fresh, before, path, context)
    if (replaced.size === 0) return this.#store(wanted, before, changed)
    const dir = Dir.of(
      wanted.entries.flatMap((entry) =>
        replaced.has(entry.name) ? (replaced.get(entry.name) ?? []) : [entry],
      ),
    )
    return this.#store(dir, before, await changedEntries(before.dir, dir, this.#slicer))
  }

  /** Imports entries, and returns those that are different here; null for those that are lost. */
  async #replaced(
    entries: readonly Dirent[],
    before: StoredDir,
    path: string,
    context: TreeContext,
  ): Promise<Map<string, Dirent | null>> {
    const replaced = new Map<string, Dirent | null>()
    const dirs = entries.filter((entry) => entry.kind === 'dir')
    this.#readAhead(dirs.slice(0, DIRS_AHEAD))
    const steps = inSteps(entries.filter((entry) => entry.kind === 'file'))
    let ahead = this.#readUnknown(steps[0] ?? [])
    for (const [index, step] of steps.entries()) {
      const current = ahead
      ahead = this.#readUnknown(steps[index + 1] ?? [])
      ahead.catch(() => {}) // It rejects when the next step is awaited.
      await this.#files(step, await current, before, path, context, replaced)
    }
    for (const [index, entry] of dirs.entries()) {
      this.#readAhead(dirs.slice(index, index + DIRS_AHEAD))
      const old = before.dir.find(entry.name)
      const below = `${path}${entry.name}/`
      const imported = await this.#dir(entry.id, old?.kind === 'dir' ? old.id : EMPTY_ID, below, context)
      this.#source.drop(entry.id)
      const isOld = this.#options.store.version === 0
      if (imported === null) replaced.set(entry.name, null)
      else if (imported.id !== entry.id || isOld) {
        const mtime = isOld ? (old?.id === imported.id ? old.mtime : context.ctime) : entry.mtime
        replaced.set(entry.name, { ...entry, id: imported.id, mtime })
      }
    }
    return replaced
  }

  /** Starts to read dirs, except those that are known to be stored. */
  #readAhead(entries: readonly DirDirent[]): void {
    const ids = entries.map(({ id }) => id)
    this.#source.readAhead(
      ids.filter((id) => id !== EMPTY_ID && !this.#changedDirs.has(id) && !this.#isPending(id)),
    )
  }

  /** A dir that may not be written yet. */
  async #stored(id: DirId): Promise<StoredDir> {
    const { objects, libraryKey } = this.#options
    const cached = objects.findCached(libraryKey, id)
    if (cached !== undefined) return cached
    if (this.#isPending(id)) await this.flush()
    return objects.getDir(libraryKey, id)
  }

  /** The third parameter is what differs between the two. */
  async #store(dir: Dir, before: StoredDir, { changes, old }: ChangedEntries): Promise<ImportedDir> {
    if (dir.size === 0) return EMPTY
    const { objects, libraryKey } = this.#options
    const known = await this.#findDir(dir.id)
    if (known !== undefined) return known
    const totals = { size: before.size, fileCount: before.fileCount, dirCount: before.dirCount ?? 0 }
    const add = async (entry: Dirent, sign: 1 | -1) => {
      const below =
        entry.kind === 'dir'
          ? await this.#totalsOf(entry.id)
          : { size: entry.size, fileCount: 1, dirCount: -1 }
      totals.size += sign * below.size
      totals.fileCount += sign * below.fileCount
      totals.dirCount += sign * (below.dirCount + 1)
    }
    for (const entry of old) await add(entry, -1)
    for (const entry of changes.values()) if (entry !== null) await add(entry, 1)
    const { object, stored } = prepareDir(dir, totals, before, changes)
    objects.cacheDir(libraryKey, stored)
    const imported = { id: dir.id, ...totals }
    await this.#put(object, imported)
    return imported
  }

  async #totalsOf(id: DirId): Promise<ImportedDir> {
    if (id === EMPTY_ID) return EMPTY
    const cached = this.#options.objects.findCached(this.#options.libraryKey, id)
    if (cached !== undefined)
      return { id, size: cached.size, fileCount: cached.fileCount, dirCount: cached.dirCount ?? 0 }
    const known =
      this.#findPending(id) ??
      (await storedObjects.findTotals(this.#options.db, this.#options.libraryKey, [id])).get(id)
    if (known === undefined) throw new Error(`the dir ${id} was imported and is not there`)
    return { id, ...known, dirCount: known.dirCount ?? 0 }
  }

  /** Reads those files of entries that are not stored yet. */
  async #readUnknown(entries: readonly FileDirent[]): Promise<ReadFiles> {
    const { objects, libraryKey, store } = this.#options
    const ids = new Set(entries.map(({ id }) => id))
    const unknown = [...ids].filter((id) => id !== EMPTY_ID && !this.#isFileKnown(id))
    // Files of version 0 never have the id of a stored one.
    const stored = store.version === 0 ? new Set<FsId>() : await objects.findStored(libraryKey, unknown)
    return this.#source.readFiles(unknown.filter((id) => !stored.has(id)))
  }

  #isFileKnown(id: FileId): boolean {
    return this.#isPending(id) || this.#changedFiles.has(id)
  }

  /** Imports the files of entries. `read` are those that were not stored when the step before began. */
  async #files(
    entries: readonly FileDirent[],
    read: ReadFiles,
    before: StoredDir,
    path: string,
    context: TreeContext,
    replaced: Map<string, Dirent | null>,
  ): Promise<void> {
    const { store, problems, libraryId } = this.#options
    const isOld = store.version === 0
    const added: { readonly sourceId: FileId; readonly path: string; readonly source: PackedFile }[] = []
    for (const { id, name } of entries) {
      const source = read.get(id)
      // Of several entries with one id the first names it in the report. The step before may have had one, too.
      read.delete(id)
      if (source === undefined || this.#isFileKnown(id)) continue
      if ('lost' in source) {
        problems.add('file-lost', `${path}${name}: the object ${id} ${source.lost}.`, libraryId)
        this.#changedFiles.set(id, null)
      } else added.push({ sourceId: id, path: path + name, source })
    }
    await this.#blocks.add(added.map(({ path: named, source }) => ({ path: named, file: source.file })))
    for (const { sourceId, source } of added) {
      if (source.id !== sourceId) this.#changedFiles.set(sourceId, { id: source.id, size: source.file.size })
      if (source.id !== EMPTY_ID) await this.#put(preparedFile(source), undefined)
    }
    for (const entry of entries) {
      if (!this.#changedFiles.has(entry.id) && !(isOld && entry.id === EMPTY_ID)) continue
      const source = this.#changedFiles.get(entry.id)
      if (source === null) {
        replaced.set(entry.name, null)
        continue
      }
      const { id, size } = source ?? { id: EMPTY_ID, size: 0 }
      const old = before.dir.find(entry.name)
      const written = old?.id === id ? old : { mtime: context.ctime, modifier: context.modifier }
      const times = isOld ? { mtime: written.mtime, modifier: written.modifier } : {}
      replaced.set(entry.name, { ...entry, ...times, id: id as FileId, size })
    }
  }

  async #put(object: PreparedObject, totals: ImportedDir | undefined): Promise<void> {
    this.#ready.push(object)
    this.#pending.set(object.id, totals)
    this.#readyBytes += object.data.length
    const rows = Math.max(this.#ready.length, this.#blocks.rows)
    const bytes = this.#readyBytes + this.#blocks.smallBytes
    if (rows >= FLUSHED_ROWS || bytes >= FLUSHED_BYTES) await this.#startFlush()
  }
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return compareIds(a.id, b.id)
}

/** In the order of their bytes. */
function compareIds(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

function* inGroups<T>(rows: readonly T[], most: number): Generator<readonly T[], void> {
  for (let start = 0; start < rows.length; start += most) yield rows.slice(start, start + most)
}

/** Entries whose files are read at once. */
function inSteps(entries: readonly FileDirent[]): FileDirent[][] {
  const steps: FileDirent[][] = []
  let bytes = Infinity
  for (const entry of entries) {
    const last = steps.at(-1)
    if (last === undefined || last.length >= FILES_PER_STEP || bytes >= BYTES_PER_STEP) {
      steps.push([entry])
      bytes = entry.size
    } else {
      last.push(entry)
      bytes += entry.size
    }
  }
  return steps
}

function preparedFile({ id, file, packed, asReceived }: PackedFile): PreparedObject {
  return {
    id,
    kind: FILE,
    encoding: asReceived === undefined ? PACKED : AS_RECEIVED,
    base: undefined,
    depth: 0,
    size: file.size,
    fileCount: 1,
    dirCount: 0,
    data: asReceived ?? packed,
  }
}

/**
 * Interval of major collections. The rows of a batch live for seconds, so they are promoted to the old generation before they are garbage. V8 collects that
 * generation late, when its size is a multiple of the live bytes: over 200,000 files, 130 MB of garbage accumulated. A major collection takes less than
 * 0.1 s, a batch several seconds.
 */
const GC_INTERVAL_ROWS = 16_000
const GC_INTERVAL_BYTES = 64 * 2 ** 20

let rowsSinceGc = 0
let bytesSinceGc = 0

/** Counts flushed rows and bytes, which are garbage, and starts a major collection at the interval. Counters are shared by all libraries, because most are small. */
function countWritten(writtenRows: number, writtenBytes: number): void {
  rowsSinceGc += writtenRows
  bytesSinceGc += writtenBytes
  if (rowsSinceGc < GC_INTERVAL_ROWS && bytesSinceGc < GC_INTERVAL_BYTES) return
  rowsSinceGc = 0
  bytesSinceGc = 0
  // Only with --expose-gc, which bin/node-flags.cjs sets.
  globalThis.gc?.({ type: 'major' })
}
