import { CHUNK_BYTES, SMALL_CHUNK_BYTES } from './file-chunks.ts'

// All readers together hold about this many chunks in memory; who comes later reads in smaller ones (I9).
const MOST_LENT = 96
const MOST_KEPT = 32

/** Buffers used again by the next reader: to get new memory costs more than to read into it. */
export class ChunkBuffers {
  readonly #free: Buffer[] = []
  #lent = 0

  take(): Buffer {
    if (this.#lent >= MOST_LENT) return Buffer.allocUnsafeSlow(SMALL_CHUNK_BYTES)
    this.#lent += 1
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES)
  }

  /** Nobody uses the buffer any more. */
  give(buffer: Buffer): void {
    if (buffer.length < CHUNK_BYTES) return
    this.#lent -= 1
    if (this.#free.length < MOST_KEPT) this.#free.push(buffer)
  }
}
