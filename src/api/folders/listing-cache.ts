/** What a kept text was written from, besides the key. */
interface Kept {
  readonly people: string
  readonly text: Buffer
}

/**
 * Keeps the texts of the folders listed last, up to a number of bytes (I9). A dir never changes and
 * its id is in the key, so a text is stale only when somebody's name changed: `people` tells.
 */
export class ListingCache {
  readonly #limit: number
  readonly #kept = new Map<string, Kept>()
  #bytes = 0

  constructor(limitBytes: number) {
    this.#limit = limitBytes
  }

  get bytes(): number {
    return this.#bytes
  }

  find(key: string, people: string): Buffer | undefined {
    const found = this.#kept.get(key)
    if (found?.people !== people) return undefined
    // A Map lists its keys in the order they were set: setting again makes this the newest.
    this.#kept.delete(key)
    this.#kept.set(key, found)
    return found.text
  }

  /** Whether a text of this many bytes is kept: one may take a quarter of the room. */
  takes(bytes: number): boolean {
    return bytes <= this.#limit / 4
  }

  put(key: string, people: string, text: Buffer): void {
    this.#drop(key)
    if (!this.takes(text.length)) return
    this.#kept.set(key, { people, text })
    this.#bytes += text.length
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#limit) break
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    const found = this.#kept.get(key)
    if (found === undefined) return
    this.#kept.delete(key)
    this.#bytes -= found.text.length
  }
}
