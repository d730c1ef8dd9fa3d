import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { fail } from '../../base/errors.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Account, Accounts, Credentials } from '../accounts/index.ts'
import { type Audit, accountAction } from '../audit/index.ts'
import type { PasswordChecks } from '../passwords/index.ts'
import type { SecondFactors } from '../second-factors/index.ts'
import type { Authentication } from './api-tokens.ts'
import type { Login } from './login.ts'
import type { ScopedTokens } from './scoped-tokens.ts'
import type { WebdavClients } from './webdav-clients.ts'
import { findWebdavSecret } from './webdav-secret-store.ts'

const MAX_SECRETS = 10_000

/**
 * Secrets that were verified against their stored hash. A WebDAV client sends its password with every request, and a hash
 * costs 50 ms. An entry is found by the stored hash, which the caller reads for each request, so a changed or removed
 * password ends it at once. Only a keyed digest of the secret is in memory, under a key of this process.
 */
class VerifiedSecrets {
  readonly #key = randomBytes(32).toString('hex')
  readonly #digests = new Map<string, Buffer>()

  /** Whether the secret was verified against this hash before. */
  has(stored: string, secret: string): boolean {
    const known = this.#digests.get(stored)
    return known !== undefined && timingSafeEqual(known, this.#digestOf(secret))
  }

  /** Evicts the oldest entry when there are too many. */
  add(stored: string, secret: string): void {
    const [oldest] = this.#digests.keys()
    if (this.#digests.size >= MAX_SECRETS && oldest !== undefined) this.#digests.delete(oldest)
    this.#digests.set(stored, this.#digestOf(secret))
  }

  #digestOf(secret: string): Buffer {
    // A key prefix is enough: digests never leave the process, so length extension is impossible. An HMAC takes ten times as long.
    return hash('sha256', this.#key + secret, 'buffer')
  }
}

interface WebdavSignInOptions {
  readonly db: Database
  readonly accounts: Accounts
  readonly scopedTokens: ScopedTokens
  readonly passwordChecks: PasswordChecks
  readonly secondFactors: Pick<SecondFactors, 'beginGrace' | 'isPasswordEnough' | 'isRequiredOf'>
  readonly clients: WebdavClients
  readonly login: Pick<Login, 'actorFor'>
  readonly audit: Audit
}

/** What a WebDAV client presents with each request. */
interface WebdavAttempt {
  /** A login name; undefined for a token that was sent without one. */
  readonly name: string | undefined
  readonly secret: string
  readonly client: WebdavClient
}

/** Where an attempt comes from. A request computes these when they are first used. */
interface WebdavClient {
  readonly address: string
  /** The network of one subscriber, which attempts are counted by. */
  readonly network: string
  /** Aborted when the client no longer waits. */
  readonly signal: AbortSignal
  header(name: string): string | undefined
}

/** No account has this key. */
const NO_ACCOUNT = 0

const unknown: Authentication = { reason: 'unknown' }

/**
 * Authenticates WebDAV clients: by a personal token, by the WebDAV password of the account, or by its account password as
 * long as it has neither a WebDAV password nor a second factor. Wrong passwords are counted with those of sign-ins. Neither responses nor the work for them tell whether there is
 * such an account, and which of its passwords WebDAV takes.
 */
export class WebdavSignIn {
  readonly #options: WebdavSignInOptions
  readonly #verified = new VerifiedSecrets()

  constructor(options: WebdavSignInOptions) {
    this.#options = options
  }

  /** Throws too-many-tries. */
  async authenticate(attempt: WebdavAttempt): Promise<Authentication> {
    const { accounts, clients, secondFactors } = this.#options
    const { name, secret, client } = attempt
    const byToken = await this.#byToken(attempt)
    if (byToken !== undefined && 'ok' in byToken) {
      const { ok: account } = byToken
      const identity = `token ${account.scope?.tokenKey}`
      await clients.recordUse({ account, credential: 'personal-token', identity, client })
    }
    if (byToken !== undefined || name === undefined) return byToken ?? unknown
    const found = await accounts.findCredentials(name)
    const ownHash = await this.#ownHashOf(found)
    const hash = ownHash ?? this.#accountHashOf(found)
    const credential = ownHash === undefined ? 'account-password' : 'webdav-password'
    if (found?.account.active && hash !== undefined && this.#verified.has(hash, secret)) {
      await clients.recordUse({ account: found.account, credential, identity: hash, client })
      if (ownHash === undefined && secondFactors.isRequiredOf(found.account)) {
        await secondFactors.beginGrace(found.account)
      }
      return { ok: found.account }
    }
    const account = await this.#byPassword({ ...attempt, name })
    if (account === undefined) return unknown
    if (hash !== undefined) {
      this.#verified.add(hash, secret)
      await clients.recordUse({ account, credential, identity: hash, client })
      if (ownHash === undefined && secondFactors.isRequiredOf(account))
        await secondFactors.beginGrace(account)
    }
    return { ok: account }
  }

  /** Undefined if the secret is not a personal token of the named account. */
  async #byToken({ name, secret }: WebdavAttempt): Promise<Authentication | undefined> {
    if (!/^[0-9a-f]{40}$/.test(secret)) return undefined
    const found = await this.#options.scopedTokens.authenticatePersonal(secret)
    if (!('ok' in found) || name === undefined) return 'ok' in found ? found : undefined
    const named = await this.#options.accounts.findCredentials(name)
    return named?.account.key === found.ok.key ? found : undefined
  }

  /** The hash of the WebDAV password. Reads the same for a name without an account. */
  #ownHashOf(found: Credentials | undefined): Promise<string | undefined> {
    return findWebdavSecret(this.#options.db, found?.account.key ?? NO_ACCOUNT)
  }

  /** The hash of the account password; undefined where it is not enough. No hash is then compared in the same time. */
  #accountHashOf(found: Credentials | undefined): string | undefined {
    if (found === undefined) return undefined
    return this.#options.secondFactors.isPasswordEnough(found.account) ? found.passwordHash : undefined
  }

  async #byPassword(attempt: WebdavAttempt & { readonly name: string }): Promise<Account | undefined> {
    const { name, secret: password } = attempt
    const { address, network, signal } = attempt.client
    const outcome = await this.#options.passwordChecks.check(
      { kind: 'webdav', name, password, address, network, signal },
      async (found) => (await this.#ownHashOf(found)) ?? this.#accountHashOf(found),
    )
    if (outcome.kind === 'throttled') fail({ code: 'too-many-tries', seconds: outcome.retryAfterSeconds })
    if (outcome.kind === 'right') return outcome.credentials.account
    const actor = this.#options.login.actorFor(name, outcome.account)
    const action = accountAction('login-failed', actor, { reason: outcome.why, via: 'webdav' })
    await this.#options.audit.append({ actor, address }, action)
    return undefined
  }
}
