import { type AttemptSource, LoginThrottle } from './login-throttle.ts'
import type { PasswordAttempts } from './password-attempts.ts'

/** The kind of password. These values are part of the log format that operators match. */
type PasswordKind =
  | 'sign-in'
  | 'password-change'
  | 'confirmation'
  | 'link'
  | 'library'
  | 'webdav'
  | 'second-factor'

/** An attempt with a password. */
interface PasswordAttempt extends Pick<AttemptSource, 'device'> {
  readonly kind: PasswordKind
  /** What the password protects: a login name as typed, a library, a link. */
  readonly subject: string
  /** The source that attempts are counted by: the client's network, or its account. */
  readonly source: string
  /** The client's address. */
  readonly address: string
}

/** A failed attempt as logged. Contains no client input. */
export interface FailedAuthentication {
  readonly address: string
  readonly kind: PasswordKind
  readonly reason: 'refused' | 'throttled'
  /** The key of the account, where it is known. */
  readonly user?: number | undefined
}

type OnFailedAuthentication = (failure: FailedAuthentication) => void

/** The result of a check. */
interface CheckedPassword {
  readonly isRight: boolean
  /** The key of the account in question, if it exists. */
  readonly user?: number | undefined
}

/** The password was right, or wrong, or was not checked because of too many wrong ones before. */
export type PasswordOutcome = 'right' | 'wrong' | { readonly retryAfterSeconds: number }

export interface PasswordGuardOptions {
  /** Unix seconds. */
  readonly now: () => number
  /** False disables the throttle, for tests and trusted networks. */
  readonly rateLimit: boolean
  /** Counts attempts for all nodes. Without it, those of this process are counted in memory. */
  readonly attempts?: PasswordAttempts | undefined
  readonly onFailure?: OnFailedAuthentication | undefined
}

/** Throttles and reports attempts with passwords. Every guessable password is checked through one. */
export class PasswordGuard {
  readonly #throttle: LoginThrottle | PasswordAttempts | undefined
  readonly #onFailure: OnFailedAuthentication | undefined

  constructor({ now, rateLimit, attempts, onFailure }: PasswordGuardOptions) {
    this.#throttle = rateLimit ? (attempts ?? new LoginThrottle(now)) : undefined
    this.#onFailure = onFailure
  }

  /** Runs `check` unless there were too many wrong passwords. If it throws, the attempt is not counted. */
  async try(
    { kind, subject, source: network, device, address }: PasswordAttempt,
    check: () => Promise<CheckedPassword>,
  ): Promise<PasswordOutcome> {
    const counted = `${countedKind(kind)} ${subject.trim()}`
    const source = { network, device }
    const retryAfterSeconds = await this.#throttle?.begin(counted, source)
    if (retryAfterSeconds !== undefined) {
      this.#onFailure?.({ address, kind, reason: 'throttled' })
      return { retryAfterSeconds }
    }
    let checked: CheckedPassword
    try {
      checked = await check()
    } catch (error) {
      await this.#throttle?.cancel(counted, source)
      throw error
    }
    if (checked.isRight) await this.#throttle?.succeed(counted, source)
    else this.#onFailure?.({ address, kind, reason: 'refused', user: checked.user })
    return checked.isRight ? 'right' : 'wrong'
  }
}

/** All doors that take the password of an account have one budget. WebDAV takes either of two, and does not tell which. */
function countedKind(kind: PasswordKind): PasswordKind {
  return kind === 'link' || kind === 'library' || kind === 'second-factor' ? kind : 'sign-in'
}
