import { LoginThrottle } from '../identity/login-throttle.ts'
import type { LibraryCore } from '../library/core.ts'
import type { Also } from '../library/libraries.ts'
import type { Library, OwnedLibrary } from '../library/library.ts'
import type { LibraryEncryption } from '../library/library-info.ts'
import { changePassword, openWithPassword } from '../library/library-password.ts'
import { failIfBusy } from '../scheduling/busy-fault.ts'
import { FairSemaphore } from '../scheduling/fair-semaphore.ts'
import { accountRequester } from '../scheduling/requesters.ts'

/** What came of a password: it was right, or wrong, or nobody looked because there were too many wrong ones. */
export type PasswordOutcome = 'right' | 'wrong' | { readonly retryAfterSeconds: number }

export interface LibraryPasswordsOptions {
  readonly core: LibraryCore
  /** Unix seconds. */
  readonly now: () => number
  /** False leaves guessing unhindered: for tests and trusted networks. */
  readonly rateLimit: boolean
}

// A hash may take a quarter of a GiB and a second of a core: no crowd of guesses gets more than this.
const CHECKED_AT_ONCE = 2

/**
 * The passwords of encrypted libraries. Wrong ones are counted as those of accounts are: ten in five minutes for one
 * account and library, a hundred for a library.
 */
export class LibraryPasswords {
  readonly #core: LibraryCore
  readonly #throttle: LoginThrottle | undefined
  // One at a time for an account, so that none can take all the slots.
  readonly #slots = new FairSemaphore({
    slots: CHECKED_AT_ONCE,
    perKey: 1,
    waitingPerKey: 10,
    waiting: 200,
    waitMs: 30_000,
  })

  constructor({ core, now, rateLimit }: LibraryPasswordsOptions) {
    this.#core = core
    this.#throttle = rateLimit ? new LoginThrottle(now) : undefined
  }

  /** Holds the key of a library for the account that has it open. Throws busy. */
  set(library: Library, encryption: LibraryEncryption, password: string): Promise<PasswordOutcome> {
    return this.#try(library, () => openWithPassword(this.#core, library, encryption, password))
  }

  /** Throws permission-denied, password-fixed, busy. */
  change(
    library: OwnedLibrary,
    encryption: LibraryEncryption,
    older: string,
    newer: string,
    also?: Also,
  ): Promise<PasswordOutcome> {
    return this.#try(library, () => changePassword(this.#core, library, encryption, older, newer, also))
  }

  async #try(library: Library, attempt: () => Promise<boolean>): Promise<PasswordOutcome> {
    const [name, who] = [library.info.id, accountRequester(library.actor.key)]
    const check = async (): Promise<PasswordOutcome> => {
      const retryAfterSeconds = this.#throttle?.begin(name, who)
      if (retryAfterSeconds !== undefined) return { retryAfterSeconds }
      if (!(await attempt())) return 'wrong'
      this.#throttle?.succeed(name, who)
      return 'right'
    }
    // A try that finds the queue full is none: it is not counted.
    return this.#slots.run(who, check).catch(failIfBusy)
  }
}
