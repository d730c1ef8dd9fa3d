import type { Database } from '../database/index.ts'
import type { Scope, Slice } from './match-wish.ts'
import { findCuts } from './position-store.ts'

const KNOWN_MS = 60_000
const MOST_KNOWN = 1000
// Fewer are looked through in no time.
const FEWEST_ENTRIES = 20_000
// Halves and thirds are had from these.
const PARTS = 6

/**
 * Cuts the index into parts of about the same number of entries. SQLite uses one thread for a statement, and there are
 * two that read: what has to look at all matches is asked of both at once.
 */
export class Slicing {
  readonly #db: Database
  /** Where to cut, by the first and the last library; nowhere if that is not worth it. */
  readonly #known = new Map<string, { readonly cuts: readonly number[]; readonly until: number }>()

  constructor(db: Database) {
    this.#db = db
  }

  async slices({ libraries, partly }: Scope, parts: 2 | 3): Promise<readonly Slice[]> {
    if (this.#db.dialect !== 'sqlite') return [{}]
    let [first, last] = [Number.MAX_SAFE_INTEGER, 0]
    for (const key of [...libraries, ...partly]) {
      first = Math.min(first, key)
      last = Math.max(last, key)
    }
    const known = await this.#cuts(first, last)
    const cuts = known.filter((_, index) => (index + 1) % (PARTS / parts) === 0)
    return [...cuts, undefined].map((before, index) => ({ from: cuts[index - 1], before })).toReversed()
  }

  /** Entries come and go, but a cut that is no longer in the middle is still one. */
  async #cuts(first: number, last: number): Promise<readonly number[]> {
    const name = `${first} ${last}`
    const known = this.#known.get(name)
    if (known !== undefined && known.until > performance.now()) return known.cuts
    const found = await findCuts(this.#db, { first, last }, PARTS)
    const cuts = found.entries < FEWEST_ENTRIES ? [] : found.cuts
    if (this.#known.size >= MOST_KNOWN) this.#known.clear()
    this.#known.set(name, { cuts, until: performance.now() + KNOWN_MS })
    return cuts
  }
}
