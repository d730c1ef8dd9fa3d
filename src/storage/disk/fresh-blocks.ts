import type { BlockId } from '../../objects/index.ts'

const MIB = 2 ** 20
const MOST_REMEMBERED = 8192
/** Every block is read past the cache so often; a quarter of them once more, a quarter twice, a quarter three times. */
const READS_PAST_CACHE = 2
const READS_APART = 4
/** Milliseconds a reader waits for a MiB of a fast disk, on average. */
const MOST_WAITED_MS = 0.75
/** How much of the average the newest block is. */
const NEWEST = 1 / 8
const SLOW_MS = 60_000

/**
 * Blocks that were written past the page cache, and that nobody read through it since. To read them past it too costs a
 * third of the processor time, and a fast disk makes nobody wait. What is read often gets into the cache nevertheless,
 * not all of a file at once; and where a disk does make readers wait, everything that is read does for a while.
 */
export class FreshBlocks {
  /** How often each was read. */
  readonly #reads = new Map<BlockId, number>()
  #waitedMs = 0
  #slowUntil = 0

  add(id: BlockId): void {
    this.#reads.delete(id)
    this.#reads.set(id, 0)
    if (this.#reads.size <= MOST_REMEMBERED) return
    for (const oldest of this.#reads.keys()) {
      this.#reads.delete(oldest)
      return
    }
  }

  /** It is in the cache, or gone. */
  delete(id: BlockId): void {
    this.#reads.delete(id)
  }

  /** Whether a block that is read now is to be read past the cache. If not, it is fresh no more. */
  take(id: BlockId): boolean {
    const reads = this.#reads.get(id)
    if (reads === undefined) return false
    if (reads < readsPastCache(id) && performance.now() >= this.#slowUntil) {
      this.#reads.set(id, reads + 1)
      return true
    }
    this.#reads.delete(id)
    return false
  }

  /** To be told how long whoever read a block past the cache waited for the disk. */
  noteWaited(bytes: number, waitedMs: number): void {
    this.#waitedMs += NEWEST * ((waitedMs / bytes) * MIB - this.#waitedMs)
    if (this.#waitedMs <= MOST_WAITED_MS) return
    this.#waitedMs = 0
    this.#slowUntil = performance.now() + SLOW_MS
  }
}

/** The ids of blocks are random, so those of one file differ. */
function readsPastCache(id: BlockId): number {
  return READS_PAST_CACHE + (Number.parseInt(id.slice(-2), 16) % READS_APART)
}
