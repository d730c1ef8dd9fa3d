import { type Cipheriv, createCipheriv, createDecipheriv, type Decipheriv } from 'node:crypto'
import { fail } from '../../base/errors.ts'

/** Block size of the ciphers, and the maximum length of the padding. */
export const CIPHER_BLOCK_BYTES = 16

/** A cipher of one of the encryption versions, with its key. ECB has no IV. */
export interface CipherParts {
  readonly name: 'aes-128-cbc' | 'aes-256-cbc' | 'aes-128-ecb'
  readonly key: Buffer
  readonly iv: Buffer | null
}

/**
 * The key that encrypts the blocks of one library. `retire` wipes it once no transfer leases it, so that running transfers can
 * finish.
 */
export class DataKey {
  readonly #parts: CipherParts
  #leases = 0
  #retired = false

  constructor(parts: CipherParts) {
    this.#parts = parts
  }

  /** Prevents wiping until disposed. Throws password-needed if the key was already wiped. */
  lease(): Disposable {
    this.#checkNotWiped()
    this.#leases += 1
    let isReleased = false
    return {
      [Symbol.dispose]: () => {
        if (isReleased) return
        isReleased = true
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

  /** Cipher of one block. `final()` adds the padding. */
  encryptor(): Cipheriv {
    this.#checkNotWiped()
    const { name, key, iv } = this.#parts
    return createCipheriv(name, key, iv)
  }

  /** Decipher of a block from its start, or from the cipher block after `before`. It does not remove the padding. */
  decryptor(before?: Buffer): Decipheriv {
    this.#checkNotWiped()
    const { name, key, iv } = this.#parts
    return createDecipheriv(name, key, iv && (before ?? iv)).setAutoPadding(false)
  }

  /** A copy of the key, for sealing it. The caller wipes it. */
  copyParts(): CipherParts {
    this.#checkNotWiped()
    const { name, key, iv } = this.#parts
    return { name, key: Buffer.from(key), iv: iv && Buffer.from(iv) }
  }

  #checkNotWiped(): void {
    if (this.#retired && this.#leases === 0) fail({ code: 'password-needed' })
  }

  #wipeIfUnused(): void {
    if (!this.#retired || this.#leases > 0) return
    this.#parts.key.fill(0)
    this.#parts.iv?.fill(0)
  }
}
