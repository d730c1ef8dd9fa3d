import { poison } from '../../poison.ts'
import { alignedSharedMemory } from './aligned-memory.ts'

/** Bytes a slab holds. */
export const SLAB_BYTES = 512 * 1024
const SLABS_AT_ONCE = 8

/** A piece of shared memory that blocks travel through. */
export interface Slab {
  /** Shared memory and the place in it, for other threads. */
  readonly memory: SharedArrayBuffer
  readonly offset: number
  readonly bytes: Buffer
}

/**
 * Slabs that are used again and again: new memory costs more than what is done with the bytes in it. There are as many
 * as were needed at the same time, until none is in use for a while.
 */
export class Slabs {
  #free: Slab[] = []
  #inUse = 0

  take(): Slab {
    if (this.#free.length === 0) this.#grow()
    const slab = this.#free.pop()
    if (slab === undefined) throw new Error('there is no slab')
    this.#inUse += 1
    return slab
  }

  give(slab: Slab): void {
    poison(slab.bytes)
    this.#inUse -= 1
    this.#free.push(slab)
  }

  /** Lets go of all memory, unless some is in use. */
  clear(): void {
    if (this.#inUse === 0) this.#free = []
  }

  #grow(): void {
    const memory = alignedSharedMemory(SLABS_AT_ONCE * SLAB_BYTES)
    for (let offset = 0; offset < memory.byteLength; offset += SLAB_BYTES) {
      this.#free.push({ memory, offset, bytes: Buffer.from(memory, offset, SLAB_BYTES) })
    }
  }
}
