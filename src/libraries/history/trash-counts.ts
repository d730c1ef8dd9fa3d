import type { LibraryInfo } from '../registry/index.ts'
import type { TrashFilter } from './trash-store.ts'

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
