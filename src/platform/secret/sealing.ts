import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { ServerSecret } from './secret.ts'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Encrypts short texts with AES-256-GCM under the server's secret, so that the database alone does not reveal
 * them. Texts sealed under a previous key of the secret can still be opened.
 */
export class Sealing {
  readonly #keys: readonly [Buffer, ...Buffer[]]

  /** Derives a key per purpose: a text sealed for one cannot be opened for another. */
  constructor(secret: ServerSecret, purpose: string) {
    this.#keys = deriveKeys(secret, purpose)
  }

  /** `boundTo` has to be given again to open it, so that the ciphertext of one row is useless in another. */
  seal(text: string, boundTo = ''): Buffer {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#keys[0], nonce).setAAD(Buffer.from(boundTo))
    const bytes = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), bytes])
  }

  /** Undefined if it is damaged or was sealed under another secret. */
  open(sealed: Uint8Array, boundTo = ''): string | undefined {
    const bytes = Buffer.from(sealed)
    if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined
    for (const key of this.#keys) {
      const text = openWith(key, bytes, boundTo)
      if (text !== undefined) return text
    }
    return undefined
  }
}

/** A 32-byte key per key of the secret, current first, for one purpose (HKDF). */
export function deriveKeys([current, ...previous]: ServerSecret, purpose: string): [Buffer, ...Buffer[]] {
  const derive = (key: Buffer) => Buffer.from(hkdfSync('sha256', key, '', purpose, 32))
  return [derive(current), ...previous.map(derive)]
}

function openWith(key: Buffer, bytes: Buffer, boundTo: string): string | undefined {
  try {
    const opener = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
    opener.setAAD(Buffer.from(boundTo))
    opener.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
    const text = opener.update(bytes.subarray(NONCE_BYTES + TAG_BYTES))
    return Buffer.concat([text, opener.final()]).toString('utf8')
  } catch {
    return undefined
  }
}
