/** Up to this many pieces are queued without a copy. Further small ones are copied into one buffer. */
const MAX_SEPARATE = 8
const COALESCE_BYTES = 16 * 1024

/**
 * Received bytes of a body that were not read yet. Small pieces are coalesced: one object per piece would
 * take a hundred times the size of a body that arrives byte by byte.
 */
export class PieceQueue {
  #pieces: Buffer[] = []
  /** The last piece, if small ones are coalesced in it, and its used bytes. */
  #coalesced: Buffer | undefined
  #coalescedLength = 0
  #bytes = 0

  /** Bytes queued. */
  get bytes(): number {
    return this.#bytes
  }

  /** Number of pieces. */
  get length(): number {
    return this.#pieces.length
  }

  push(piece: Buffer): void {
    this.#bytes += piece.length
    if (this.#coalesce(piece)) return
    this.#pieces.push(piece)
    this.#coalesced = undefined
  }

  shift(): Buffer | undefined {
    const piece = this.#pieces.shift()
    if (piece !== undefined) this.#bytes -= piece.length
    if (this.#pieces.length === 0) this.#coalesced = undefined
    return piece
  }

  clear(): void {
    this.#pieces = []
    this.#coalesced = undefined
    this.#bytes = 0
  }

  #coalesce(piece: Buffer): boolean {
    if (piece.length > COALESCE_BYTES / 4 || this.#pieces.length < MAX_SEPARATE) return false
    if (this.#coalesced === undefined || this.#coalesced.length - this.#coalescedLength < piece.length) {
      this.#coalesced = Buffer.allocUnsafeSlow(COALESCE_BYTES)
      this.#coalescedLength = 0
      this.#pieces.push(this.#coalesced)
    }
    piece.copy(this.#coalesced, this.#coalescedLength)
    this.#coalescedLength += piece.length
    this.#pieces[this.#pieces.length - 1] = this.#coalesced.subarray(0, this.#coalescedLength)
    return true
  }
}
