import { fail } from '../../base/errors.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Account } from '../accounts/index.ts'
import type { AccountPasswordAttempt, PasswordChecks } from '../passwords/index.ts'
import type { SecondFactors } from '../second-factors/index.ts'
import { findPasswordSignIn } from './api-token-store.ts'

/** A sign-in with the password is a confirmation for this long. */
const FRESH_SECONDS = 600

interface ConfirmationsOptions {
  readonly db: Database
  readonly checks: PasswordChecks
  readonly secondFactors: Pick<SecondFactors, 'confirms'>
  /** Unix seconds. */
  readonly now: () => number
}

/** The client of a request that wants to be confirmed. */
type ConfirmingClient = Pick<AccountPasswordAttempt, 'address' | 'network' | 'signal'>

/**
 * Decides whether a request comes from the person that knows the password, and not from somebody who has only a session. Credentials that
 * outlive the session are made for the former.
 */
export class Confirmations {
  readonly #options: ConfirmationsOptions

  constructor(options: ConfirmationsOptions) {
    this.#options = options
  }

  /**
   * Whether the request has the password, or a code of the authenticator app in its place, or its session signed in with the password in the last ten minutes.
   * Throws confirmation-needed for a wrong one, too-many-tries.
   */
  async isConfirmed(user: Account, client: ConfirmingClient, password = ''): Promise<boolean> {
    const { db, checks, now, secondFactors } = this.#options
    if (user.apiTokenKey === undefined || user.scope !== undefined) return false
    if (password === '') {
      const at = await findPasswordSignIn(db, user.apiTokenKey)
      return at !== undefined && now() - at < FRESH_SECONDS
    }
    const { address, network, signal } = client
    if (user.hasSecondFactor && /^\d{6}$/.test(password)) {
      if (await secondFactors.confirms(user, password, address)) return true
      return fail({ code: 'confirmation-needed', wrong: true })
    }
    const attempt = { kind: 'confirmation', name: user.email, password } as const
    const outcome = await checks.check({ ...attempt, address, network, signal })
    if (outcome.kind === 'throttled') fail({ code: 'too-many-tries', seconds: outcome.retryAfterSeconds })
    if (outcome.kind === 'wrong') fail({ code: 'confirmation-needed', wrong: true })
    return outcome.credentials.account.key === user.key
  }

  /** Throws confirmation-needed, too-many-tries. */
  async require(user: Account, client: ConfirmingClient, password?: string): Promise<void> {
    if (!(await this.isConfirmed(user, client, password))) fail({ code: 'confirmation-needed', wrong: false })
  }
}
