const FIRST_BYTES = 4096

/**
 * Concatenates pieces in one buffer. Pieces are copied, so that memory is proportional to the bytes: one
 * object per piece takes a hundred times the size of a body that arrives byte by byte.
 */
export class GrowingBuffer {
  #bytes: Buffer = Buffer.alloc(0)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Allocated bytes. */
  get capacity(): number {
    return this.#bytes.length
  }

  /** The capacity after appending `more` bytes; at most `most` if they fit. */
  capacityFor(more: number, most = Number.POSITIVE_INFINITY): number {
    const needed = this.#length + more
    if (needed <= this.capacity) return this.capacity
    return Math.max(needed, Math.min(most, Math.max(FIRST_BYTES, this.capacity * 2)))
  }

  append(piece: Uint8Array, most?: number): void {
    const capacity = this.capacityFor(piece.length, most)
    if (capacity > this.capacity) {
      const larger = Buffer.allocUnsafeSlow(capacity)
      this.#bytes.copy(larger, 0, 0, this.#length)
      this.#bytes = larger
    }
    this.#bytes.set(piece, this.#length)
    this.#length += piece.length
  }

  /** The collected bytes, valid until the next call of `append` or `clear`. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  clear(): void {
    this.#bytes = Buffer.alloc(0)
    this.#length = 0
  }
}
