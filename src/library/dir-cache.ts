import type { Dir } from '../objects/dir.ts'

/** A dir with what its row knows about everything below it. */
export interface StoredDir {
  readonly dir: Dir
  /** Bytes of all files below. */
  readonly size: number
  readonly fileCount: number
  /** How many differences lie between this version and the whole copy it rests on. */
  readonly depth: number
}

/**
 * Keeps the dirs used last, up to a weight in bytes (I9). Dirs never change, so nothing here can
 * be stale. Keys carry the library: a dir of another library is "not here" (I7).
 */
export class DirCache {
  readonly #limit: number
  readonly #entries = new Map<string, { stored: StoredDir; weight: number }>()
  #weight = 0

  constructor(limitBytes: number) {
    this.#limit = limitBytes
  }

  get weight(): number {
    return this.#weight
  }

  find(libraryKey: number, id: string): StoredDir | undefined {
    const key = `${libraryKey}:${id}`
    const found = this.#entries.get(key)
    if (found === undefined) return undefined
    // A Map lists its keys in the order they were set: setting again makes this the newest.
    this.#entries.delete(key)
    this.#entries.set(key, found)
    return found.stored
  }

  put(libraryKey: number, stored: StoredDir): void {
    const key = `${libraryKey}:${stored.dir.id}`
    const previous = this.#entries.get(key)
    if (previous !== undefined) {
      this.#weight -= previous.weight
      this.#entries.delete(key)
    }
    // A dir can grow a little afterwards, when its encoded form is asked for: weigh it once.
    const weight = stored.dir.weight
    this.#entries.set(key, { stored, weight })
    this.#weight += weight
    for (const [oldest, entry] of this.#entries) {
      if (this.#weight <= this.#limit || this.#entries.size === 1) break
      this.#entries.delete(oldest)
      this.#weight -= entry.weight
    }
  }
}
