/** A cached listing and the modifiers it was rendered with. */
interface CachedListing {
  readonly people: string
  readonly text: Buffer
}

/**
 * LRU cache of rendered listings, bounded in bytes (I9). Dirs are immutable and the dir id is in the key,
 * so an entry becomes stale only when a modifier's name changes. `people` detects that.
 */
export class ListingCache {
  readonly #limit: number
  readonly #entries = new Map<string, CachedListing>()
  #bytes = 0

  constructor(limitBytes: number) {
    this.#limit = limitBytes
  }

  get bytes(): number {
    return this.#bytes
  }

  find(key: string, people: string): Buffer | undefined {
    const found = this.#entries.get(key)
    if (found?.people !== people) return undefined
    // Maps iterate in insertion order: inserting again marks the entry as most recently used.
    this.#entries.delete(key)
    this.#entries.set(key, found)
    return found.text
  }

  /** Whether a listing of this size is cached: at most a quarter of the limit. */
  accepts(bytes: number): boolean {
    return bytes <= this.#limit / 4
  }

  put(key: string, people: string, text: Buffer): void {
    this.#remove(key)
    if (!this.accepts(text.length)) return
    this.#entries.set(key, { people, text })
    this.#bytes += text.length
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#limit) break
      this.#remove(oldest)
    }
  }

  clear(): void {
    this.#entries.clear()
    this.#bytes = 0
  }

  #remove(key: string): void {
    const found = this.#entries.get(key)
    if (found === undefined) return
    this.#entries.delete(key)
    this.#bytes -= found.text.length
  }
}
