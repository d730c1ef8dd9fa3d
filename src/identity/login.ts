import type { Database } from '../database/database.ts'
import type { Account } from './account.ts'
import { type Credentials, recordLogin, replacePasswordHash } from './account-store.ts'
import type { Accounts, AlsoFor } from './accounts.ts'
import type { ApiTokens } from './api-tokens.ts'
import { type Device, type DeviceFields, deviceFieldsGiven, parseDevice } from './device.ts'
import { LoginThrottle } from './login-throttle.ts'
import type { Passwords } from './passwords.ts'

/** Somebody asking for an API token. Name and password are not empty. */
export interface LoginRequest extends DeviceFields {
  readonly username: string
  readonly password: string
  /** Where the request came from. */
  readonly address: string
  /** What the client calls itself. */
  readonly userAgent?: string | undefined
}

/** An API token, or why there is none. */
export type LoginOutcome =
  | { readonly token: string; readonly account: Account }
  | { readonly refused: 'throttled'; readonly retryAfterSeconds: number }
  | {
      readonly refused:
        | 'invalid-params'
        | 'bad-credentials'
        | 'disabled'
        | 'invalid-device-id'
        | 'invalid-platform'
    }

export interface LoginOptions {
  readonly db: Database
  readonly accounts: Accounts
  readonly apiTokens: ApiTokens
  readonly passwords: Passwords
  /** Unix seconds. */
  readonly now: () => number
  /** False leaves guessing unhindered: for tests and trusted networks. */
  readonly rateLimit: boolean
}

/** The way from a name and a password to an API token. */
export class Login {
  readonly #options: LoginOptions
  readonly #throttle: LoginThrottle | undefined

  constructor(options: LoginOptions) {
    this.#options = options
    this.#throttle = options.rateLimit ? new LoginThrottle(options.now) : undefined
  }

  /** `also` is written with the login, if it succeeds. */
  async login(request: LoginRequest, also?: AlsoFor): Promise<LoginOutcome> {
    const given = deviceFieldsGiven(request)
    if (given === 'some') return { refused: 'invalid-params' }

    const { username, password, address } = request
    const retryAfterSeconds = this.#throttle?.begin(username, address)
    if (retryAfterSeconds !== undefined) return { refused: 'throttled', retryAfterSeconds }

    const found = await this.#options.accounts.findCredentials(username)
    if (found && !found.account.active) return { refused: 'disabled' }
    const matches = await this.#options.accounts.verify(found, password)
    if (!found || !matches) return { refused: 'bad-credentials' }
    this.#throttle?.succeed(username, address)

    const device = given === 'all' ? parseDevice(request) : undefined
    if (typeof device === 'string') return { refused: device }
    const token = await this.#tokenFor(await this.#withNewerHash(found, password), device, request, also)
    return token === undefined ? { refused: 'bad-credentials' } : { token, account: found.account }
  }

  /** Undefined if the password was changed or the account deactivated while the password was checked. */
  async #tokenFor(
    found: Credentials,
    device: Device | undefined,
    { address, userAgent = '' }: Pick<LoginRequest, 'address' | 'userAgent'>,
    also: AlsoFor | undefined,
  ) {
    const { db, apiTokens, now } = this.#options
    // Only a new token must not be lost; when the account last signed in may be.
    const durable = !(await apiTokens.has(found.account, device))
    return db.write(
      async (tx) => {
        const stands = await recordLogin(tx, found, now())
        if (stands) await also?.(tx, found.account)
        return stands ? apiTokens.issueIn(tx, found.account, device, { address, userAgent }) : undefined
      },
      { durable },
    )
  }

  async #withNewerHash(found: Credentials, password: string): Promise<Credentials> {
    const { db, passwords } = this.#options
    if (!passwords.isOutdated(found.passwordHash)) return found
    const newer = await passwords.hash(password)
    await db.write((tx) => replacePasswordHash(tx, found, newer))
    return { ...found, passwordHash: newer }
  }
}
