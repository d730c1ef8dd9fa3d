import { poison } from '../../../../base/poison.ts'

/** Size of a shared buffer. */
export const SHARED_BUFFER_BYTES = 512 * 1024
const BUFFERS_PER_ALLOCATION = 8

/** A buffer in shared memory through which a block passes from the event loop to a hash thread and the disk. */
export interface SharedBuffer {
  /** The memory and the offset in it, for other threads. */
  readonly memory: SharedArrayBuffer
  readonly offset: number
  readonly bytes: Buffer
}

/** Pool of shared buffers. It grows to the number borrowed at the same time and shrinks to none by `clear`. */
export class SharedBufferPool {
  #free: SharedBuffer[] = []
  #borrowed = 0

  borrow(): SharedBuffer {
    if (this.#free.length === 0) this.#grow()
    const buffer = this.#free.pop()
    if (buffer === undefined) throw new Error('the pool of shared buffers is empty')
    this.#borrowed += 1
    return buffer
  }

  return(buffer: SharedBuffer): void {
    poison(buffer.bytes)
    this.#borrowed -= 1
    this.#free.push(buffer)
  }

  /** Frees all memory unless a buffer is borrowed. */
  clear(): void {
    if (this.#borrowed === 0) this.#free = []
  }

  #grow(): void {
    const memory = new SharedArrayBuffer(BUFFERS_PER_ALLOCATION * SHARED_BUFFER_BYTES)
    for (let offset = 0; offset < memory.byteLength; offset += SHARED_BUFFER_BYTES) {
      this.#free.push({ memory, offset, bytes: Buffer.from(memory, offset, SHARED_BUFFER_BYTES) })
    }
  }
}
