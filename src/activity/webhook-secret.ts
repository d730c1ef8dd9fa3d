import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Encrypts webhook secrets in the database. They cannot be hashed, because signatures need them. */
export class WebhookSecrets {
  readonly #key: Buffer

  constructor(serverSecret: Buffer) {
    this.#key = Buffer.from(hkdfSync('sha256', serverSecret, '', 'webhook secrets', 32))
  }

  seal(secret: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(ALGORITHM, this.#key, nonce)
    const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
  }

  /** Throws if it was sealed under another secret of the server. */
  open(sealed: Uint8Array): string {
    const bytes = Buffer.from(sealed)
    const decipher = createDecipheriv(ALGORITHM, this.#key, bytes.subarray(0, NONCE_BYTES))
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
    const text = bytes.subarray(NONCE_BYTES + TAG_BYTES)
    return Buffer.concat([decipher.update(text), decipher.final()]).toString('utf8')
  }
}

export function newWebhookSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** HMAC-SHA256, in hex, of the time in Unix seconds, a dot, and the body. */
export function signWebhook(secret: string, timestamp: number, body: string): string {
  return createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
}
