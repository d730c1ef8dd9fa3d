import { createHmac, timingSafeEqual } from 'node:crypto'
import { matchesImported, parseImportedHash } from '../../people/passwords/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { deriveKeys, Sealing, type ServerSecret } from '../../platform/secret/index.ts'
import type { Link } from './link.ts'
import { listLinkPasswords, setLinkPassword } from './link-store.ts'

const GRANT_SECONDS = 12 * 3600
/** Precedes a sealed hash. Whoever chooses a password that begins like this locks only their own link. */
const HASHED = '\nhash:'

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

  /** Seals the hash of a password that another server stored. */
  sealHash(token: string, hash: string): Buffer {
    return this.#sealing.seal(HASHED + hash, token)
  }

  /** Undefined if the server's secret has been replaced, or only the hash of the password is known. */
  open(link: Pick<Link, 'token' | 'password'>): string | undefined {
    const text = this.#openSealed(link)
    return text?.startsWith(HASHED) ? undefined : text
  }

  /** Whether another server stored only the hash of the password. */
  isHashed(link: Pick<Link, 'token' | 'password'>): boolean {
    return this.#openSealed(link)?.startsWith(HASHED) === true
  }

  /** Encrypts the sealed password, or its hash, again under the current key. Undefined if the server's secret has been replaced. */
  reseal(link: Pick<Link, 'token' | 'password'>): Buffer | undefined {
    const text = this.#openSealed(link)
    return text === undefined ? undefined : this.#sealing.seal(text, link.token)
  }

  /** Constant-time comparison, whatever the lengths. */
  async isPassword(link: Pick<Link, 'token' | 'password'>, given: string): Promise<boolean> {
    const text = this.#openSealed(link)
    if (text?.startsWith(HASHED)) {
      const hash = parseImportedHash(text.slice(HASHED.length))
      return hash !== undefined && matchesImported(given, hash)
    }
    return text !== undefined && isSame(this.#mac(text), this.#mac(given.normalize('NFC')))
  }

  #openSealed({ token, password }: Pick<Link, 'token' | 'password'>): string | undefined {
    return password === undefined ? undefined : this.#sealing.open(password, token)
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
      const password = secrets.reseal(link)
      if (password === undefined) continue
      await setLinkPassword(tx, link.key, password)
      count++
    }
    return count
  })
}
