import type { LibraryPath } from '../../base/paths/index.ts'
import { type LibraryEncryption, libraryPasswords } from '../../libraries/content/index.ts'
import {
  changePassword,
  type Library,
  type LibraryCore,
  type OwnedLibrary,
  openWithPassword,
  viewWithPassword,
} from '../../libraries/library/index.ts'
import type { SubLibrary } from '../../libraries/registry/index.ts'
import type { AuditActor } from '../../people/audit/index.ts'
import {
  HashQueue,
  PasswordGuard,
  type PasswordGuardOptions,
  type PasswordOutcome,
} from '../../people/passwords/index.ts'

interface LibraryPasswordsOptions extends PasswordGuardOptions {
  readonly core: LibraryCore
}

/** An attempt to open a library with its password. */
interface LibraryOpening {
  readonly library: Library
  readonly encryption: LibraryEncryption
  readonly by: AuditActor
}

// One concurrent hash: it may take 256 MiB and a second of CPU time. Account passwords are hashed separately.
const SLOTS = 1

/**
 * The passwords of encrypted libraries. Wrong ones are throttled like account passwords: ten in five minutes
 * per account and library, a hundred per library. Accounts take turns.
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

  /**
   * Stores the key of a library in memory for an account that gave the password. The queue has one slot, so concurrent calls in one
   * process unlock it once. Throws too-many-tries.
   */
  set(opening: LibraryOpening, password: string): Promise<PasswordOutcome> {
    const { library, encryption, by } = opening
    return this.#try(opening, () =>
      this.#queued(library, () => openWithPassword(this.#core, library, encryption, password, by)),
    )
  }

  /** Creates the view of a folder if the password of the library is right. Throws path-not-found, root-not-allowed. */
  async viewAt(
    opening: LibraryOpening,
    path: LibraryPath,
    password: string,
  ): Promise<SubLibrary | Exclude<PasswordOutcome, 'right'>> {
    const { library, encryption } = opening
    let view: SubLibrary | undefined
    const outcome = await this.#try(opening, () =>
      this.#queued(library, async () => {
        view = await viewWithPassword(this.#core, library, encryption, path, password)
        return view !== undefined
      }),
    )
    if (outcome !== 'right') return outcome
    return view ?? 'wrong'
  }

  /** Throws permission-denied, password-fixed, too-many-tries. */
  change(
    opening: LibraryOpening & { readonly library: OwnedLibrary },
    older: string,
    newer: string,
  ): Promise<PasswordOutcome> {
    const { library, encryption, by } = opening
    return this.#try(opening, () =>
      this.#queued(library, () => changePassword(this.#core, library, encryption, older, newer, by)),
    )
  }

  /** Whether `magic` is the value derived from the right password. */
  compareMagic(opening: LibraryOpening, magic: string): Promise<PasswordOutcome> {
    return this.#try(opening, () => Promise.resolve(libraryPasswords.checkMagic(opening.encryption, magic)))
  }

  #try(
    { library, by: { address } }: LibraryOpening,
    check: () => Promise<boolean>,
  ): Promise<PasswordOutcome> {
    const user = library.actor.key
    const attempt = { kind: 'library', subject: library.info.id, source: String(user), address } as const
    return this.#guard.try(attempt, async () => ({ isRight: await check(), user }))
  }

  #queued(library: Library, work: () => Promise<boolean>): Promise<boolean> {
    return this.#queue.run({ source: String(library.actor.key), subject: library.info.id }, work)
  }
}
