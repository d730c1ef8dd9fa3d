/** Up to this many pieces are queued without a copy. Further small ones are copied into one buffer. */
const MAX_SEPARATE = 8
const GATHER_BYTES = 16 * 1024

/**
 * Received bytes of a body that were not read yet. Small pieces are coalesced: one object per piece would
 * take a hundred times the size of a body that arrives byte by byte.
 */
export class PieceQueue {
  #pieces: Buffer[] = []
  /** The last piece, if small ones are coalesced in it, and its used bytes. */
  #gathered: Buffer | undefined
  #gatheredLength = 0
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
    if (this.#gather(piece)) return
    this.#pieces.push(piece)
    this.#gathered = undefined
  }

  shift(): Buffer | undefined {
    const piece = this.#pieces.shift()
    if (piece !== undefined) this.#bytes -= piece.length
    if (this.#pieces.length === 0) this.#gathered = undefined
    return piece
  }

  clear(): void {
    this.#pieces = []
    this.#gathered = undefined
    this.#bytes = 0
  }

  #gather(piece: Buffer): boolean {
    if (piece.length > GATHER_BYTES / 4 || this.#pieces.length < MAX_SEPARATE) return false
    if (this.#gathered === undefined || this.#gathered.length - this.#gatheredLength < piece.length) {
      this.#gathered = Buffer.allocUnsafeSlow(GATHER_BYTES)
      this.#gatheredLength = 0
      this.#pieces.push(this.#gathered)
    }
    piece.copy(this.#gathered, this.#gatheredLength)
    this.#gatheredLength += piece.length
    this.#pieces[this.#pieces.length - 1] = this.#gathered.subarray(0, this.#gatheredLength)
    return true
  }
}
