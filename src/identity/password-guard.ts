import { LoginThrottle } from './login-throttle.ts'

/** What a password was meant to open. These words are part of the log format that operators match. */
export type PasswordKind = 'sign-in' | 'password-change' | 'link' | 'library' | 'webdav'

/** An attempt to open something with a password. */
export interface PasswordAttempt {
  readonly kind: PasswordKind
  /** What would be opened: a login name as typed, a library, a link. */
  readonly subject: string
  /** Who is counted: the network the client is in, or its account. */
  readonly source: string
  /** The client's address. */
  readonly address: string
}

/** A password that did not open anything, as the log names it. Nothing in it was typed by a client. */
export interface FailedAuthentication {
  readonly address: string
  readonly kind: PasswordKind
  readonly reason: 'refused' | 'throttled'
  /** The key of the account, where it is known. */
  readonly user?: number | undefined
}

export type OnFailedAuthentication = (failure: FailedAuthentication) => void

/** What a check found. */
export interface CheckedPassword {
  readonly isRight: boolean
  /** The key of the account that was asked for, if there is one. */
  readonly user?: number | undefined
}

/** A password was right, or wrong, or was not checked because too many before it were wrong. */
export type PasswordOutcome = 'right' | 'wrong' | { readonly retryAfterSeconds: number }

export interface PasswordGuardOptions {
  /** Unix seconds. */
  readonly now: () => number
  /** False leaves guessing unthrottled: for tests and trusted networks. */
  readonly rateLimit: boolean
  readonly onFailure?: OnFailedAuthentication | undefined
}

/** Throttles and reports attempts with passwords. Every password that can be guessed is checked through one. */
export class PasswordGuard {
  readonly #throttle: LoginThrottle | undefined
  readonly #onFailure: OnFailedAuthentication | undefined

  constructor({ now, rateLimit, onFailure }: PasswordGuardOptions) {
    this.#throttle = rateLimit ? new LoginThrottle(now) : undefined
    this.#onFailure = onFailure
  }

  /** Runs `check` unless there were too many wrong passwords. One that throws does not count as an attempt. */
  async try(
    { kind, subject, source, address }: PasswordAttempt,
    check: () => Promise<CheckedPassword>,
  ): Promise<PasswordOutcome> {
    const retryAfterSeconds = this.#throttle?.begin(subject, source)
    if (retryAfterSeconds !== undefined) {
      this.#onFailure?.({ address, kind, reason: 'throttled' })
      return { retryAfterSeconds }
    }
    let checked: CheckedPassword
    try {
      checked = await check()
    } catch (error) {
      this.#throttle?.cancel(subject, source)
      throw error
    }
    if (checked.isRight) this.#throttle?.succeed(subject, source)
    else this.#onFailure?.({ address, kind, reason: 'refused', user: checked.user })
    return checked.isRight ? 'right' : 'wrong'
  }
}
