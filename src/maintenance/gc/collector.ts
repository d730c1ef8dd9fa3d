import type { LibraryId } from '../../base/objects/index.ts'
import { DutyCycle } from '../../base/scheduling/index.ts'
import type { LibraryCore } from '../../libraries/library/index.ts'
import { libraryRows } from '../../libraries/registry/index.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import type { BlockStore } from '../../platform/storage/index.ts'
import { collectBlocks } from './collect-blocks.ts'
import { collectLibrary } from './collect-library.ts'
import { deleteCollection, endCollection, findLastCollections, insertCollection } from './collection-store.ts'
import type { OperationLeases } from './operation-leases.ts'
import { Figures, type GcFailure, type GcLibraryReport, type GcReport, type GcState } from './report.ts'

/** What the collector reads and writes. */
interface GcStores {
  readonly db: Database
  readonly blocks: BlockStore
  readonly core: LibraryCore
  readonly leases: OperationLeases
}

interface GcOptions {
  /** Seconds between condemning and deleting. */
  readonly graceSeconds: number
  /** Unix seconds. */
  readonly now: () => number
  /** Called with the error of a library that could not be collected, or of block files. The others are. */
  readonly onError: (error: unknown) => void
  /** Makes the consumers of commits process those of a library: commits that one of them has not processed are kept. */
  readonly processCommits: (libraryKey: number) => Promise<void>
}

interface GcRunOptions {
  /** Only this library, and no blocks outside of libraries. */
  readonly library?: LibraryId | undefined
  /** Counts what would be condemned, released and deleted, and writes nothing. */
  readonly dryRun?: boolean
  readonly signal?: AbortSignal | undefined
}

/** What the steps of one run share. */
export interface GcContext extends GcStores, GcOptions {
  readonly dryRun: boolean
  readonly signal: AbortSignal | undefined
  readonly dutyCycle: DutyCycle
}

/**
 * Online garbage collection (record 0036). A run condemns what nothing refers to, and deletes what was condemned a grace period ago and
 * is still not referred to. It may be interrupted at any time; the next run starts again.
 */
export class GarbageCollector {
  readonly #stores: GcStores
  readonly #options: GcOptions
  #last: Promise<unknown> = Promise.resolve()
  #isRunning = false
  /** Sums since the process started. */
  #deletedBlocks = 0
  #freedBytes = 0

  constructor(stores: GcStores, options: GcOptions) {
    this.#stores = stores
    this.#options = options
  }

  /** The last collections are those of any process: a server, or `carrel gc`. */
  async readState(): Promise<GcState> {
    const { unfinishedSince, ended } = await findLastCollections(this.#stores.db)
    return {
      running: this.#isRunning || unfinishedSince !== undefined,
      lastBeganAt: unfinishedSince ?? ended?.beganAt,
      lastEndedAt: ended?.endedAt,
      lastDuration: ended && ended.endedAt - ended.beganAt,
      lastFailure: ended?.failure,
      deletedBlocks: this.#deletedBlocks,
      freedBytes: this.#freedBytes,
      waitingBytes: ended?.waitingBytes ?? 0,
    }
  }

  /**
   * Runs one collection. Concurrent calls run one after another. A library that could not be collected is in `failures` of the report. Throws the
   * reason of the signal.
   */
  runOnce(options: GcRunOptions = {}): Promise<GcReport> {
    const run = this.#last.then(() => this.#run(options))
    this.#last = run.catch(() => {})
    return run
  }

  async #run(options: GcRunOptions): Promise<GcReport> {
    this.#isRunning = true
    try {
      return options.dryRun === true ? await this.#collect(options) : await this.#recorded(options)
    } finally {
      this.#isRunning = false
    }
  }

  /** Collects, and records when it began and how it ended, for the status of all processes. */
  async #recorded(options: GcRunOptions): Promise<GcReport> {
    const { db } = this.#stores
    const { now } = this.#options
    const write = (work: (tx: Transaction) => Promise<void>) => db.write(work, { durable: false })
    const key = await db.write((tx) => insertCollection(tx, now()), { durable: false })
    try {
      const report = await this.#collect(options)
      const { failures, libraries, ...figures } = report
      // Those of one library say nothing about the others.
      const waitingBytes =
        options.library === undefined
          ? figures.waitingBytes
          : ((await findLastCollections(db)).ended?.waitingBytes ?? 0)
      const values = { ...figures, waitingBytes, libraryCount: libraries.length }
      await write((tx) => endCollection(tx, key, { endedAt: now(), failure: failures[0]?.message }, values))
      this.#deletedBlocks += figures.deleted.blocks
      this.#freedBytes += figures.freedBytes
      return report
    } catch (error) {
      const values = { ...new Figures().values(), libraryCount: 0 }
      const end = (tx: Transaction) =>
        options.signal?.aborted
          ? deleteCollection(tx, key)
          : endCollection(tx, key, { endedAt: now(), failure: String(error) }, values)
      // If the database is what failed, the row stays as that of a process that was killed.
      await write(end).catch(() => {})
      throw error
    }
  }

  async #collect({ library, dryRun = false, signal }: GcRunOptions): Promise<GcReport> {
    const began = performance.now()
    const beganAt = this.#options.now()
    const context: GcContext = {
      ...this.#stores,
      ...this.#options,
      dryRun,
      signal,
      dutyCycle: new DutyCycle({ share: 0.5 }, signal),
    }
    if (!dryRun) await this.#stores.leases.fence()
    const figures = new Figures()
    const libraries: GcLibraryReport[] = []
    const failures: GcFailure[] = []
    for await (const key of this.#keys(library)) {
      signal?.throwIfAborted()
      try {
        const report = await collectLibrary(context, key)
        if (report === undefined) continue
        figures.add(report)
        libraries.push(report)
      } catch (error) {
        signal?.throwIfAborted()
        this.#options.onError(error)
        failures.push(await this.#failureOf(key, error))
      }
    }
    const incomplete = library === undefined ? await collectBlocks(context, figures) : undefined
    if (incomplete !== undefined) {
      this.#options.onError(incomplete)
      failures.push({ library: null, message: incomplete.message })
    }
    const durationMs = Math.round(performance.now() - began)
    return { ...figures.values(), dryRun, beganAt, durationMs, libraries, failures }
  }

  async #failureOf(key: number, error: unknown): Promise<GcFailure> {
    const found = await libraryRows.findWithDeleted(this.#stores.db, key)
    const reason = error instanceof Error ? error.message : String(error)
    const which = found === undefined ? `with the key ${key}` : `${found.name} (${found.id})`
    return {
      library: found?.id ?? null,
      message: `The library ${which} could not be collected, and nothing of it was deleted: ${reason}. Run carrel check to see what is damaged.`,
    }
  }

  async *#keys(only: LibraryId | undefined): AsyncGenerator<number, void> {
    const { db } = this.#stores
    if (only !== undefined) {
      const found = await libraryRows.find(db, only)
      if (found !== undefined) yield found.key
      return
    }
    yield* await libraryRows.listKeys(db, 0, Number.MAX_SAFE_INTEGER)
  }
}
