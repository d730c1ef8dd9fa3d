import { createHmac, timingSafeEqual } from 'node:crypto'
import { type LibraryId, parseLibraryId } from '../../base/objects/index.ts'
import { Sealing, type ServerSecret } from '../../platform/secret/index.ts'

const LIFE_SECONDS = 72 * 3600
const MAX_TOKEN = 2048

/** What a notification token allows its holder to subscribe to. */
export interface Listening {
  readonly libraryId: LibraryId
  readonly email: string
  /** Reference to the sync token it was derived from. It is worth nothing once that one was revoked. */
  readonly syncToken: string
  /** Unix seconds. */
  readonly expiresAt: number
}

/**
 * Notification tokens (JWT, HS256): who may subscribe to changes of which library, until when, and by which sync token.
 * A valid signature is not yet a right. The sync token and its account are looked up whenever the token is used, and
 * before each event. The reference to the sync token is encrypted, because a client can read the claims.
 */
export class NotificationTokens {
  readonly #keys: readonly [Buffer, ...Buffer[]]
  readonly #sealing: Sealing
  readonly #now: () => number

  constructor(secret: ServerSecret, now: () => number) {
    const derive = (key: Buffer) => createHmac('sha256', key).update('notification tokens').digest()
    const [current, ...previous] = secret
    this.#keys = [derive(current), ...previous.map(derive)]
    this.#sealing = new Sealing(secret, 'notification token references')
    this.#now = now
  }

  issue({ libraryId, email, syncToken }: Omit<Listening, 'expiresAt'>): string {
    const sid = this.#sealing.seal(syncToken).toString('base64url')
    const claims = { repo_id: libraryId, username: email, sid, exp: this.#now() + LIFE_SECONDS }
    const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`
    return `${signed}.${sign(this.#keys[0], signed)}`
  }

  /** Undefined for a token that we did not sign, that has expired, or that names no sync token. */
  read(token: string): Listening | undefined {
    if (token.length > MAX_TOKEN) return undefined
    const [head = '', claims = '', signature = '', ...more] = token.split('.')
    // The head is ours or the signature is not; what it says about algorithms is never looked at.
    if (more.length > 0 || !this.#keys.some((key) => isEqual(signature, sign(key, `${head}.${claims}`))))
      return undefined
    const { repo_id: id, username, sid, exp } = decode(claims)
    const libraryId = typeof id === 'string' ? parseLibraryId(id) : undefined
    if (libraryId === undefined || typeof username !== 'string' || typeof exp !== 'number') return undefined
    const syncToken = typeof sid === 'string' ? this.#sealing.open(Buffer.from(sid, 'base64url')) : undefined
    if (syncToken === undefined) return undefined
    const listening = { libraryId, email: username, syncToken, expiresAt: exp }
    return this.isExpired(listening) ? undefined : listening
  }

  isExpired({ expiresAt }: Listening): boolean {
    return expiresAt <= this.#now()
  }
}

function sign(key: Buffer, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url')
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function decode(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

function isEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
