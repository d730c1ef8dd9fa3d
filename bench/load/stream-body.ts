import { createCipheriv, createHash } from 'node:crypto'

const MIB = 2 ** 20
const POOL_PIECES = 16
const STAMP_EVERY = 64 * 1024
const STAMP_BYTES = 16

/** Size of one piece of a large body. */
export const PIECE_BYTES = MIB

/**
 * Generates bodies of any length without storing them: repeated random bytes, stamped every 64 KiB with the number of
 * the body and of the piece, so that no two blocks are equal. Deterministic.
 */
export class LongBodies {
  readonly #pool: Buffer

  constructor() {
    // The key stream of a fixed key is incompressible and equal in every process.
    const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16, 7), Buffer.alloc(16))
    this.#pool = cipher.update(Buffer.alloc(POOL_PIECES * PIECE_BYTES))
  }

  /** Fills a buffer of PIECE_BYTES with one piece of one body. */
  fill(target: Buffer, body: number, piece: number): void {
    const from = (piece % POOL_PIECES) * PIECE_BYTES
    this.#pool.copy(target, 0, from, from + PIECE_BYTES)
    for (let at = 0; at < PIECE_BYTES; at += STAMP_EVERY) {
      target.writeUInt32LE(body, at)
      target.writeUInt32LE(piece, at + 4)
      target.writeDoubleLE(body * 7919 + piece, at + STAMP_BYTES - 8)
    }
  }

  /** SHA-1 of a body of `bytes` bytes. */
  sha1(body: number, bytes: number): string {
    const hash = createHash('sha1')
    const buffer = Buffer.allocUnsafeSlow(PIECE_BYTES)
    for (let piece = 0; piece * PIECE_BYTES < bytes; piece++) {
      this.fill(buffer, body, piece)
      hash.update(buffer.subarray(0, Math.min(PIECE_BYTES, bytes - piece * PIECE_BYTES)))
    }
    return hash.digest('hex')
  }
}
