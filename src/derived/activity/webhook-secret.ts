import { createHmac, randomBytes } from 'node:crypto'
import type { Database } from '../../platform/database/index.ts'
import { Sealing, type ServerSecret } from '../../platform/secret/index.ts'
import { listWebhookSecrets, setWebhookSecret } from './webhook-store.ts'

const PURPOSE = 'webhook secrets'

/** Encrypts webhook secrets in the database. They cannot be hashed, because signatures need them. */
export class WebhookSecrets {
  readonly #sealing: Sealing

  constructor(serverSecret: ServerSecret) {
    this.#sealing = new Sealing(serverSecret, PURPOSE)
  }

  seal(secret: string): Buffer {
    return this.#sealing.seal(secret)
  }

  /** Throws if it was sealed under another secret of the server. */
  open(sealed: Uint8Array): string {
    const secret = this.#sealing.open(sealed)
    if (secret === undefined)
      throw new Error('The secret of a webhook was encrypted under another secret of the server.')
    return secret
  }
}

export function newWebhookSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** HMAC-SHA256, in hex, of the time in Unix seconds, a dot, and the body. */
export function signWebhook(secret: string, timestamp: number, body: string): string {
  return createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
}

/** Encrypts the secrets of all webhooks under the current key of the server's secret. Returns how many. */
export async function resealWebhookSecrets(db: Database, serverSecret: ServerSecret): Promise<number> {
  const sealing = new Sealing(serverSecret, PURPOSE)
  return db.write(async (tx) => {
    let count = 0
    for (const { key, secret } of await listWebhookSecrets(tx)) {
      const text = sealing.open(secret)
      if (text === undefined) continue
      await setWebhookSecret(tx, key, sealing.seal(text))
      count++
    }
    return count
  })
}
