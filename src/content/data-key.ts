import { type Cipheriv, createCipheriv, createDecipheriv, type Decipheriv, hkdfSync } from 'node:crypto'
import { fail } from '../errors.ts'
import { TempFileCipher } from './temp-file-cipher.ts'

/** Bytes a cipher works on at a time, and the most that padding adds to a block. */
export const CIPHER_BLOCK_BYTES = 16

/** A cipher of one of the encryption versions, with its key. ECB has no IV. */
export interface CipherParts {
  readonly name: 'aes-128-cbc' | 'aes-256-cbc' | 'aes-128-ecb'
  readonly key: Buffer
  readonly iv: Buffer | null
}

/**
 * What the blocks of one library are encrypted with. It is wiped when it is retired, but not under the hands of
 * a transfer that leases it: what was begun with the key ends with it.
 */
export class DataKey {
  readonly #parts: CipherParts
  #leases = 0
  #retired = false

  constructor(parts: CipherParts) {
    this.#parts = parts
  }

  /** Keeps the key whole until disposed of. Throws password-needed if it is wiped already. */
  lease(): Disposable {
    this.#checkWhole()
    this.#leases += 1
    let isOver = false
    return {
      [Symbol.dispose]: () => {
        if (isOver) return
        isOver = true
        this.#leases -= 1
        this.#wipeIfUnused()
      },
    }
  }

  /** Wipes the key once the last lease is released. */
  retire(): void {
    this.#retired = true
    this.#wipeIfUnused()
  }

  /** For one block from its start; `final()` adds the padding. */
  encryptor(): Cipheriv {
    this.#checkWhole()
    const { name, key, iv } = this.#parts
    return createCipheriv(name, key, iv)
  }

  /** For a block from its start, or from just behind the cipher block `before`. It leaves the padding on. */
  decryptor(before?: Buffer): Decipheriv {
    this.#checkWhole()
    const { name, key, iv } = this.#parts
    return createDecipheriv(name, key, iv && (before ?? iv)).setAutoPadding(false)
  }

  /** The cipher of a temporary file of this name. The same key gives the same cipher. */
  cover(name: string): TempFileCipher {
    this.#checkWhole()
    return new TempFileCipher(
      Buffer.from(hkdfSync('sha256', this.#parts.key, name, 'carrel temporary file', 32)),
    )
  }

  #checkWhole(): void {
    if (this.#retired && this.#leases === 0) fail({ code: 'password-needed' })
  }

  #wipeIfUnused(): void {
    if (!this.#retired || this.#leases > 0) return
    this.#parts.key.fill(0)
    this.#parts.iv?.fill(0)
  }
}
