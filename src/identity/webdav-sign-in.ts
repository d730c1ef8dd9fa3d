import type { Database } from '../database/index.ts'
import { fail } from '../errors.ts'
import type { Account } from './account.ts'
import type { Credentials } from './account-store.ts'
import type { Accounts } from './accounts.ts'
import type { Authentication } from './api-tokens.ts'
import type { PasswordChecks } from './password-checks.ts'
import type { ScopedTokens } from './scoped-tokens.ts'
import { VerifiedSecrets } from './verified-secrets.ts'
import type { WebdavClients } from './webdav-clients.ts'
import { findWebdavSecret } from './webdav-secret-store.ts'
import type { WebdavSecrets } from './webdav-secrets.ts'

interface WebdavSignInOptions {
  readonly db: Database
  readonly accounts: Accounts
  readonly scopedTokens: ScopedTokens
  readonly webdavSecrets: WebdavSecrets
  readonly passwordChecks: PasswordChecks
  readonly clients: WebdavClients
  /** Called after a wrong password or an unknown name. */
  readonly onRefused: (
    name: string,
    account: Account | undefined,
    refusal: { readonly address: string; readonly reason: string },
  ) => Promise<void>
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

const unknown: Authentication = { reason: 'unknown' }

/**
 * Authenticates WebDAV clients: by a personal token, by the WebDAV password of the account, or by its account password as
 * long as it has no WebDAV password. Wrong passwords are throttled like those of sign-ins.
 */
export class WebdavSignIn {
  readonly #options: WebdavSignInOptions
  readonly #verified = new VerifiedSecrets()

  constructor(options: WebdavSignInOptions) {
    this.#options = options
  }

  /** Throws too-many-tries. */
  async authenticate(attempt: WebdavAttempt): Promise<Authentication> {
    const { accounts, clients, db } = this.#options
    const { name, secret, client } = attempt
    const byToken = await this.#byToken(attempt)
    if (byToken !== undefined && 'ok' in byToken) {
      const { ok: account } = byToken
      const identity = `token ${account.scope?.tokenKey}`
      await clients.recordUse({ account, credential: 'personal-token', identity, client })
    }
    if (byToken !== undefined || name === undefined) return byToken ?? unknown
    const found = await accounts.findCredentials(name)
    const ownHash = found && (await findWebdavSecret(db, found.account.key))
    const hash = ownHash ?? found?.passwordHash
    const credential = ownHash === undefined ? 'account-password' : 'webdav-password'
    if (found?.account.active && hash !== undefined && this.#verified.has(hash, secret)) {
      await clients.recordUse({ account: found.account, credential, identity: hash, client })
      return { ok: found.account }
    }
    const account =
      found === undefined || ownHash === undefined
        ? await this.#byPassword({ ...attempt, name })
        : await this.#byWebdavSecret(found, attempt)
    if (account === undefined) return unknown
    if (hash !== undefined) {
      this.#verified.add(hash, secret)
      await clients.recordUse({ account, credential, identity: hash, client })
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

  async #byWebdavSecret(
    { account }: Credentials,
    { secret, client }: WebdavAttempt,
  ): Promise<Account | undefined> {
    const outcome = await this.#options.webdavSecrets.verify(account, secret, client.network)
    if (typeof outcome === 'object') fail({ code: 'too-many-tries', seconds: outcome.retryAfterSeconds })
    if (outcome === 'right') return account
    const { address } = client
    await this.#options.onRefused(account.email, account, { address, reason: 'wrong-password' })
    return undefined
  }

  async #byPassword(attempt: WebdavAttempt & { readonly name: string }): Promise<Account | undefined> {
    const { name, secret: password } = attempt
    const { address, network, signal } = attempt.client
    const kind = 'sign-in'
    const outcome = await this.#options.passwordChecks.check({
      kind,
      name,
      password,
      address,
      network,
      signal,
    })
    if (outcome.kind === 'throttled') fail({ code: 'too-many-tries', seconds: outcome.retryAfterSeconds })
    if (outcome.kind === 'right') return outcome.credentials.account
    await this.#options.onRefused(name, outcome.account, { address, reason: outcome.why })
    return undefined
  }
}
