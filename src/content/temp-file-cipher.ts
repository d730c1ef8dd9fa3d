import { createCipheriv, randomBytes } from 'node:crypto'

const COUNTED_BYTES = 16

/**
 * Encrypts the bytes of one temporary file where they stand (AES-256 in counter mode), so that what belongs to an
 * encrypted library never rests readable, not even after a crash. Each file needs a key of its own.
 */
export class TempFileCipher {
  readonly #key: Buffer

  constructor(key: Buffer) {
    this.#key = key
  }

  /** For a file that nobody needs after this process. */
  static random(): TempFileCipher {
    return new TempFileCipher(randomBytes(32))
  }

  /** The bytes of a position covered, or uncovered: the one undoes the other. */
  apply(bytes: Uint8Array, position: number): Buffer {
    const counter = Buffer.alloc(COUNTED_BYTES)
    counter.writeBigUInt64BE(BigInt(Math.floor(position / COUNTED_BYTES)), 8)
    const cipher = createCipheriv('aes-256-ctr', this.#key, counter)
    const skipped = position % COUNTED_BYTES
    if (skipped > 0) cipher.update(Buffer.alloc(skipped))
    return cipher.update(bytes)
  }
}
