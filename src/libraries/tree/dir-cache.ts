import type { Dir } from '../../base/objects/index.ts'
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

/**
 * How many dirs heavier than the limit are kept. Two, because a commit and the consumers that compare it with the one before need two versions of a folder,
 * which share most of their memory.
 */
const HEAVY_DIRS = 2

interface Entry {
  readonly stored: StoredDir
  readonly weight: number
  /** Hit since it was put or last spared by eviction (second chance). */
  used: boolean
}

/**
 * Cache of dirs, limited by weight in bytes (I9). Dirs are immutable, so entries are deleted only with their rows. Keys include the library:
 * a dir of another library is a miss (I7). Eviction is second chance (an approximation of LRU), so that a hit is one lookup.
 *
 * The last two dirs that are heavier than the limit are kept beside the others: decoding a folder of a million entries for each request takes seconds, and
 * more memory than keeping it.
 */
export class DirCache {
  readonly #limit: number
  readonly #epochs: CacheEpochs
  readonly #entries = new Map<string, Entry>()
  readonly #heavy = new Map<string, Entry>()
  #weight = 0

  constructor(limitBytes: number, epochs = new CacheEpochs()) {
    this.#limit = limitBytes
    this.#epochs = epochs
  }

  /** Without the dirs that are heavier than the limit. */
  get weight(): number {
    return this.#weight
  }

  find(libraryKey: number, id: string): StoredDir | undefined {
    const key = this.#epochs.keyOf(libraryKey, id)
    const found = this.#entries.get(key) ?? this.#heavy.get(key)
    if (found === undefined) return undefined
    found.used = true
    return found.stored
  }

  put(libraryKey: number, stored: StoredDir): void {
    const { dir } = stored
    this.delete(libraryKey, dir.id)
    // Weighed once, because a dir grows a little when it is encoded later.
    const entry = { stored, weight: dir.weight, used: false }
    const key = this.#epochs.keyOf(libraryKey, dir.id)
    if (entry.weight > this.#limit) return this.#putHeavy(key, entry)
    this.#entries.set(key, entry)
    this.#weight += entry.weight
    if (this.#weight > this.#limit) this.#evict()
  }

  /** Evicts everything, to return memory while the server is idle. */
  clear(): void {
    this.#entries.clear()
    this.#heavy.clear()
    this.#weight = 0
  }

  delete(libraryKey: number, id: string): void {
    const key = this.#epochs.keyOf(libraryKey, id)
    this.#weight -= this.#entries.get(key)?.weight ?? 0
    this.#entries.delete(key)
    this.#heavy.delete(key)
  }

  #putHeavy(key: string, entry: Entry): void {
    this.#heavy.set(key, entry)
    for (const oldest of this.#heavy.keys()) {
      if (this.#heavy.size <= HEAVY_DIRS) return
      this.#heavy.delete(oldest)
    }
  }

  // A Map iterates in insertion order. Deleting and setting a key makes it the newest.
  #evict(): void {
    for (const [oldest, entry] of this.#entries) {
      if (this.#weight <= this.#limit) return
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
