import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../database/index.ts'
import { findWritten, MERGED_TABLES, type MergedTable, mergeSome, putMerged } from './merge-store.ts'

const LOOK_AGAIN_MS = 300_000
// A step takes some hundredths of a second; who else writes waits no longer.
const PAGES_A_STEP = 500
// All is written again for a merge: not before a quarter is new, and some thousand entries are.
const NEW_SHARE = 0.25
const FEWEST_NEW = 5000

interface MergingOptions {
  readonly db: Database
  /** Resolves once the tables are there. */
  readonly prepare: () => Promise<void>
  readonly onError: (error: unknown) => void
}

/**
 * On SQLite each write adds a part to the index, and a search looks into every part. The engine merges a few of them at
 * a time; this makes one of all where it has become worth it.
 */
export class Merging {
  readonly #options: MergingOptions
  readonly #stopping = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined

  constructor(options: MergingOptions) {
    this.#options = options
  }

  /** Looks from time to time whether it is worth it, first in a while: a start has more urgent work. */
  start(): void {
    const look = () =>
      void this.look().catch((error: unknown) => {
        if (!this.#stopping.signal.aborted) this.#options.onError(error)
      })
    this.#timer = setInterval(look, LOOK_AGAIN_MS).unref()
  }

  /** Merges if it is worth it. */
  look(): Promise<void> {
    this.#running ??= this.#look().finally(() => (this.#running = undefined))
    return this.#running
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the server is stopping'))
    clearInterval(this.#timer)
    await this.#running?.catch(() => {})
  }

  async #look(): Promise<void> {
    const { db, prepare } = this.#options
    if (db.dialect !== 'sqlite') return
    await prepare()
    const { written, merged } = await findWritten(db)
    if (written - merged < Math.max(merged * NEW_SHARE, FEWEST_NEW)) return
    for (const table of MERGED_TABLES) await this.#merge(table)
    if (!this.#stopping.signal.aborted) await putMerged(db, written)
  }

  async #merge(table: MergedTable): Promise<void> {
    const { db } = this.#options
    for (let begins = true; !this.#stopping.signal.aborted; begins = false) {
      const began = performance.now()
      const isMore = await db.write((tx) => mergeSome(tx, table, PAGES_A_STEP, begins), { durable: false })
      if (!isMore) return
      // Half of the time is left to others.
      await delay(performance.now() - began, undefined, { signal: this.#stopping.signal })
    }
  }
}
