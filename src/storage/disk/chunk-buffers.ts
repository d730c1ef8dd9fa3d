import { CHUNK_BYTES } from './file-chunks.ts'

// 16 MiB: enough for ten readers at once. More readers allocate what they need.
const MOST_KEPT = 32

/** Buffers of one chunk each, used again by the next reader: new memory costs more than what is read into it. */
export class ChunkBuffers {
  readonly #free: Buffer[] = []

  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES)
  }

  /** The caller and everybody it gave it to are done with the buffer. */
  give(buffer: Buffer): void {
    if (this.#free.length < MOST_KEPT) this.#free.push(buffer)
  }
}
