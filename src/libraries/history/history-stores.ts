import type { Database } from '../../platform/database/index.ts'
import type { LibraryInfo } from '../registry/index.ts'
import type { ObjectStore } from '../tree/index.ts'
import type { PathIndex } from './path-index.ts'
import type { TrashFilter } from './trash-store.ts'

/** The services that reading history and trash needs. */
export interface HistoryStores {
  readonly db: Database
  readonly objects: ObjectStore
  readonly pathIndex: PathIndex
  readonly trashCounts: TrashCounts
  /** Unix seconds. */
  readonly now: () => number
  /** Default history limit of libraries in days. Negative: unlimited. */
  readonly defaultHistoryDays: number
}

const MAX_ENTRIES = 256

/**
 * LRU cache of the number of trash items by library, head and filter, because counting takes time linear in the trash and the pages
 * of a listing are requested in sequence. A count depends on the head only, so entries are never invalidated. Bounded (I9).
 */
export class TrashCounts {
  readonly #counts = new Map<string, number>()

  async of(library: LibraryInfo, filter: TrashFilter, count: () => Promise<number>): Promise<number> {
    const key = `${library.key} ${library.head} ${JSON.stringify(filter)}`
    const total = this.#counts.get(key) ?? (await count())
    this.#counts.delete(key)
    this.#counts.set(key, total)
    const [oldest] = this.#counts.keys()
    if (this.#counts.size > MAX_ENTRIES && oldest !== undefined) this.#counts.delete(oldest)
    return total
  }
}
