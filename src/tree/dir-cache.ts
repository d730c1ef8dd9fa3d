import type { Dir } from '../objects/index.ts'
import { CacheEpochs } from './cache-epochs.ts'

/** A dir with the totals that its row stores. */
export interface StoredDir {
  readonly dir: Dir
  /** Bytes of all files below. */
  readonly size: number
  readonly fileCount: number
  /** Folders below; undefined in a row of an older release that was not counted yet. */
  readonly dirCount: number | undefined
  /** Number of deltas between this version and the full copy it is based on. */
  readonly depth: number
}

interface Entry {
  readonly stored: StoredDir
  readonly weight: number
  /** Hit since it was put or last spared by eviction (second chance). */
  used: boolean
}

/**
 * Cache of dirs, limited by weight in bytes (I9). Dirs are immutable, so entries are deleted only with their rows. Keys include the library:
 * a dir of another library is a miss (I7). Eviction is second chance (an approximation of LRU), so that a hit is one lookup.
 */
export class DirCache {
  readonly #limit: number
  readonly #epochs: CacheEpochs
  readonly #entries = new Map<string, Entry>()
  #weight = 0

  constructor(limitBytes: number, epochs = new CacheEpochs()) {
    this.#limit = limitBytes
    this.#epochs = epochs
  }

  get weight(): number {
    return this.#weight
  }

  find(libraryKey: number, id: string): StoredDir | undefined {
    const found = this.#entries.get(this.#epochs.keyOf(libraryKey, id))
    if (found === undefined) return undefined
    found.used = true
    return found.stored
  }

  put(libraryKey: number, stored: StoredDir): void {
    const key = this.#epochs.keyOf(libraryKey, stored.dir.id)
    const previous = this.#entries.get(key)
    if (previous !== undefined) {
      this.#weight -= previous.weight
      this.#entries.delete(key)
    }
    // Weighed once, because a dir grows a little when it is encoded later.
    const weight = stored.dir.weight
    this.#entries.set(key, { stored, weight, used: false })
    this.#weight += weight
    if (this.#weight > this.#limit) this.#evict()
  }

  /** Evicts everything, to return memory while the server is idle. */
  clear(): void {
    this.#entries.clear()
    this.#weight = 0
  }

  delete(libraryKey: number, id: string): void {
    const key = this.#epochs.keyOf(libraryKey, id)
    this.#weight -= this.#entries.get(key)?.weight ?? 0
    this.#entries.delete(key)
  }

  // A Map iterates in insertion order. Deleting and setting a key makes it the newest.
  #evict(): void {
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
