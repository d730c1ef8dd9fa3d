const MAX_LIBRARIES = 100_000

interface Known {
  /** The newest epoch of the library's objects that this process has read or made. */
  readonly epoch: number
  /** Part of the keys of the library's cached objects. */
  readonly generation: number
}

/**
 * Invalidates cached objects and blocks of a library when another process deletes or corrects some (record 0053). The row of a library has an epoch,
 * which the transaction that deletes increments. Every request reads the row anyway and passes the epoch to `see`. If it is newer than
 * the known one, the keys of the library change, so that everything cached under the old ones is a miss and is evicted in time.
 */
export class CacheEpochs {
  readonly #libraries = new Map<number, Known>()
  #generations = 0
  /** Of libraries that are not in the map. */
  #base = 0
  #now = 0

  /** Logical time. What was read before it changed must not be cached, because it may be deleted. */
  get now(): number {
    return this.#now
  }

  /** The key of an object or a block in a cache. */
  keyOf(libraryKey: number, id: string): string {
    const generation = this.#libraries.get(libraryKey)?.generation ?? this.#base
    return `${libraryKey}.${generation}:${id}`
  }

  /** To be called with each row of a library that was read. An older row may come later, and changes nothing. */
  see(libraryKey: number, epoch: number): void {
    if (epoch <= this.#epochOf(libraryKey)) return
    this.#now += 1
    this.#set(libraryKey, { epoch, generation: ++this.#generations })
  }

  /** To be called after this process deleted objects, once they are removed from its caches: the others stay valid. */
  advance(libraryKey: number, epoch: number): void {
    this.#now += 1
    if (epoch !== this.#epochOf(libraryKey) + 1) return this.see(libraryKey, epoch)
    const generation = this.#libraries.get(libraryKey)?.generation ?? this.#base
    this.#set(libraryKey, { epoch, generation })
  }

  #epochOf(libraryKey: number): number {
    return this.#libraries.get(libraryKey)?.epoch ?? 0
  }

  #set(libraryKey: number, known: Known): void {
    if (this.#libraries.size >= MAX_LIBRARIES) {
      this.#libraries.clear()
      this.#base = ++this.#generations
    }
    this.#libraries.set(libraryKey, known)
  }
}
