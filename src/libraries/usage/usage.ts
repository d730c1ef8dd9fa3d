import { setTimeout as wait } from 'node:timers/promises'
import type { LibraryPath } from '../../base/paths/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { type HistorySource, keepDays, oldestShown, type PathIndex } from '../history/index.ts'
import type { Library } from '../library/index.ts'
import type { LibraryInfo } from '../registry/index.ts'
import { libraryRows } from '../registry/index.ts'
import type { StoredDir } from '../tree/index.ts'
import { type Counted, type CountOptions, count } from './count.ts'
import { type Largest, largestFilesBelow, largestIn } from './largest.ts'
import {
  type AccountUsage,
  findLibraryUsage,
  type LibraryUsage,
  listAccountUsage,
  listOwnedUsage,
  listStaleAfter,
  type OwnedLibraryUsage,
  putLibraryUsage,
  type StoredBlocks,
  sumOwnedUsage,
  sumUsage,
} from './usage-store.ts'

const LIBRARIES_PER_STEP = 100
/** Stale libraries of a page that are counted when somebody looks at it. */
const COUNTED_PER_PAGE = 8
// Up to this many files and commits are counted in this process. More are counted in a side process.
const MAX_IN_PROCESS = 2000

const countProcess = new URL('./count-process.ts', import.meta.url)
const storedProcess = new URL('./stored-process.ts', import.meta.url)

/** The stores that counting reads. */
interface UsageSource extends HistorySource {
  readonly db: Database
  readonly pathIndex: Pick<PathIndex, 'catchUp'>
}

/** Counting was aborted. */
export class CountingStopped extends Error {
  override name = 'CountingStopped'
}

/** The last count of a library. */
interface KnownUsage {
  /** Undefined until it is counted for the first time. */
  readonly usage: LibraryUsage | undefined
  /** Whether it matches the current head and the current history limit. */
  readonly isCurrent: boolean
}

/**
 * Stored bytes of libraries, accounts and the whole server. Libraries are counted one at a time in the
 * background. A count is stored with the head it belongs to (I3).
 */
export class Usage implements AsyncDisposable {
  readonly #source: UsageSource
  readonly #db: Database
  readonly #stopping = new AbortController()
  readonly #counting = new Map<number, Promise<void>>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(source: UsageSource) {
    this.#db = source.db
    // Copied field by field, because the argument may be a whole core.
    this.#source = {
      db: source.db,
      now: source.now,
      defaultHistoryDays: source.defaultHistoryDays,
      pathIndex: source.pathIndex,
    }
  }

  /** The last count. If it is stale, starts a new one and waits for it up to `waitMs`. */
  async of(library: LibraryInfo, { waitMs }: { waitMs: number }): Promise<KnownUsage> {
    const known = await this.#find(library)
    if (known.isCurrent) return known
    const giveUp = new AbortController()
    const counted = this.#count(library)
    const enough = wait(waitMs, undefined, { signal: giveUp.signal, ref: false }).catch(() => {})
    await Promise.race([counted.catch(() => {}), enough])
    giveUp.abort()
    return this.#find(library)
  }

  /**
   * Maintenance: recounts every library whose head has moved. A failure does not affect the other libraries.
   */
  async refresh(): Promise<void> {
    const failures: unknown[] = []
    let keys: number[] = []
    do {
      keys = await listStaleAfter(this.#db, keys.at(-1) ?? 0, LIBRARIES_PER_STEP)
      for (const key of keys) {
        if (this.#stopping.signal.aborted) return
        const library = await libraryRows.findWithDeleted(this.#db, key)
        if (library === undefined) continue
        await this.#count(library).catch((error: unknown) => failures.push(error))
      }
    } while (keys.length === LIBRARIES_PER_STEP)
    if (failures.length > 0) throw new AggregateError(failures, 'some libraries could not be counted')
  }

  /** The sum over all libraries. */
  total(): Promise<Omit<AccountUsage, 'email'>> {
    return sumUsage(this.#db)
  }

  /** A page of accounts, largest first, and whether there is another. */
  async accounts({
    page,
    perPage,
  }: {
    page: number
    perPage: number
  }): Promise<{ accounts: AccountUsage[]; more: boolean }> {
    const found = await listAccountUsage(this.#db, { offset: (page - 1) * perPage, limit: perPage + 1 })
    return { accounts: found.slice(0, perPage), more: found.length > perPage }
  }

  /**
   * The sum over the libraries of an owner, and a page of them, largest first. Starts to count some of the page whose count is stale, and does not
   * wait for it.
   */
  async ofOwner(
    ownerKey: number,
    { page, perPage }: { page: number; perPage: number },
  ): Promise<{ sum: Omit<AccountUsage, 'email'>; libraries: OwnedLibraryUsage[]; more: boolean }> {
    const [sum, found] = await Promise.all([
      sumOwnedUsage(this.#db, ownerKey),
      listOwnedUsage(this.#db, ownerKey, { offset: (page - 1) * perPage, limit: perPage + 1 }),
    ])
    const libraries = found.slice(0, perPage)
    const stale = libraries.filter(({ isCurrent }) => !isCurrent).slice(0, COUNTED_PER_PAGE)
    for (const { key } of stale) {
      const library = await libraryRows.findWithDeleted(this.#db, key)
      if (library !== undefined && library.headSeq > 0) this.#count(library).catch(() => {})
    }
    return { sum, libraries, more: found.length > perPage }
  }

  /** The largest entries of a folder, or the largest files anywhere below it. */
  largest(
    library: Library,
    folder: { readonly path: LibraryPath; readonly stored: StoredDir },
    { below, limit }: { below: boolean; limit: number },
  ): Promise<Largest> {
    if (below) return largestFilesBelow(this.#db, library, folder, limit)
    return largestIn(this.#db, library, { path: folder.path, dir: folder.stored.dir }, limit)
  }

  /** Scans all blocks. Throws CountingStopped. */
  stored(): Promise<StoredBlocks> {
    return this.#db.runInSideProcess<StoredBlocks>(storedProcess, undefined, this.#stopping.signal)
  }

  /** Aborts counting. Unfinished libraries are counted later. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort(new CountingStopped())
    await Promise.allSettled(this.#counting.values())
  }

  async #find(library: LibraryInfo): Promise<KnownUsage> {
    const usage = await findLibraryUsage(this.#db, library.key)
    if (usage?.head !== library.head) return { usage, isCurrent: false }
    return { usage, isCurrent: usage.oldestSeq === (await oldestShown(this.#source, library)) }
  }

  #count(library: LibraryInfo): Promise<void> {
    const running = this.#counting.get(library.key)
    if (running !== undefined) return running
    const counted = this.#last.then(() => this.#countNow(library))
    this.#last = counted.catch(() => {})
    const tracked = counted.finally(() => this.#counting.delete(library.key))
    this.#counting.set(library.key, tracked)
    return tracked
  }

  /** An abort, or a library purged meanwhile, is not a failure. */
  async #countNow(library: LibraryInfo): Promise<void> {
    const { signal } = this.#stopping
    if (signal.aborted) return
    try {
      await putLibraryUsage(this.#db, library.key, await this.#counted(library))
    } catch (error) {
      if (error instanceof CountingStopped) return
      if ((await libraryRows.findWithDeleted(this.#db, library.key)) !== undefined) throw error
    }
  }

  async #counted(library: LibraryInfo): Promise<LibraryUsage> {
    const { key, id, root, head, headSeq, fileCount } = library
    const oldestSeq = await oldestShown(this.#source, library)
    const keepsTrash = keepDays(this.#source, library) !== 0
    if (keepsTrash) await this.#source.pathIndex.catchUp(library)
    const options: CountOptions = { library: { key, id, root, headSeq }, oldestSeq, keepsTrash }
    const counted =
      fileCount + headSeq - oldestSeq <= MAX_IN_PROCESS
        ? await count(this.#db, options, this.#yielding())
        : await this.#db.runInSideProcess<Counted>(countProcess, options, this.#stopping.signal)
    return { ...counted, head, oldestSeq, computedAt: this.#source.now() }
  }

  #yielding() {
    const slicer = new TimeSlicer()
    const { signal } = this.#stopping
    return {
      get isDue() {
        return slicer.isDue
      },
      async rest() {
        await slicer.rest()
        signal.throwIfAborted()
      },
    }
  }
}
