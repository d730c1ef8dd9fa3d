import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../../platform/database/index.ts'
import {
  findWritten,
  hasDeletedWords,
  MERGED_TABLES,
  type MergedTable,
  mergeSome,
  putMerged,
} from './merge-store.ts'

const LOOK_AGAIN_MS = 300_000
// Pages per merge step: 10 to 50 ms, the longest that other writers wait.
const PAGES_PER_STEP = 500
// A merge rewrites the index: only if a quarter of it, and some thousand entries, are new.
const NEW_SHARE = 0.25
const MIN_NEW = 5000

const ERASE_PAUSE_FACTOR = 50

interface MergingOptions {
  readonly db: Database
  /** Resolves once the tables exist. */
  readonly prepare: () => Promise<void>
  readonly onError: (error: unknown) => void
}

/**
 * On SQLite each write adds a segment to the FTS5 index, and a search visits every segment. The engine merges a few at
 * a time; this class merges all of them when it pays.
 */
export class IndexMerging {
  readonly #options: MergingOptions
  readonly #stopping = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #last: Promise<void> = Promise.resolve()
  #eraseFromMs = 0

  constructor(options: MergingOptions) {
    this.#options = options
  }

  /** Checks periodically whether a merge pays; not right after the start, which has more urgent work. */
  start(): void {
    const look = () =>
      void this.look().catch((error: unknown) => {
        if (!this.#stopping.signal.aborted) this.#options.onError(error)
      })
    this.#timer = setInterval(look, LOOK_AGAIN_MS).unref()
  }

  /** Merges if it pays. */
  look(): Promise<void> {
    return this.#serialized(() => this.#look())
  }

  /**
   * Removes the words of deleted rows, which FTS5 only marks as deleted, by merging the segments of the index. That rewrites the index, so
   * unless `atOnce` is set it takes at most 2 % of the time.
   */
  async eraseDeleted(signal: AbortSignal, { atOnce = false } = {}): Promise<void> {
    if (!atOnce && performance.now() < this.#eraseFromMs) return
    await this.#serialized(() => this.#eraseDeleted(signal))
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the server is stopping'))
    clearInterval(this.#timer)
    await this.#last
  }

  /** One at a time: both rewrite the same segments. */
  async #serialized(work: () => Promise<void>): Promise<void> {
    const run = this.#last.then(work)
    this.#last = run.catch(() => {})
    return run
  }

  async #look(): Promise<void> {
    const { db, prepare } = this.#options
    if (db.dialect !== 'sqlite' || this.#stopping.signal.aborted) return
    await prepare()
    const { written, merged } = await findWritten(db)
    if (written - merged < Math.max(merged * NEW_SHARE, MIN_NEW)) return
    for (const table of MERGED_TABLES) await this.#merge(table, this.#stopping.signal)
    if (!this.#stopping.signal.aborted) await putMerged(db, written)
  }

  async #eraseDeleted(signal: AbortSignal): Promise<void> {
    const { db, prepare } = this.#options
    if (db.dialect !== 'sqlite') return
    await prepare()
    const began = performance.now()
    const ending = AbortSignal.any([signal, this.#stopping.signal])
    for (const table of MERGED_TABLES) {
      if (!ending.aborted && (await hasDeletedWords(db, table))) await this.#merge(table, ending)
    }
    this.#eraseFromMs = performance.now() + (performance.now() - began) * ERASE_PAUSE_FACTOR
  }

  async #merge(table: MergedTable, signal: AbortSignal): Promise<void> {
    const { db } = this.#options
    for (let begins = true; !signal.aborted; begins = false) {
      const began = performance.now()
      const isMore = await db.write((tx) => mergeSome(tx, table, PAGES_PER_STEP, begins), { durable: false })
      if (!isMore) return
      // Pauses half of the time, so that other writers get through.
      await delay(performance.now() - began, undefined, { signal }).catch(() => {})
    }
  }
}
