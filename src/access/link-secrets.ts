import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Database } from '../database/index.ts'
import { deriveKeys, Sealing, type ServerSecret } from '../identity/index.ts'
import type { Link } from './link.ts'
import { listLinkPasswords, setLinkPassword } from './link-store.ts'

const GRANT_SECONDS = 12 * 3600

/** A signed cookie that opens one password-protected link for a limited time. */
export interface LinkGrant {
  readonly name: string
  readonly value: string
  readonly seconds: number
}

/**
 * Encrypts link passwords and signs link cookies. Passwords are encrypted, not hashed, because the creator of
 * a link may read its password again. Each is bound to its link, so that the ciphertext of one row is useless
 * in another.
 */
export class LinkSecrets {
  readonly #sealing: Sealing
  readonly #grantKeys: readonly [Buffer, ...Buffer[]]
  readonly #now: () => number

  constructor(secret: ServerSecret, now: () => number) {
    this.#sealing = new Sealing(secret, 'link passwords')
    this.#grantKeys = deriveKeys(secret, 'link grants')
    this.#now = now
  }

  seal(token: string, password: string): Buffer {
    return this.#sealing.seal(password.normalize('NFC'), token)
  }

  /** Undefined if the server's secret has been replaced. */
  open(link: Pick<Link, 'token' | 'password'>): string | undefined {
    return link.password === undefined ? undefined : this.#sealing.open(link.password, link.token)
  }

  /** Constant-time comparison, whatever the lengths. */
  isPassword(link: Pick<Link, 'token' | 'password'>, given: string): boolean {
    const password = this.open(link)
    return password !== undefined && isSame(this.#mac(password), this.#mac(given.normalize('NFC')))
  }

  grant(link: Link): LinkGrant {
    const expires = String(this.#now() + GRANT_SECONDS)
    return {
      name: grantName(link.token),
      value: `${expires}.${sign(this.#grantKeys[0], link, expires)}`,
      seconds: GRANT_SECONDS,
    }
  }

  /** Whether the cookie was issued for this link and its current password, and has not expired. */
  isGrant(link: Link, value: string): boolean {
    const [, expires = '', signature = ''] = /^(\d{1,12})\.([\w-]{43})$/.exec(value) ?? []
    if (!(Number(expires) > this.#now())) return false
    return this.#grantKeys.some((key) =>
      isSame(Buffer.from(signature), Buffer.from(sign(key, link, expires))),
    )
  }

  #mac(password: string): Buffer {
    return createHmac('sha256', this.#grantKeys[0]).update(password).digest()
  }
}

function sign(grantKey: Buffer, { key, token, password }: Link, expires: string): string {
  const mac = createHmac('sha256', grantKey).update(`${key}:${token}:${expires}:`)
  return mac.update(password ?? '').digest('base64url')
}

/** The cookie name for a link. */
export function grantName(token: string): string {
  return `carrel-link-${token}`
}

function isSame(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}

/** Encrypts all link passwords under the current key of the secret. Visitors enter them again. Returns how many. */
export async function resealLinkPasswords(db: Database, secret: ServerSecret): Promise<number> {
  const secrets = new LinkSecrets(secret, () => 0)
  return db.write(async (tx) => {
    let count = 0
    for (const link of await listLinkPasswords(tx)) {
      const password = secrets.open(link)
      if (password === undefined) continue
      await setLinkPassword(tx, link.key, secrets.seal(link.token, password))
      count++
    }
    return count
  })
}
