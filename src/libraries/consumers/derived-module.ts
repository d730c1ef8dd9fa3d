import { setImmediate as nextTurn } from 'node:timers/promises'
import { fail } from '../../base/errors.ts'
import type { Database } from '../../platform/database/index.ts'
import type { RecentCommits } from '../commits/index.ts'
import type { LibraryInfo } from '../registry/index.ts'
import { libraryRows } from '../registry/index.ts'
import { positionRows } from './consumer-store.ts'
import { type DerivedRows, DerivedTransaction } from './derived-rows.ts'

const COMMITS_PER_STEP = 250
const MAX_POSITIONS_KEPT = 10_000

/** How far a module has processed the commits of a library. Modules may store more with it. */
export interface DerivedPosition {
  /** The number of the last processed commit; 0 for none. */
  readonly seq: number
}

/** What a step has reached. With `rows`, they are still to be written. */
export interface DerivedStep<P extends DerivedPosition> {
  readonly reached: P
  readonly rows?: DerivedRows
}

/** Rows that are derived from the commits of each library (I3). */
export interface DerivedModule<P extends DerivedPosition> {
  /** The name its positions are stored under. */
  readonly name: string
  /** The database of its rows. */
  readonly db: Database
  /** Reads the position, for modules that store it with their own data. Default: the consumer's row. */
  readonly position?: (libraryKey: number) => Promise<P>
  /**
   * Derives rows from the commits after `from` up to `wanted`, or fewer if they changed much. Returns rows for one transaction, or writes them itself in
   * several. Undefined if another process was first.
   */
  readonly step: (library: LibraryInfo, from: P, wanted: number) => Promise<DerivedStep<P> | undefined>
  /** Libraries in the trash are not processed. */
  readonly stopsAtDeletion?: boolean
  /** Commits are processed in the background only once `start` was called. */
  readonly startsLater?: boolean
}

export interface ConsumerParts {
  /** The database of libraries, commits and positions. */
  readonly db: Database
  readonly recentCommits: Pick<RecentCommits, 'has'>
}

/**
 * Processes the commits of each library in order for one module, each exactly once. Readers that need current data call `catchUp`
 * first.
 */
export class ModuleConsumer<P extends DerivedPosition = DerivedPosition> {
  readonly #parts: ConsumerParts
  readonly #module: DerivedModule<P>
  readonly #running = new Map<number, Promise<void>>()
  /** Known positions by library key. */
  readonly #positions = new Map<number, P>()
  #isStarted: boolean
  #stopped = false

  constructor(parts: ConsumerParts, module: DerivedModule<P>) {
    this.#parts = parts
    this.#module = module
    this.#isStarted = module.startsLater !== true
  }

  /** Begins to process new commits in the background. */
  start(): void {
    this.#isStarted = true
  }

  /** Whether new commits are processed in the background. */
  get isActive(): boolean {
    return this.#isStarted && !this.#stopped
  }

  /**
   * Resolves once every commit up to the library's head is processed. Throws library-not-found if it is
   * purged. `transaction`: writes the rows of other modules, too.
   */
  async catchUp(library: LibraryInfo, transaction = new DerivedTransaction()): Promise<void> {
    while ((this.#positions.get(library.key)?.seq ?? 0) < library.headSeq) {
      const running = this.#running.get(library.key)
      await (running ?? this.#start(library, transaction))
    }
  }

  /**
   * Invalidates the known positions, for example after derived data was deleted. The next catchUp reads them
   * again.
   */
  invalidate(libraryKey?: number): void {
    if (libraryKey === undefined) this.#positions.clear()
    else this.#positions.delete(libraryKey)
  }

  /** Resolves when the library is not being processed. Errors are reported to the callers of catchUp. */
  async ended(libraryKey: number): Promise<void> {
    await this.#running.get(libraryKey)?.catch(() => {})
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.allSettled(this.#running.values())
  }

  #start(library: LibraryInfo, transaction: DerivedTransaction): Promise<void> {
    transaction.join()
    const running = this.#follow(library, transaction).finally(() => {
      this.#running.delete(library.key)
      transaction.leave()
    })
    this.#running.set(library.key, running)
    return running
  }

  async #follow(library: LibraryInfo, transaction: DerivedTransaction): Promise<void> {
    let at = this.#known(library) ?? (await this.#position(library))
    while (at.seq < library.headSeq && !this.#stopped) {
      const reached = await this.#step(library, at, transaction).catch(async (error: unknown) => {
        await refusePurged(this.#parts.db, library)
        throw error
      })
      if (reached === undefined) await refusePurged(this.#parts.db, library)
      // If another process was first, its position is authoritative.
      at = reached ?? (await this.#position(library))
      if (at.seq < library.headSeq) await nextTurn()
    }
    if (this.#stopped && at.seq < library.headSeq)
      throw new Error(`the consumer ${this.#module.name} is stopping`)
    this.#keep(library.key, at)
  }

  async #step(library: LibraryInfo, at: P, transaction: DerivedTransaction): Promise<P | undefined> {
    const { db, name, step, stopsAtDeletion } = this.#module
    const refusing = stopsAtDeletion ? refuseDeleted(this.#parts.db, library) : undefined
    const wanted = Math.min(at.seq + COMMITS_PER_STEP, library.headSeq)
    const [done] = await Promise.all([step(library, at, wanted), refusing])
    if (done?.rows === undefined) return done?.reached
    const { rows, reached } = done
    const move = { libraryKey: library.key, name, from: at.seq, to: reached.seq }
    return (await transaction.write({ db, rows, ...move })) ? reached : undefined
  }

  /** The last position, as long as no other process has committed since: then none has moved it. */
  #known({ key, headSeq }: LibraryInfo): P | undefined {
    const known = this.#positions.get(key)
    return known && this.#parts.recentCommits.has(key, known.seq + 1, headSeq) ? known : undefined
  }

  async #position({ key }: LibraryInfo): Promise<P> {
    const { position, name } = this.#module
    if (position !== undefined) return position(key)
    return { seq: await positionRows.find(this.#parts.db, key, name) } as P
  }

  #keep(libraryKey: number, at: P): void {
    this.#positions.delete(libraryKey)
    this.#positions.set(libraryKey, at)
    for (const key of this.#positions.keys()) {
      if (this.#positions.size <= MAX_POSITIONS_KEPT) break
      this.#positions.delete(key)
    }
  }
}

/** Throws library-not-found for a library that is purged, or being purged. */
async function refusePurged(db: Database, { key, id }: LibraryInfo): Promise<void> {
  if ((await libraryRows.findWithDeleted(db, key)) === undefined) fail({ code: 'library-not-found', id })
}

/** Throws library-not-found for a library that is deleted or purged, for modules that stop at deletion. */
export async function refuseDeleted(db: Database, { key, id }: LibraryInfo): Promise<void> {
  if ((await libraryRows.findByKey(db, key)) === undefined) fail({ code: 'library-not-found', id })
}
