import type { BlockId } from '../../../objects/index.ts'

const MAX_BLOCKS = 8192

/**
 * Blocks written with O_DIRECT and not read since. They are not in the page cache, so their first read comes from the disk in any case,
 * and O_DIRECT makes it cost a third of the processor time. Later reads are buffered, so that repeated downloads are served from memory.
 */
export class FreshBlocks {
  readonly #ids = new Set<BlockId>()

  /** Evicts the oldest block if there are too many. */
  add(id: BlockId): void {
    this.#ids.delete(id)
    this.#ids.add(id)
    if (this.#ids.size <= MAX_BLOCKS) return
    for (const oldest of this.#ids) {
      this.#ids.delete(oldest)
      return
    }
  }

  /** Removes the block. True if this read should use O_DIRECT. */
  delete(id: BlockId): boolean {
    return this.#ids.delete(id)
  }
}
