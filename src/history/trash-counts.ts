import type { LibraryInfo } from '../commits/index.ts'
import type { TrashFilter } from './trash-store.ts'

const MOST = 256

/**
 * How much of the trash of a library some filters lately found, as of a head: counting takes time with the
 * size of the trash, and pages of one listing are asked for one after another. Nothing here goes stale, as what
 * is counted changes with the head only; the longest unused goes first (I9).
 */
export class TrashCounts {
  readonly #counts = new Map<string, number>()

  async of(library: LibraryInfo, filter: TrashFilter, count: () => Promise<number>): Promise<number> {
    const key = `${library.key} ${library.head} ${JSON.stringify(filter)}`
    const total = this.#counts.get(key) ?? (await count())
    this.#counts.delete(key)
    this.#counts.set(key, total)
    const [oldest] = this.#counts.keys()
    if (this.#counts.size > MOST && oldest !== undefined) this.#counts.delete(oldest)
    return total
  }
}
