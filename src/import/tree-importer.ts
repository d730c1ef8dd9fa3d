import { insertHeldBlocks, insertSmallBlocks } from '../content/index.ts'
import type { Database, Transaction } from '../database/index.ts'
import {
  Dir,
  type Dirent,
  type DirId,
  EMPTY_ID,
  type FileDirent,
  type FileId,
  type FsId,
  InvalidObject,
} from '../objects/index.ts'
import { TimeSlicer } from '../scheduling/index.ts'
import {
  AS_RECEIVED,
  changedEntries,
  FILE,
  findTotals,
  insertObjects,
  type ObjectStore,
  type PreparedObject,
  prepareDir,
  prepareFile,
  type StoredDir,
} from '../tree/index.ts'
import type { BlockCopier } from './block-copier.ts'
import type { Problems } from './problems.ts'
import type { SeafileLayout, SourceStore } from './seafile-layout.ts'
import {
  readDir,
  readDirV0,
  readFile,
  readFileV0,
  type SourceDir,
  type SourceFile,
} from './seafile-objects.ts'
import { TreeBlocks } from './tree-blocks.ts'

const FILES_PER_STEP = 200
const CONCURRENT_READS = 32
/** A flush syncs up to 256 folders of blocks, so it covers many rows. */
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

interface TreeImporterOptions {
  readonly db: Database
  readonly objects: ObjectStore
  readonly libraryKey: number
  /** For the report. */
  readonly libraryId: string
  readonly layout: SeafileLayout
  readonly store: SourceStore
  readonly copier: BlockCopier
  readonly problems: Problems
  /** Blocks of an encrypted library are longer than their plaintext. */
  readonly isEncrypted: boolean
  /** Unix seconds. */
  readonly now: number
}

/**
 * Imports the trees of a library, oldest first. Compared with the previous tree, only entries that differ are visited, and an object that is
 * stored is complete: children are stored before their parents. Memory is bounded by the largest dir, the depth of the tree
 * and the rows of one flush.
 */
export class TreeImporter {
  readonly #options: TreeImporterOptions
  readonly #slicer = new TimeSlicer()
  /** Dirs and files that are stored under another id than in the source; null for those that are lost. Few, except in version 0. */
  readonly #changedDirs = new Map<string, ImportedDir | null>()
  readonly #changedFiles = new Map<string, { readonly id: FsId; readonly size: number } | null>()
  /** Objects that are not written yet, with the totals of dirs. */
  readonly #pending = new Map<string, ImportedDir | undefined>()
  #ready: PreparedObject[] = []
  #readyBytes = 0
  readonly #blocks: TreeBlocks

  constructor(options: TreeImporterOptions) {
    this.#options = options
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
    const { db, libraryKey } = this.#options
    const { held, small } = await this.#blocks.take()
    const write = (work: (tx: Transaction) => Promise<void>) =>
      db.write(work, { durable: false, isLong: true })
    for (const some of inGroups([...small], SMALL_BLOCKS_PER_WRITE))
      await write((tx) => insertSmallBlocks(tx, new Map(some)))
    for (const some of inGroups(held, ROWS_PER_WRITE))
      await write((tx) => insertHeldBlocks(tx, libraryKey, some))
    // In this order, so that objects are stored after their children.
    for (const some of inGroups(this.#ready, ROWS_PER_WRITE))
      await write((tx) => insertObjects(tx, libraryKey, some))
    this.#ready = []
    this.#readyBytes = 0
    this.#pending.clear()
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
    const pending = this.#pending.get(id)
    if (pending !== undefined) return pending
    // Dirs of version 0 never have the id of a stored one.
    if (this.#options.store.version === 0) return undefined
    const totals = (await findTotals(this.#options.db, this.#options.libraryKey, [id])).get(id)
    return totals && { id, ...totals, dirCount: totals.dirCount ?? 0 }
  }

  async #readDir(id: DirId, path: string): Promise<SourceDir | undefined> {
    const { layout, store, problems, libraryId } = this.#options
    try {
      const stored = await layout.readObject(store, id)
      if (stored === undefined) throw new InvalidObject('is missing')
      const source = store.version === 0 ? readDirV0(id, stored) : readDir(id, stored)
      for (const { from, to } of source.renamed) {
        problems.add(
          'name-changed',
          `${path}: ${JSON.stringify(from)} is not a valid name, now ${JSON.stringify(to)}.`,
          libraryId,
        )
      }
      return source
    } catch (error) {
      if (!isBroken(error)) throw error
      problems.add('folder-lost', `${path}: the folder ${id} ${messageOf(error)}.`, libraryId)
      return undefined
    }
  }

  async #importDir(
    source: SourceDir,
    beforeId: DirId,
    path: string,
    context: TreeContext,
  ): Promise<ImportedDir> {
    const before = await this.#stored(beforeId)
    const wanted = source.dir ?? Dir.of(source.entries)
    const { changes } = await changedEntries(before.dir, wanted, this.#slicer)
    const fresh = [...changes.values()].filter((entry) => entry !== null)
    const replaced = await this.#replaced(fresh, before, path, context)
    let dir = wanted
    if (replaced.size > 0) {
      dir = Dir.of(
        wanted.entries.flatMap((entry) =>
          replaced.has(entry.name) ? (replaced.get(entry.name) ?? []) : [entry],
        ),
      )
    }
    return this.#store(dir, before)
  }

  /** Imports entries, and returns those that are different here; null for those that are lost. */
  async #replaced(
    entries: readonly Dirent[],
    before: StoredDir,
    path: string,
    context: TreeContext,
  ): Promise<Map<string, Dirent | null>> {
    const replaced = new Map<string, Dirent | null>()
    const files = entries.filter((entry) => entry.kind === 'file')
    for (let start = 0; start < files.length; start += FILES_PER_STEP) {
      await this.#files(files.slice(start, start + FILES_PER_STEP), before, path, context, replaced)
    }
    for (const entry of entries) {
      if (entry.kind !== 'dir') continue
      const old = before.dir.find(entry.name)
      const below = `${path}${entry.name}/`
      const imported = await this.#dir(entry.id, old?.kind === 'dir' ? old.id : EMPTY_ID, below, context)
      const isOld = this.#options.store.version === 0
      if (imported === null) replaced.set(entry.name, null)
      else if (imported.id !== entry.id || isOld) {
        const mtime = isOld ? (old?.id === imported.id ? old.mtime : context.ctime) : entry.mtime
        replaced.set(entry.name, { ...entry, id: imported.id, mtime })
      }
    }
    return replaced
  }

  /** A dir that may not be written yet. */
  async #stored(id: DirId): Promise<StoredDir> {
    const { objects, libraryKey } = this.#options
    const cached = objects.findCached(libraryKey, id)
    if (cached !== undefined) return cached
    if (this.#pending.has(id)) await this.flush()
    return objects.getDir(libraryKey, id)
  }

  async #store(dir: Dir, before: StoredDir): Promise<ImportedDir> {
    if (dir.size === 0) return EMPTY
    const { objects, libraryKey } = this.#options
    const known = await this.#findDir(dir.id)
    if (known !== undefined) return known
    const { changes, old } = await changedEntries(before.dir, dir, this.#slicer)
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
      this.#pending.get(id) ?? (await findTotals(this.#options.db, this.#options.libraryKey, [id])).get(id)
    if (known === undefined) throw new Error(`the dir ${id} was imported and is not there`)
    return { id, ...known, dirCount: known.dirCount ?? 0 }
  }

  async #files(
    entries: readonly FileDirent[],
    before: StoredDir,
    path: string,
    context: TreeContext,
    replaced: Map<string, Dirent | null>,
  ): Promise<void> {
    const { objects, libraryKey, store } = this.#options
    const isOld = store.version === 0
    const ids = new Set(entries.map(({ id }) => id).filter((id) => id !== EMPTY_ID && !this.#pending.has(id)))
    const unknown = [...ids].filter((id) => !this.#changedFiles.has(id))
    const stored = isOld ? new Set<FsId>() : await objects.findStored(libraryKey, unknown)
    // Of several entries with one id the first, which names it in the report.
    const first = new Map(entries.toReversed().map((entry) => [entry.id, entry]))
    const wanted = unknown.filter((id) => !stored.has(id)).flatMap((id) => first.get(id) ?? [])
    const read = await this.#readFiles(wanted, path)
    const named = wanted.flatMap(({ id, name }) => {
      const source = read.get(id)
      return source === undefined ? [] : [{ path: path + name, file: source.file }]
    })
    await this.#blocks.add(named)
    for (const [id, source] of read) {
      if (source.id !== id) this.#changedFiles.set(id, { id: source.id, size: source.file.size })
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

  /** Several at a time. In the order of `entries`, without those that are lost. */
  async #readFiles(entries: readonly FileDirent[], path: string): Promise<Map<FileId, SourceFile>> {
    const found = new Map<FileId, SourceFile | undefined>(entries.map(({ id }) => [id, undefined]))
    const left = entries.values()
    const work = async () => {
      for (const entry of left) found.set(entry.id, await this.#readFile(entry, path))
    }
    const workers = await Promise.allSettled(Array.from({ length: CONCURRENT_READS }, work))
    for (const worker of workers) if (worker.status === 'rejected') throw worker.reason
    const read = new Map<FileId, SourceFile>()
    for (const [id, source] of found) if (source !== undefined) read.set(id, source)
    return read
  }

  async #readFile({ id, name }: FileDirent, path: string): Promise<SourceFile | undefined> {
    const { layout, store, problems, libraryId } = this.#options
    try {
      const stored = await layout.readObject(store, id)
      if (stored === undefined) throw new InvalidObject('is missing')
      return store.version === 0 ? readFileV0(id, stored) : readFile(id, stored)
    } catch (error) {
      if (!isBroken(error)) throw error
      problems.add('file-lost', `${path}${name}: the object ${id} ${messageOf(error)}.`, libraryId)
      this.#changedFiles.set(id, null)
      return undefined
    }
  }

  async #put(object: PreparedObject, totals: ImportedDir | undefined): Promise<void> {
    this.#ready.push(object)
    this.#pending.set(object.id, totals)
    this.#readyBytes += object.data.length
    const rows = Math.max(this.#ready.length, this.#blocks.rows)
    const bytes = this.#readyBytes + this.#blocks.smallBytes
    if (rows >= FLUSHED_ROWS || bytes >= FLUSHED_BYTES) await this.flush()
  }
}

function* inGroups<T>(rows: readonly T[], most: number): Generator<readonly T[], void> {
  for (let start = 0; start < rows.length; start += most) yield rows.slice(start, start + most)
}

function preparedFile({ id, file, asReceived }: SourceFile): PreparedObject {
  const prepared = prepareFile(id as FileId, file)
  return asReceived === undefined
    ? prepared
    : { ...prepared, kind: FILE, encoding: AS_RECEIVED, data: asReceived }
}

/** The object is lost. Anything else is a fault of the program or of the disk. */
function isBroken(error: unknown): boolean {
  return error instanceof InvalidObject || (error instanceof Error && 'code' in error && error.code === 'EIO')
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
