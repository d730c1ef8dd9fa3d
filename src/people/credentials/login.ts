import { createHmac } from 'node:crypto'
import type { Language } from '../../base/texts/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { deriveKeys, type ServerSecret } from '../../platform/secret/index.ts'
import { type Account, accountRows, type Credentials, loginName } from '../accounts/index.ts'
import { type Audit, accountAction } from '../audit/index.ts'
import type { AccountPasswordAttempt, PasswordChecks, Passwords } from '../passwords/index.ts'
import type { SecondFactorAttempt, SecondFactorOutcome, SecondFactors } from '../second-factors/index.ts'
import type { ApiTokens } from './api-tokens.ts'
import { cut, type Device, type DeviceFields, deviceFieldsGiven, parseDevice } from './device.ts'

/** A request for an API token. Name and password are not empty. */
interface LoginRequest
  extends DeviceFields,
    Pick<AccountPasswordAttempt, 'password' | 'address' | 'network' | 'signal'>,
    SecondFactorAttempt {
  readonly username: string
  /** Whether the device wants to sign in without a code from now on. */
  readonly trusts?: boolean | undefined
  /** The language of the client. */
  readonly language?: Language | undefined
}

/** An API token, or the reason why there is none. */
export type LoginOutcome =
  | {
      readonly token: string
      readonly account: Account
      /** Stands for a code at later sign-ins. */
      readonly trust?: string | undefined
      /** Of an authenticator app that was set up at this sign-in. */
      readonly recoveryCodes?: readonly string[] | undefined
      /** When the account needs a second factor, in Unix seconds. */
      readonly dueAt?: number | undefined
    }
  | { readonly refused: 'throttled'; readonly retryAfterSeconds: number }
  | { readonly refused: 'invalid-params' }
  | Extract<SecondFactorOutcome, { readonly refused: 'setup-needed' }>
  | { readonly refused: 'code-needed'; readonly wrong: false }
  | {
      readonly refused: 'bad-credentials' | 'invalid-device-id' | 'invalid-platform' | 'wrong-code'
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
  readonly secondFactors: SecondFactors
  /** The secret of the server. */
  readonly secret: ServerSecret
  /** Unix seconds. */
  readonly now: () => number
  /** Called after an account signed in. */
  readonly onSignIn?: ((account: Account) => Promise<void>) | undefined
}

const LONGEST_USER_AGENT = 255

/** Exchanges a name and a password, and a second factor where the account has one, for an API token. */
export class Login {
  readonly #options: LoginOptions
  readonly #nameKey: Buffer

  constructor(options: LoginOptions) {
    this.#options = options
    this.#nameKey = deriveKeys(options.secret, 'names typed at sign-in')[0]
  }

  /** Throws too-many-tries if the hash queue is full. */
  async login(given: LoginRequest): Promise<LoginOutcome> {
    const request = { ...given, userAgent: cut(given.userAgent, LONGEST_USER_AGENT) }
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
    const second = await this.#options.secondFactors.checkAtSignIn(account, request)
    if ('refused' in second) return refusedBy(second, account)
    const credentials = await this.#withNewerHash(outcome.credentials, password)
    const issued = await this.#tokenFor(credentials, device, { ...request, factor: second.factor })
    if (issued === undefined) {
      return { refused: 'bad-credentials', actor: account.email, reason: 'changed-meanwhile' }
    }
    await this.#options.onSignIn?.(account)
    return { ...issued, account, recoveryCodes: second.recoveryCodes, dueAt: second.dueAt }
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
    request: LoginRequest & { readonly factor: string | undefined },
  ) {
    const { apiTokens, audit, db, now, secondFactors } = this.#options
    const { address, userAgent = '', language, factor, trusts } = request
    // A new token must be durable. The time of the last sign-in need not be.
    const durable = trusts === true || !(await apiTokens.has(found.account, device))
    return db.write(
      async (tx) => {
        if (!(await accountRows.recordLogin(tx, found, now(), language))) return undefined
        const { account } = found
        const detail = factor === undefined ? undefined : { factor }
        await audit.record(
          tx,
          { actor: account.email, address },
          accountAction('login', account.email, detail),
        )
        const token = await apiTokens.issueIn(tx, account, device, { address, userAgent, withPassword: true })
        const isTrusted = trusts === true && factor !== undefined && factor !== 'trusted-device'
        return { token, trust: isTrusted ? await secondFactors.trustIn(tx, account, request) : undefined }
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

/** A wrong code is audited as a failed sign-in. */
function refusedBy(
  outcome: Extract<SecondFactorOutcome, { readonly refused: unknown }>,
  { email }: Account,
): LoginOutcome {
  if (outcome.refused !== 'code-needed') return outcome
  return outcome.wrong
    ? { refused: 'wrong-code', actor: email, reason: 'wrong-code' }
    : { refused: 'code-needed', wrong: false }
}
