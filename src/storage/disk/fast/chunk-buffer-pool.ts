import { poison } from '../../../poison.ts'
import { alignedMemory } from './aligned-memory.ts'
import { CHUNK_BYTES, SMALL_CHUNK_BYTES } from './file-chunks.ts'

// All readers together borrow at most this many full chunks; later readers get small ones (I9).
const MAX_BORROWED = 96
const MAX_POOLED = 32

/**
 * Pool of chunk buffers. Allocating a buffer costs more than reading into it. Pooled buffers are page-aligned, as O_DIRECT requires;
 * buffers beyond the pool are not.
 */
export class ChunkBufferPool {
  readonly #free: Buffer[] = []
  #aligned: ArrayBufferLike | undefined
  #borrowed = 0

  borrow(): Buffer {
    if (this.#borrowed >= MAX_BORROWED) return Buffer.allocUnsafeSlow(SMALL_CHUNK_BYTES)
    this.#borrowed += 1
    if (this.#aligned === undefined) this.#allocate()
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES)
  }

  return(buffer: Buffer): void {
    poison(buffer)
    if (buffer.length < CHUNK_BYTES) return
    this.#borrowed -= 1
    if (this.isAligned(buffer)) this.#free.push(buffer)
  }

  /** Whether a buffer starts at a page boundary and extends to one. */
  isAligned(buffer: Buffer): boolean {
    return buffer.buffer === this.#aligned
  }

  /** All at once: the kernel assigns pages only when they are first written. */
  #allocate(): void {
    const memory = alignedMemory(MAX_POOLED * CHUNK_BYTES)
    this.#aligned = memory
    for (let end = memory.byteLength; end > 0; end -= CHUNK_BYTES) {
      this.#free.push(Buffer.from(memory, end - CHUNK_BYTES, CHUNK_BYTES))
    }
  }
}
