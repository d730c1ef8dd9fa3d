import type { Database } from '../database/database.ts'
import { rootKeyOf } from './keys.ts'
import type { Scope, Slice } from './match-wish.ts'
import { findMiddle } from './position-store.ts'

const KNOWN_MS = 60_000
const MOST_KNOWN = 1000
// Fewer are looked through in no time.
const FEWEST_ENTRIES = 20_000

/**
 * Cuts the index in two of about the same number of entries. SQLite uses one thread for a statement, and there are two
 * that read: what has to look at all matches is asked of both at once.
 */
export class Slicing {
  readonly #db: Database
  /** Where to cut, by the first and the last library; undefined if that is not worth it. */
  readonly #known = new Map<string, { readonly cut: number | undefined; readonly until: number }>()

  constructor(db: Database) {
    this.#db = db
  }

  async slices({ libraries, partly }: Scope): Promise<readonly Slice[]> {
    if (this.#db.dialect !== 'sqlite') return [{}]
    const cut = await this.#cut(
      [libraries, partly].flat().reduce((lowest, key) => Math.min(lowest, key), Number.MAX_SAFE_INTEGER),
      [libraries, partly].flat().reduce((highest, key) => Math.max(highest, key), 0),
    )
    return cut === undefined ? [{}] : [{ from: cut }, { before: cut }]
  }

  /** Entries come and go, but a cut that is no longer in the middle is still one. */
  async #cut(first: number, last: number): Promise<number | undefined> {
    const name = `${first} ${last}`
    const known = this.#known.get(name)
    if (known !== undefined && known.until > performance.now()) return known.cut
    const middle = await findMiddle(this.#db, first, last)
    const cut =
      middle === undefined || middle.entries < FEWEST_ENTRIES
        ? undefined
        : rootKeyOf(middle.libraryKey) + middle.number
    if (this.#known.size >= MOST_KNOWN) this.#known.clear()
    this.#known.set(name, { cut, until: performance.now() + KNOWN_MS })
    return cut
  }
}
