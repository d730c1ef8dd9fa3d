import { setTimeout as wait } from 'node:timers/promises'
import { findLibraryWithDeleted, type LibraryInfo } from '../commits/index.ts'
import type { Database } from '../database/index.ts'
import { type HistorySource, keepDays, oldestShown, type PathIndex } from '../history/index.ts'
import { TimeSlicer } from '../scheduling/index.ts'
import { type Counted, type CountWish, count } from './count.ts'
import {
  type AccountUsage,
  findLibraryUsage,
  type LibraryUsage,
  listAccountUsage,
  listStaleAfter,
  putLibraryUsage,
  type StoredBlocks,
  sumUsage,
} from './usage-store.ts'

const LIBRARIES_A_STEP = 100
// Files and commits that are counted in a moment; more of them are worth a process.
const FEW = 2000

const countProcess = new URL('./count-process.ts', import.meta.url)
const storedProcess = new URL('./stored-process.ts', import.meta.url)

/** What counting reads from. */
export interface UsageSource extends HistorySource {
  readonly db: Database
  readonly pathIndex: Pick<PathIndex, 'catchUp'>
}

/** Counting was told to stop. */
export class CountingStopped extends Error {
  override name = 'CountingStopped'
}

/** What is known of a library's stored bytes. */
export interface KnownUsage {
  /** Undefined until it was counted once. */
  readonly usage: LibraryUsage | undefined
  /** Whether it is of the head and the history as they are now. */
  readonly isCurrent: boolean
}

/**
 * The stored bytes of libraries, accounts and the whole server. Libraries are counted one at a time in the
 * background, and what was counted is kept with the head it is of (I3).
 */
export class Usage implements AsyncDisposable {
  readonly #source: UsageSource
  readonly #db: Database
  readonly #stopping = new AbortController()
  readonly #counting = new Map<number, Promise<void>>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(source: UsageSource) {
    this.#db = source.db
    // Named one by one: the source may be a whole core, of which no more than this is needed.
    this.#source = {
      db: source.db,
      now: source.now,
      defaultHistoryDays: source.defaultHistoryDays,
      pathIndex: source.pathIndex,
    }
  }

  /** What was counted last; counts anew if it is out of date, and waits for that, but not for long. */
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

  /** Maintenance: counts every library whose head has moved since. One that cannot be counted keeps none of the rest from it. */
  async refresh(): Promise<void> {
    const failures: unknown[] = []
    let keys: number[] = []
    do {
      keys = await listStaleAfter(this.#db, keys.at(-1) ?? 0, LIBRARIES_A_STEP)
      for (const key of keys) {
        if (this.#stopping.signal.aborted) return
        const library = await findLibraryWithDeleted(this.#db, key)
        if (library === undefined) continue
        await this.#count(library).catch((error: unknown) => failures.push(error))
      }
    } while (keys.length === LIBRARIES_A_STEP)
    if (failures.length > 0) throw new AggregateError(failures, 'some libraries could not be counted')
  }

  /** All libraries together, as accounts are counted. */
  total(): Promise<Omit<AccountUsage, 'email'>> {
    return sumUsage(this.#db)
  }

  /** A page of accounts, the greatest first, and whether there is another. */
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

  /** Walks through all blocks there are. Throws CountingStopped. */
  stored(): Promise<StoredBlocks> {
    return this.#db.runInSideProcess<StoredBlocks>(storedProcess, undefined, this.#stopping.signal)
  }

  /** Stops counting; what was not finished is counted another time. */
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

  /** Counting that was told to stop is no failure, nor is it one that a library was purged meanwhile. */
  async #countNow(library: LibraryInfo): Promise<void> {
    const { signal } = this.#stopping
    if (signal.aborted) return
    try {
      await putLibraryUsage(this.#db, library.key, await this.#counted(library))
    } catch (error) {
      if (error instanceof CountingStopped) return
      if ((await findLibraryWithDeleted(this.#db, library.key)) !== undefined) throw error
    }
  }

  async #counted(library: LibraryInfo): Promise<LibraryUsage> {
    const { key, id, root, head, headSeq, fileCount } = library
    const oldestSeq = await oldestShown(this.#source, library)
    const keepsTrash = keepDays(this.#source, library) !== 0
    if (keepsTrash) await this.#source.pathIndex.catchUp(library)
    const wish: CountWish = { library: { key, id, root, headSeq }, oldestSeq, keepsTrash }
    const counted =
      fileCount + headSeq - oldestSeq <= FEW
        ? await count(this.#db, wish, this.#rests())
        : await this.#db.runInSideProcess<Counted>(countProcess, wish, this.#stopping.signal)
    return { ...counted, head, oldestSeq, computedAt: this.#source.now() }
  }

  #rests() {
    const pace = new TimeSlicer()
    const { signal } = this.#stopping
    return {
      get isDue() {
        return pace.isDue
      },
      async rest() {
        await pace.rest()
        signal.throwIfAborted()
      },
    }
  }
}
