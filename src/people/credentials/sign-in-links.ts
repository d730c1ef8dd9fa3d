import { hash, randomBytes } from 'node:crypto'
import { fail } from '../../base/errors.ts'
import type { Database } from '../../platform/database/index.ts'
import { type Account, accountRows } from '../accounts/index.ts'
import { type Audit, accountAction } from '../audit/index.ts'
import { lockLiveApiToken, setParentOfApiToken } from './api-token-store.ts'
import type { ApiTokens, SignedInBy } from './api-tokens.ts'
import type { Device } from './device.ts'
import { consumeSignInLink, deleteExpiredSignInLinks, insertSignInLink } from './sign-in-link-store.ts'

/** Clients open the browser at once. */
const LIFE_SECONDS = 30

interface SignInLinksOptions {
  readonly db: Database
  readonly apiTokens: ApiTokens
  readonly audit: Audit
  /** Unix seconds. */
  readonly now: () => number
}

/**
 * One-time tokens with which a signed-in client opens the web app. Only their hashes are stored. The session in the browser is derived from
 * the sign-in of the client and ends with it, so that whoever has the token of a client cannot outlive its revocation.
 */
export class SignInLinks {
  readonly #options: SignInLinksOptions

  constructor(options: SignInLinksOptions) {
    this.#options = options
  }

  /** A token of 32 hex digits. Throws permission-denied for a caller without an API token. */
  async issue({ key: accountKey, epoch, apiTokenKey }: Account): Promise<string> {
    if (apiTokenKey === undefined) return fail({ code: 'permission-denied' })
    const { db, now } = this.#options
    const token = randomBytes(16).toString('hex')
    const origin = { accountKey, epoch, apiTokenKey }
    await db.write((tx) => insertSignInLink(tx, hashOf(token), origin, now() + LIFE_SECONDS))
    return token
  }

  /**
   * The API token of the session in the browser; undefined if the link was used, has expired, or its origin has ended. Also if the attempt
   * fails, the link is used up.
   */
  async consume(
    token: string,
    browser: Device,
    client: SignedInBy & { readonly address: string },
  ): Promise<string | undefined> {
    const { apiTokens, audit, db, now } = this.#options
    return db.write(async (tx) => {
      const origin = await consumeSignInLink(tx, hashOf(token), now())
      const account = origin && (await accountRows.findByKey(tx, origin.accountKey))
      if (account === undefined || account.epoch !== origin?.epoch) return undefined
      if (!(await accountRows.lockActive(tx, account))) return undefined
      const { apiTokenKey } = origin
      if (!(await lockLiveApiToken(tx, apiTokenKey))) return undefined
      // Not the device id of the browser itself: a sign-in there with a password must not end with the client.
      const deviceId = hash('sha1', `${apiTokenKey} ${browser.deviceId}`)
      const device = { ...browser, platform: 'linux' as const, deviceId }
      const derived = await apiTokens.issueIn(tx, account, device, client)
      await setParentOfApiToken(tx, account.key, device, apiTokenKey)
      const { email } = account
      const by = { actor: email, address: client.address }
      await audit.record(tx, by, accountAction('login', email, { via: 'client' }))
      return derived
    })
  }

  /** Maintenance. */
  deleteExpired(): Promise<number> {
    const { db, now } = this.#options
    return db.write((tx) => deleteExpiredSignInLinks(tx, now()), { durable: false })
  }
}

function hashOf(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}
