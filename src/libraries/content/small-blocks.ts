import type { BlockId } from '../../base/objects/index.ts'
import { TwoGenerationCache } from '../../base/scheduling/index.ts'
import type { CacheEpochs } from '../tree/index.ts'

// Total size of the cache, including the overhead per entry (I9).
const MAX_BYTES = 8 * 2 ** 20
const ENTRY_OVERHEAD_BYTES = 250

/**
 * Cache of small blocks, by library (I7). Their hash was verified when they were read from the database (I6). Callers must not
 * modify the buffers.
 */
export class SmallBlocks {
  readonly #blocks = new TwoGenerationCache<string, Buffer>(
    MAX_BYTES,
    ({ length }) => length + ENTRY_OVERHEAD_BYTES,
  )
  readonly #epochs: CacheEpochs

  constructor(epochs: CacheEpochs) {
    this.#epochs = epochs
  }

  /** To be taken before a block is read, and handed to `put` with it. */
  get now(): number {
    return this.#epochs.now
  }

  find(libraryKey: number, id: BlockId): Buffer | undefined {
    return this.#blocks.get(this.#epochs.keyOf(libraryKey, id))
  }

  /** Caches a block, unless some were deleted since `readAt`. */
  put(libraryKey: number, id: BlockId, bytes: Buffer, readAt: number): void {
    if (readAt !== this.#epochs.now) return
    // Copied if the row is a view into a much larger buffer, which the cache would retain.
    const own = bytes.buffer.byteLength > 2 * bytes.length ? Buffer.from(bytes) : bytes
    this.#blocks.set(this.#epochs.keyOf(libraryKey, id), own)
  }

  clear(): void {
    this.#blocks.clear()
  }

  delete(libraryKey: number, id: BlockId): void {
    this.#blocks.delete(this.#epochs.keyOf(libraryKey, id))
  }
}
