import { createCipheriv, randomBytes } from 'node:crypto'

const COUNTER_BLOCK_BYTES = 16

/**
 * Encrypts the bytes of one temporary file by position (AES-256 in counter mode), so that content of an
 * encrypted library is never stored in plaintext, not even after a crash. Each file needs a key of its own.
 */
export class TempFileCipher {
  readonly #key: Buffer

  constructor(key: Buffer) {
    this.#key = key
  }

  /** A random key, for a file that is not read after this process ends. */
  static random(): TempFileCipher {
    return new TempFileCipher(randomBytes(32))
  }

  /** Encrypts or decrypts bytes at a position; the operation is its own inverse. */
  apply(bytes: Uint8Array, position: number): Buffer {
    const counter = Buffer.alloc(COUNTER_BLOCK_BYTES)
    counter.writeBigUInt64BE(BigInt(Math.floor(position / COUNTER_BLOCK_BYTES)), 8)
    const cipher = createCipheriv('aes-256-ctr', this.#key, counter)
    const skipped = position % COUNTER_BLOCK_BYTES
    if (skipped > 0) cipher.update(Buffer.alloc(skipped))
    return cipher.update(bytes)
  }
}
