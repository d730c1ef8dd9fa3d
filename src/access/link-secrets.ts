import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import type { Link } from './link.ts'

const NONCE_BYTES = 12
const TAG_BYTES = 16
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
  readonly #passwordKey: Buffer
  readonly #grantKey: Buffer
  readonly #now: () => number

  constructor(secret: Buffer, now: () => number) {
    this.#passwordKey = Buffer.from(hkdfSync('sha256', secret, '', 'link passwords', 32))
    this.#grantKey = Buffer.from(hkdfSync('sha256', secret, '', 'link grants', 32))
    this.#now = now
  }

  seal(token: string, password: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#passwordKey, nonce).setAAD(Buffer.from(token))
    const sealed = Buffer.concat([cipher.update(password.normalize('NFC')), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
  }

  /** Undefined if the server's secret has changed. */
  open(link: Pick<Link, 'token' | 'password'>): string | undefined {
    if (link.password === undefined) return undefined
    const bytes = Buffer.from(link.password)
    const decipher = createDecipheriv('aes-256-gcm', this.#passwordKey, bytes.subarray(0, NONCE_BYTES))
      .setAAD(Buffer.from(link.token))
      .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
    try {
      return Buffer.concat([
        decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)),
        decipher.final(),
      ]).toString()
    } catch {
      return undefined
    }
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
      value: `${expires}.${this.#sign(link, expires)}`,
      seconds: GRANT_SECONDS,
    }
  }

  /** Whether the cookie was issued for this link and its current password, and has not expired. */
  isGrant(link: Link, value: string): boolean {
    const [, expires = '', signature = ''] = /^(\d{1,12})\.([\w-]{43})$/.exec(value) ?? []
    if (!(Number(expires) > this.#now())) return false
    return isSame(Buffer.from(signature), Buffer.from(this.#sign(link, expires)))
  }

  #sign({ key, token, password }: Link, expires: string): string {
    const mac = createHmac('sha256', this.#grantKey).update(`${key}:${token}:${expires}:`)
    return mac.update(password ?? '').digest('base64url')
  }

  #mac(password: string): Buffer {
    return createHmac('sha256', this.#grantKey).update(password).digest()
  }
}

/** The cookie name for a link. */
export function grantName(token: string): string {
  return `carrel-link-${token}`
}

function isSame(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
