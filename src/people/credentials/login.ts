import { createHmac } from 'node:crypto'
import type { Language } from '../../base/texts/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { deriveKeys, type ServerSecret } from '../../platform/secret/index.ts'
import { type Account, accountRows, type Credentials, loginName } from '../accounts/index.ts'
import { type Audit, accountAction } from '../audit/index.ts'
import type { AccountPasswordAttempt, PasswordChecks, Passwords } from '../passwords/index.ts'
import type { ApiTokens } from './api-tokens.ts'
import { type Device, type DeviceFields, deviceFieldsGiven, parseDevice } from './device.ts'

/** A request for an API token. Name and password are not empty. */
interface LoginRequest
  extends DeviceFields,
    Pick<AccountPasswordAttempt, 'password' | 'address' | 'network' | 'signal'> {
  readonly username: string
  /** The user agent of the client. */
  readonly userAgent?: string | undefined
  /** The language of the client. */
  readonly language?: Language | undefined
}

/** An API token, or the reason why there is none. */
export type LoginOutcome =
  | { readonly token: string; readonly account: Account }
  | { readonly refused: 'throttled'; readonly retryAfterSeconds: number }
  | { readonly refused: 'invalid-params' }
  | {
      readonly refused: 'bad-credentials' | 'invalid-device-id' | 'invalid-platform'
      /** The actor in the audit log: an account id, or a keyed hash of the name as typed. */
      readonly actor: string
      /** In the audit log. The client is told only that it was refused. */
      readonly reason: string
    }

interface LoginOptions {
  readonly db: Database
  readonly checks: PasswordChecks
  readonly apiTokens: ApiTokens
  readonly audit: Audit
  readonly passwords: Passwords
  /** The secret of the server. */
  readonly secret: ServerSecret
  /** Unix seconds. */
  readonly now: () => number
  /** Called after an account signed in. */
  readonly onSignIn?: ((account: Account) => Promise<void>) | undefined
}

/** Exchanges a name and a password for an API token. */
export class Login {
  readonly #options: LoginOptions
  readonly #nameKey: Buffer

  constructor(options: LoginOptions) {
    this.#options = options
    this.#nameKey = deriveKeys(options.secret, 'names typed at sign-in')[0]
  }

  /** Throws too-many-tries if the hash queue is full. */
  async login(request: LoginRequest): Promise<LoginOutcome> {
    const outcome = await this.#attempt(request)
    // Throttled attempts are not audited, or a client could fill the log. The ones before them are.
    if ('actor' in outcome) {
      const { actor, reason } = outcome
      const by = { actor, address: request.address }
      await this.#options.audit.append(by, accountAction('login-failed', actor, { reason }))
    }
    return outcome
  }

  async #attempt(request: LoginRequest): Promise<LoginOutcome> {
    const given = deviceFieldsGiven(request)
    if (given === 'some') return { refused: 'invalid-params' }

    const { username, password, address, network, signal } = request
    const device = given === 'all' ? parseDevice(request) : undefined
    const known = typeof device === 'object' ? `${device.platform} ${device.deviceId}` : undefined
    const attempt = {
      kind: 'sign-in',
      name: username,
      password,
      device: known,
      address,
      network,
      signal,
    } as const
    const outcome = await this.#options.checks.check(attempt)
    if (outcome.kind === 'throttled') {
      return { refused: 'throttled', retryAfterSeconds: outcome.retryAfterSeconds }
    }
    if (outcome.kind === 'wrong') {
      const actor = this.actorFor(username, outcome.account)
      return { refused: 'bad-credentials', actor, reason: outcome.why }
    }

    const { account } = outcome.credentials
    if (typeof device === 'string') return { refused: device, actor: account.email, reason: device }
    const credentials = await this.#withNewerHash(outcome.credentials, password)
    const token = await this.#tokenFor(credentials, device, request)
    if (token === undefined) {
      return { refused: 'bad-credentials', actor: account.email, reason: 'changed-meanwhile' }
    }
    await this.#options.onSignIn?.(account)
    return { token, account }
  }

  /**
   * The actor of a refused sign-in for the audit log. A typed name may be a password in the wrong field, so it is hashed. Equal names have equal hashes, so
   * repeated guesses show.
   */
  actorFor(username: string, account: Account | undefined): string {
    const hash = createHmac('sha256', this.#nameKey).update(loginName(username)).digest('hex').slice(0, 16)
    return account?.email ?? `unknown-${hash}`
  }

  /** Undefined if the password was changed or the account deactivated during the check. */
  async #tokenFor(
    found: Credentials,
    device: Device | undefined,
    { address, userAgent = '', language }: Pick<LoginRequest, 'address' | 'userAgent' | 'language'>,
  ) {
    const { apiTokens, audit, db, now } = this.#options
    // A new token must be durable. The time of the last sign-in need not be.
    const durable = !(await apiTokens.has(found.account, device))
    return db.write(
      async (tx) => {
        if (!(await accountRows.recordLogin(tx, found, now(), language))) return undefined
        const { account } = found
        await audit.record(tx, { actor: account.email, address }, accountAction('login', account.email))
        return apiTokens.issueIn(tx, account, device, { address, userAgent, withPassword: true })
      },
      { durable },
    )
  }

  async #withNewerHash(found: Credentials, password: string): Promise<Credentials> {
    const { db, passwords } = this.#options
    if (!passwords.isOutdated(found.passwordHash)) return found
    const newer = await passwords.hash(password, found.account.email)
    await db.write((tx) => accountRows.replacePasswordHash(tx, found, newer))
    return { ...found, passwordHash: newer }
  }
}
