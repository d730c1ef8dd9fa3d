import { poison } from '../../../../base/poison.ts'
import { CHUNK_BYTES, SMALL_CHUNK_BYTES } from './file-chunks.ts'

// All readers together borrow at most this many full chunks; later readers get small ones (I9).
const MAX_BORROWED = 96
const MAX_POOLED = 32

/** Pool of chunk buffers. Allocating a buffer costs more than reading into it. */
export class ChunkBufferPool {
  readonly #free: Buffer[] = []
  #borrowed = 0

  borrow(): Buffer {
    if (this.#borrowed >= MAX_BORROWED) return Buffer.allocUnsafeSlow(SMALL_CHUNK_BYTES)
    this.#borrowed += 1
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES)
  }

  return(buffer: Buffer): void {
    poison(buffer)
    if (buffer.length < CHUNK_BYTES) return
    this.#borrowed -= 1
    if (this.#free.length < MAX_POOLED) this.#free.push(buffer)
  }

  /** Frees the pooled buffers. */
  clear(): void {
    this.#free.length = 0
  }
}
