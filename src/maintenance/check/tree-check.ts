import {
  type BlockId,
  type Dirent,
  type DirId,
  EMPTY_ID,
  type FileId,
  type FileObject,
} from '../../base/objects/index.ts'
import type { DutyCycle } from '../../base/scheduling/index.ts'
import type { BlockCheck, BlockFault } from '../../libraries/content/index.ts'
import { type ObjectProblem, readAdded, storedObjects } from '../../libraries/tree/index.ts'
import { IdSet, SeenIds } from '../../libraries/usage/index.ts'
import type { Reader } from '../../platform/database/index.ts'
import type { TreeProgress } from './progress-store.ts'

const FILES_PER_BATCH = 256
/** Progress is saved between batches. Reading the data of many files would take too long. */
const FILES_PER_READ_BATCH = 16
const FILES_REMEMBERED = 2 ** 17

/** Bytes, files and folders below a dir. */
interface DirTotals {
  readonly size: number
  readonly fileCount: number
  readonly dirCount: number
}

/** What is wrong with an object of a library. */
export type ObjectFault =
  | ({ readonly what: 'object' } & ObjectProblem)
  | ({ readonly what: 'block'; readonly block: BlockId } & BlockFault)
  | { readonly what: 'totals'; readonly stored: Partial<DirTotals>; readonly actual: DirTotals }

interface TreeCheckOptions {
  readonly reader: Reader
  readonly libraryKey: number
  readonly isEncrypted: boolean
  readonly blocks: BlockCheck
  /** Whether the bytes of a block are read and hashed, and every version of a folder is hashed. */
  readonly readData: boolean
  readonly reads: (id: BlockId) => boolean
  readonly dutyCycle: DutyCycle
  /** Called with the bytes that were read, to limit them. */
  readonly onRead: (bytes: number) => Promise<void>
  /** Called at most every `saveEveryMs` with the progress since the last call. */
  readonly save?: ((progress: TreeProgress) => Promise<void>) | undefined
  readonly saveEveryMs: number
}

interface Frame {
  readonly id: DirId
  readonly entries: readonly Dirent[]
  readonly below: DirId[]
  readonly stored: {
    readonly size: number
    readonly fileCount: number
    readonly dirCount: number | undefined
  }
}

/**
 * Walks the trees of a library, each distinct dir once. Every dir of the current tree is hashed and its totals are compared with those of its
 * entries. Of older versions that are stored as differences only the added entries are visited, unless `readData`.
 */
export class TreeCheck {
  readonly #options: TreeCheckOptions
  readonly #dirs = new IdSet()
  readonly #files = new SeenIds(FILES_REMEMBERED)
  readonly #waiting: FileId[] = []
  /** True totals of dirs whose row is wrong. */
  readonly #actual = new Map<DirId, DirTotals>()
  /** By object. */
  readonly faults = new Map<string, ObjectFault[]>()
  objects = 0
  /** Since the last save: dirs that are checked with everything below them, and faults. */
  #done: DirId[] = []
  #found: [string, ObjectFault][] = []
  #savedObjects = 0
  #savedAt = performance.now()

  constructor(options: TreeCheckOptions) {
    this.#options = options
  }

  /** Takes over what an interrupted check has done. */
  resume(before: readonly TreeProgress[]): void {
    for (const { dirs, faults, objects } of before) {
      for (const id of dirs) this.#dirs.add(id)
      for (const [id, fault] of faults) {
        this.#addFault(id, fault)
        if (fault.what === 'totals') this.#actual.set(id as DirId, fault.actual)
      }
      this.objects += objects
    }
    this.#found = []
    this.#savedObjects = this.objects
  }

  /** The current tree. */
  async current(root: DirId): Promise<DirTotals | undefined> {
    await this.#walkWhole(root)
    if (root === EMPTY_ID) return { size: 0, fileCount: 0, dirCount: 0 }
    return (await this.#totalsOf([root])).get(root)
  }

  /** The tree of another commit. */
  async older(root: DirId): Promise<void> {
    if (this.#options.readData) return this.#walkWhole(root)
    const { reader, libraryKey, dutyCycle } = this.#options
    const open: DirId[] = [root]
    const started: DirId[] = []
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (id === EMPTY_ID || !this.#dirs.add(id)) continue
      this.objects += 1
      started.push(id)
      try {
        for (const entries of await readAdded(reader, libraryKey, id, (base) => this.#dirs.has(base))) {
          for (const entry of entries) {
            if (entry.kind === 'dir') open.push(entry.id)
            else this.#visitFile(entry.id)
          }
          await this.#flushBatches()
        }
      } catch (error) {
        // Finds the cause. Any other error is thrown again.
        const inspected = await storedObjects.inspectDir(reader, libraryKey, id)
        if (!('problem' in inspected)) throw error
        this.#addFault(id, { what: 'object', ...inspected })
      }
      await dutyCycle.restIfDue()
    }
    // Only now is everything below them checked.
    this.#done.push(...started)
    await this.#saveIfDue()
  }

  /** Checks the files found so far. */
  async finish(): Promise<void> {
    await this.#checkFiles(this.#waiting.splice(0))
  }

  async #walkWhole(root: DirId): Promise<void> {
    const open: Frame[] = []
    const enter = async (id: DirId) => {
      if (id === EMPTY_ID || !this.#dirs.add(id)) return
      const frame = await this.#open(id)
      if (frame !== undefined) open.push(frame)
    }
    await enter(root)
    for (let frame = open.at(-1); frame !== undefined; frame = open.at(-1)) {
      const next = frame.below.pop()
      if (next !== undefined) {
        await enter(next)
        continue
      }
      open.pop()
      await this.#compareTotals(frame)
      this.#done.push(frame.id)
      await this.#saveIfDue()
      await this.#options.dutyCycle.restIfDue()
    }
  }

  async #open(id: DirId): Promise<Frame | undefined> {
    const { reader, libraryKey } = this.#options
    this.objects += 1
    const inspected = await storedObjects.inspectDir(reader, libraryKey, id)
    if ('problem' in inspected) {
      this.#addFault(id, { what: 'object', ...inspected })
      this.#done.push(id)
      return undefined
    }
    const below: DirId[] = []
    for (const entry of inspected.entries) {
      if (entry.kind === 'dir') below.push(entry.id)
      else this.#visitFile(entry.id)
    }
    await this.#flushBatches()
    return { id, entries: inspected.entries, below, stored: inspected }
  }

  async #compareTotals({ id, entries, stored }: Frame): Promise<void> {
    const dirs = entries.flatMap((entry) => (entry.kind === 'dir' && entry.id !== EMPTY_ID ? entry.id : []))
    const below = await this.#totalsOf([...new Set(dirs)])
    let [size, fileCount, dirCount] = [0, 0, 0]
    for (const entry of entries) {
      if (entry.kind === 'file') {
        size += entry.size
        fileCount += 1
        continue
      }
      dirCount += 1
      if (entry.id === EMPTY_ID) continue
      const totals = below.get(entry.id)
      // The totals of a lost dir are unknown, so those above it cannot be compared.
      if (totals === undefined) return
      size += totals.size
      fileCount += totals.fileCount
      dirCount += totals.dirCount
    }
    const isSame =
      size === stored.size &&
      fileCount === stored.fileCount &&
      (stored.dirCount === undefined || stored.dirCount === dirCount)
    if (isSame) return
    const actual = { size, fileCount, dirCount }
    this.#actual.set(id, actual)
    const { size: storedSize, fileCount: storedFiles, dirCount: storedDirs } = stored
    const counts = {
      size: storedSize,
      fileCount: storedFiles,
      ...(storedDirs !== undefined && { dirCount: storedDirs }),
    }
    this.#addFault(id, { what: 'totals', stored: counts, actual })
  }

  /** True totals of dirs that were visited. Those without a folder count yet are left out. */
  async #totalsOf(ids: readonly DirId[]): Promise<Map<DirId, DirTotals>> {
    const found = new Map<DirId, DirTotals>()
    const stored = await storedObjects.findTotals(this.#options.reader, this.#options.libraryKey, ids)
    for (const [id, { size, fileCount, dirCount }] of stored) {
      if (dirCount !== undefined) found.set(id, { size, fileCount, dirCount })
    }
    for (const id of ids) {
      const actual = this.#actual.get(id)
      if (actual !== undefined) found.set(id, actual)
    }
    return found
  }

  #visitFile(id: FileId): void {
    if (id !== EMPTY_ID && this.#files.add(id)) this.#waiting.push(id)
  }

  async #flushBatches(): Promise<void> {
    const count = this.#options.readData ? FILES_PER_READ_BATCH : FILES_PER_BATCH
    while (this.#waiting.length >= count) await this.#checkFiles(this.#waiting.splice(-count))
  }

  async #checkFiles(ids: readonly FileId[]): Promise<void> {
    if (ids.length === 0) return
    const { reader, libraryKey, dutyCycle } = this.#options
    const unique = [...new Set(ids)]
    this.objects += unique.length
    const inspected = await storedObjects.inspectFiles(reader, libraryKey, unique)
    const files: [FileId, FileObject][] = []
    for (const [id, file] of inspected) {
      if ('problem' in file) this.#addFault(id, { what: 'object', ...file })
      else files.push([id, file])
    }
    await this.#checkBlocks(files)
    await dutyCycle.restIfDue()
  }

  async #checkBlocks(files: readonly (readonly [FileId, FileObject])[]): Promise<void> {
    const { blocks, libraryKey, readData, reads, dutyCycle, onRead } = this.#options
    const ids = [...new Set(files.flatMap(([, file]) => file.blockIds))]
    const read = readData ? ids.filter(reads) : []
    const faults = await blocks.faultsOf(libraryKey, readData ? ids.filter((id) => !reads(id)) : ids, {
      readData: false,
    })
    // One at a time: a block may have megabytes.
    for (const id of read) {
      const before = blocks.bytes
      for (const [block, fault] of await blocks.faultsOf(libraryKey, [id], { readData: true })) {
        faults.set(block, fault)
      }
      await onRead(blocks.bytes - before)
      await dutyCycle.restIfDue()
    }
    if (faults.size === 0) return
    for (const [id, file] of files) {
      for (const block of new Set(file.blockIds)) {
        const fault = faults.get(block)
        if (fault !== undefined) this.#addFault(id, { what: 'block', block, ...fault })
      }
    }
  }

  /** Dirs count as done once all their files are checked. */
  async #saveIfDue(): Promise<void> {
    const { save, saveEveryMs } = this.#options
    if (save === undefined || performance.now() - this.#savedAt < saveEveryMs) return
    await this.finish()
    const progress = { dirs: this.#done, faults: this.#found, objects: this.objects - this.#savedObjects }
    this.#done = []
    this.#found = []
    this.#savedObjects = this.objects
    await save(progress)
    this.#savedAt = performance.now()
  }

  #addFault(id: string, fault: ObjectFault): void {
    this.#found.push([id, fault])
    const known = this.faults.get(id)
    if (known === undefined) this.faults.set(id, [fault])
    else known.push(fault)
  }
}
