import type { Database } from '../../platform/database/index.ts'
import type { Scope, Slice } from './match-request.ts'
import { findCuts } from './position-store.ts'

const KNOWN_MS = 60_000
const MAX_KNOWN = 1000
// Below this number of entries, slicing does not pay.
const MIN_ENTRIES = 20_000
const PARTS = 2

/**
 * Cuts the index into slices of about equal size. SQLite runs a statement on one thread, and there are
 * two reader threads: queries that must visit all matches run on both in parallel.
 */
export class IndexSlicing {
  readonly #db: Database
  /** The cuts, by first and last library; none if slicing does not pay. */
  readonly #known = new Map<string, { readonly cuts: readonly number[]; readonly until: number }>()

  constructor(db: Database) {
    this.#db = db
  }

  async slices({ libraries, partly }: Scope): Promise<readonly Slice[]> {
    if (this.#db.dialect !== 'sqlite') return [{}]
    let [first, last] = [Number.MAX_SAFE_INTEGER, 0]
    for (const key of [...libraries, ...partly]) {
      first = Math.min(first, key)
      last = Math.max(last, key)
    }
    const cuts = await this.#cuts(first, last)
    return [...cuts, undefined].map((before, index) => ({ from: cuts[index - 1], before })).toReversed()
  }

  /** Cached: an outdated cut is still valid, only less balanced. */
  async #cuts(first: number, last: number): Promise<readonly number[]> {
    const name = `${first} ${last}`
    const known = this.#known.get(name)
    if (known !== undefined && known.until > performance.now()) return known.cuts
    const found = await findCuts(this.#db, { first, last }, PARTS)
    const cuts = found.entries < MIN_ENTRIES ? [] : found.cuts
    if (this.#known.size >= MAX_KNOWN) this.#known.clear()
    this.#known.set(name, { cuts, until: performance.now() + KNOWN_MS })
    return cuts
  }
}
