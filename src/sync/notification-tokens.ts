import { createHmac, timingSafeEqual } from 'node:crypto'
import { type LibraryId, parseLibraryId } from '../objects/ids.ts'

const LIFE_SECONDS = 72 * 3600
const LONGEST_TOKEN = 2048

/** What a client may listen to. */
export interface Listening {
  readonly libraryId: LibraryId
  readonly email: string
  /** Unix seconds. */
  readonly expiresAt: number
}

/** Signed tokens (JWT, HS256) that say who may listen for changes of which library, and until when. */
export class NotificationTokens {
  readonly #key: Buffer
  readonly #now: () => number

  constructor(secret: Buffer, now: () => number) {
    this.#key = createHmac('sha256', secret).update('notification tokens').digest()
    this.#now = now
  }

  issue(libraryId: LibraryId, email: string): string {
    const claims = { repo_id: libraryId, username: email, exp: this.#now() + LIFE_SECONDS }
    const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`
    return `${signed}.${this.#sign(signed)}`
  }

  /** Undefined for a token that we did not sign, or that has expired. */
  read(token: string): Listening | undefined {
    if (token.length > LONGEST_TOKEN) return undefined
    const [head = '', claims = '', signature = '', ...more] = token.split('.')
    // The head is ours or the signature is not; what it says about algorithms is never looked at.
    if (more.length > 0 || !isEqual(signature, this.#sign(`${head}.${claims}`))) return undefined
    const { repo_id: id, username, exp } = decode(claims)
    const libraryId = typeof id === 'string' ? parseLibraryId(id) : undefined
    if (libraryId === undefined || typeof username !== 'string' || typeof exp !== 'number') return undefined
    return exp > this.#now() ? { libraryId, email: username, expiresAt: exp } : undefined
  }

  #sign(text: string): string {
    return createHmac('sha256', this.#key).update(text).digest('base64url')
  }
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
