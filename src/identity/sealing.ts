import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Encrypts short texts with AES-256-GCM under the server's secret, so that the database alone does not reveal
 * them.
 */
export class Sealing {
  readonly #key: Buffer

  /** Derives a key per purpose: a text sealed for one cannot be opened for another. */
  constructor(secret: Buffer, purpose: string) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', purpose, 32))
  }

  seal(text: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce)
    const bytes = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), bytes])
  }

  /** Undefined if it is damaged or was sealed under another secret. */
  open(sealed: Uint8Array): string | undefined {
    const bytes = Buffer.from(sealed)
    if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined
    try {
      const opener = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, NONCE_BYTES))
      opener.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      const text = opener.update(bytes.subarray(NONCE_BYTES + TAG_BYTES))
      return Buffer.concat([text, opener.final()]).toString('utf8')
    } catch {
      return undefined
    }
  }
}
