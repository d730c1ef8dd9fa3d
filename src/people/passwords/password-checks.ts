import { type Account, type Accounts, type Credentials, longestPassword } from '../accounts/index.ts'
import { PasswordGuard, type PasswordGuardOptions } from './password-guard.ts'
import type { Passwords } from './passwords.ts'

/** An attempt with the password of an account. */
export interface AccountPasswordAttempt {
  readonly kind: 'sign-in' | 'password-change' | 'confirmation' | 'webdav'
  /** A login name as typed, or an account id. */
  readonly name: string
  readonly password: string
  /** The client's address. */
  readonly address: string
  /** The network of one subscriber, which attempts are counted by. Default: the address. */
  readonly network?: string | undefined
  /** The device that the client says it is. One with a right password lately has attempts of its own. */
  readonly device?: string | undefined
  /** Aborted when the client no longer waits. */
  readonly signal?: AbortSignal | undefined
}

/**
 * The result of an attempt. `account` is for the audit log only: the client must not learn whether it exists.
 */
type AccountPasswordOutcome =
  | { readonly kind: 'right'; readonly credentials: Credentials }
  | {
      readonly kind: 'wrong'
      readonly why: 'unknown-account' | 'inactive-account' | 'wrong-password'
      readonly account: Account | undefined
    }
  | { readonly kind: 'throttled'; readonly retryAfterSeconds: number }

interface PasswordChecksOptions extends PasswordGuardOptions {
  readonly accounts: Accounts
  readonly passwords: Passwords
}

/**
 * The only place that checks account passwords, so that every route throttles, queues and logs them equally.
 * Unknown names, inactive accounts and wrong passwords cost the same: one query and one hash.
 */
export class PasswordChecks {
  readonly #accounts: Accounts
  readonly #passwords: Passwords
  readonly #guard: PasswordGuard

  constructor({ accounts, passwords, ...options }: PasswordChecksOptions) {
    this.#accounts = accounts
    this.#passwords = passwords
    this.#guard = new PasswordGuard(options)
  }

  /** Throws too-many-tries if the hash queue is full. `hashOf` reads another password of the account than its own. */
  async check(attempt: AccountPasswordAttempt, hashOf = passwordHashOf): Promise<AccountPasswordOutcome> {
    const { kind, name, device, address, network = address } = attempt
    let found: Credentials | undefined
    let matches = false
    const outcome = await this.#guard.try(
      { kind, subject: name, source: network, device, address },
      async () => {
        found = await this.#accounts.findCredentials(name)
        matches = await this.#matches(attempt, await hashOf(found))
        return { isRight: matches && found?.account.active === true, user: found?.account.key }
      },
    )
    if (typeof outcome === 'object') return { kind: 'throttled', ...outcome }
    if (found !== undefined && outcome === 'right') return { kind: 'right', credentials: found }
    const account = found?.account
    if (account === undefined) return { kind: 'wrong', why: 'unknown-account', account }
    return { kind: 'wrong', why: account.active ? 'wrong-password' : 'inactive-account', account }
  }

  async #matches(attempt: AccountPasswordAttempt, hash: string | undefined): Promise<boolean> {
    const { name, password, address, network: source = address, signal } = attempt
    // No password is this long. The check does not depend on the account.
    if (password.length > longestPassword) return false
    return this.#passwords.verify(password, hash, { source, subject: name, signal })
  }
}

async function passwordHashOf(found: Credentials | undefined): Promise<string | undefined> {
  return found?.passwordHash
}
