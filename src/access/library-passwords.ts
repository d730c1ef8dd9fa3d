import type { Also } from '../commits/index.ts'
import { checkMagic, type LibraryEncryption } from '../content/index.ts'
import {
  HashQueue,
  PasswordGuard,
  type PasswordGuardOptions,
  type PasswordOutcome,
} from '../identity/index.ts'
import {
  changePassword,
  type Library,
  type LibraryCore,
  type OwnedLibrary,
  openWithPassword,
} from '../library/index.ts'

export interface LibraryPasswordsOptions extends PasswordGuardOptions {
  readonly core: LibraryCore
}

/** A library that somebody opens with its password. */
export interface LibraryOpening {
  readonly library: Library
  readonly encryption: LibraryEncryption
  /** The client's address. */
  readonly address: string
}

// A hash may take a quarter of a GiB and a second of a core. Passwords of accounts are hashed on other threads.
const SLOTS = 1

/**
 * The passwords of encrypted libraries. Wrong ones are throttled as those of accounts are: ten in five minutes for one
 * account and library, a hundred for a library. Accounts take turns.
 */
export class LibraryPasswords {
  readonly #core: LibraryCore
  readonly #guard: PasswordGuard
  readonly #queue: HashQueue

  constructor({ core, ...options }: LibraryPasswordsOptions) {
    this.#core = core
    this.#guard = new PasswordGuard(options)
    this.#queue = new HashQueue({ slots: SLOTS, bounded: options.rateLimit })
  }

  /** Holds the key of a library for the account that has it open. Throws too-many-tries. */
  set(opening: LibraryOpening, password: string): Promise<PasswordOutcome> {
    const { library, encryption } = opening
    return this.#try(opening, () =>
      this.#queued(library, () => openWithPassword(this.#core, library, encryption, password)),
    )
  }

  /** Throws permission-denied, password-fixed, too-many-tries. */
  change(
    opening: LibraryOpening & { readonly library: OwnedLibrary },
    older: string,
    newer: string,
    also?: Also,
  ): Promise<PasswordOutcome> {
    const { library, encryption } = opening
    return this.#try(opening, () =>
      this.#queued(library, () => changePassword(this.#core, library, encryption, older, newer, also)),
    )
  }

  /** Whether a client that knows the password would send this check value. */
  compareMagic(opening: LibraryOpening, magic: string): Promise<PasswordOutcome> {
    return this.#try(opening, () => Promise.resolve(checkMagic(opening.encryption, magic)))
  }

  #try({ library, address }: LibraryOpening, check: () => Promise<boolean>): Promise<PasswordOutcome> {
    const user = library.actor.key
    const attempt = { kind: 'library', subject: library.info.id, source: String(user), address } as const
    return this.#guard.try(attempt, async () => ({ isRight: await check(), user }))
  }

  #queued(library: Library, work: () => Promise<boolean>): Promise<boolean> {
    return this.#queue.run({ source: String(library.actor.key), subject: library.info.id }, work)
  }
}
