import { poison } from '../../poison.ts'
import { alignedMemory } from './aligned-memory.ts'
import { CHUNK_BYTES, SMALL_CHUNK_BYTES } from './file-chunks.ts'

// All readers together hold about this many chunks in memory; who comes later reads in smaller ones (I9).
const MOST_LENT = 96
const MOST_KEPT = 32

/**
 * Buffers used again by the next reader: to get new memory costs more than to read into it. Those that are kept begin a
 * page, and can be read into past the page cache.
 */
export class ChunkBuffers {
  readonly #free: Buffer[] = []
  #aligned: ArrayBufferLike | undefined
  #lent = 0

  take(): Buffer {
    if (this.#lent >= MOST_LENT) return Buffer.allocUnsafeSlow(SMALL_CHUNK_BYTES)
    this.#lent += 1
    if (this.#aligned === undefined) this.#prepare()
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES)
  }

  /** Nobody uses the buffer any more. */
  give(buffer: Buffer): void {
    poison(buffer)
    if (buffer.length < CHUNK_BYTES) return
    this.#lent -= 1
    if (this.isAligned(buffer)) this.#free.push(buffer)
  }

  /** Whether a buffer begins a page, and goes on to the end of one. */
  isAligned(buffer: Buffer): boolean {
    return buffer.buffer === this.#aligned
  }

  /** Memory nobody has written to yet takes up none, so all is asked for at once. */
  #prepare(): void {
    const memory = alignedMemory(MOST_KEPT * CHUNK_BYTES)
    this.#aligned = memory
    for (let end = memory.byteLength; end > 0; end -= CHUNK_BYTES) {
      this.#free.push(Buffer.from(memory, end - CHUNK_BYTES, CHUNK_BYTES))
    }
  }
}
