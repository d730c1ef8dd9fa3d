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

/** A cookie that opens one link with a password for a while. */
export interface LinkGrant {
  readonly name: string
  readonly value: string
  readonly seconds: number
}

/**
 * What links have to keep secret. Passwords are encrypted, not hashed, because who made a link may read its
 * password again; each is bound to its link, so that no row can lend another its password.
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

  /** Undefined if the secret of the server is another one by now. */
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

  /** Takes as long for a wrong password as for the right one, whatever their lengths. */
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

  /** Whether it was given for this very link and password, and still holds. */
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

/** The name of the cookie that holds the grant of a link. */
export function grantName(token: string): string {
  return `carrel-link-${token}`
}

function isSame(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
