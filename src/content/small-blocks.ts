import type { BlockId } from '../objects/index.ts'
import { TwoGenerationCache } from '../scheduling/index.ts'

// All of them together, each with what holding it takes besides its bytes (I9).
const MOST_BYTES = 8 * 2 ** 20
const BYTES_OF_HOLDING = 250

/**
 * The bytes of small blocks read last, for each library that holds them (I7). They hashed to their id when they were
 * read from where they rest, and nothing can change them here (I6). Nobody may write to them.
 */
export class SmallBlocks {
  readonly #blocks = new TwoGenerationCache<string, Buffer>(
    MOST_BYTES,
    ({ length }) => length + BYTES_OF_HOLDING,
  )

  find(libraryKey: number, id: BlockId): Buffer | undefined {
    return this.#blocks.get(`${libraryKey}:${id}`)
  }

  remember(libraryKey: number, id: BlockId, bytes: Buffer): void {
    // A row can come in the middle of something larger, which would be kept with it.
    const own = bytes.buffer.byteLength > 2 * bytes.length ? Buffer.from(bytes) : bytes
    this.#blocks.set(`${libraryKey}:${id}`, own)
  }
}
