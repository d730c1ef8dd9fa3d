import type { Dir } from '../objects/index.ts'

/** A dir with what its row knows about everything below it. */
export interface StoredDir {
  readonly dir: Dir
  /** Bytes of all files below. */
  readonly size: number
  readonly fileCount: number
  /** Folders below; undefined in a row of an older version that was not counted yet. */
  readonly dirCount: number | undefined
  /** Number of deltas between this version and the full copy it is based on. */
  readonly depth: number
}

interface Entry {
  readonly stored: StoredDir
  readonly weight: number
  /** Asked for since it was put or last passed over. */
  used: boolean
}

/**
 * Keeps the dirs used lately, up to a weight in bytes (I9). Dirs never change, so nothing here can
 * be stale. Keys carry the library: a dir of another library is "not here" (I7). The oldest goes first,
 * but one that was used since gets a second round, so that a hit costs no more than a look-up.
 */
export class DirCache {
  readonly #limit: number
  readonly #entries = new Map<string, Entry>()
  #weight = 0

  constructor(limitBytes: number) {
    this.#limit = limitBytes
  }

  get weight(): number {
    return this.#weight
  }

  find(libraryKey: number, id: string): StoredDir | undefined {
    const found = this.#entries.get(`${libraryKey}:${id}`)
    if (found === undefined) return undefined
    found.used = true
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
    this.#entries.set(key, { stored, weight, used: false })
    this.#weight += weight
    if (this.#weight > this.#limit) this.#shrink()
  }

  // A Map lists its keys in the order they were set: setting one again makes it the newest.
  #shrink(): void {
    for (const [oldest, entry] of this.#entries) {
      if (this.#weight <= this.#limit || this.#entries.size === 1) return
      this.#entries.delete(oldest)
      if (entry.used) {
        entry.used = false
        this.#entries.set(oldest, entry)
      } else {
        this.#weight -= entry.weight
      }
    }
  }
}
