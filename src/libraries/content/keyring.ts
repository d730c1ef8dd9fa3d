import { fail } from '../../base/errors.ts'
import type { LibraryId } from '../../base/objects/index.ts'
import type { DataKey } from './data-key.ts'
import type { LibraryEncryption } from './library-encryption.ts'

/** How long a library stays unlocked. */
export const LIFETIME_SECONDS = 3600
const SWEEP_MS = 60_000
const MAX_KEYS = 10_000

/** A library and the credential it was opened with. Keys are per credential: a password given with one does not unlock it for another. */
export interface Opened {
  readonly info: {
    readonly id: LibraryId
    readonly encryption: LibraryEncryption | undefined
    readonly epoch: number
  }
  readonly actor: Authenticated
}

/** The account and the API token or scoped token of the caller. */
interface Authenticated {
  readonly key: number
  readonly epoch: number
  readonly apiTokenKey?: number | undefined
  readonly scope?: { readonly tokenKey: number } | undefined
}

interface Held {
  readonly key: DataKey
  readonly libraryId: LibraryId
  readonly accountKey: number
  /** The check values of the password. If they changed, the password was changed. */
  readonly checkedBy: string
  /** Unix seconds. */
  readonly expiresAt: number
}

/**
 * The data keys of unlocked libraries, per credential, for one hour after the password was given. They are wiped
 * on removal. The map key includes the API token or scoped token and the epochs of account and library, so that revoking one of them
 * makes the data key unreachable, also in other processes.
 */
export class Keyring implements Disposable {
  readonly #now: () => number
  readonly #held = new Map<string, Held>()
  #sweeper: NodeJS.Timeout | undefined

  constructor(now: () => number) {
    this.#now = now
  }

  /** Number of keys. */
  get size(): number {
    return this.#held.size
  }

  /** The data key of a library; undefined for a plain one. Throws password-needed. */
  keyFor(library: Opened): DataKey | undefined {
    const { encryption } = library.info
    if (encryption === undefined) return undefined
    return this.find(library, encryption) ?? fail({ code: 'password-needed' })
  }

  /** Whether the caller can read and write content: the library is plain or unlocked for this credential. */
  isOpen(library: Opened): boolean {
    const { encryption } = library.info
    return encryption === undefined || this.find(library, encryption) !== undefined
  }

  /** Stores a key for one hour. Replaces the previous key of this credential. */
  hold(
    library: Opened,
    encryption: LibraryEncryption,
    key: DataKey,
    expiresAt = this.#now() + LIFETIME_SECONDS,
  ): void {
    this.forget(library)
    const { info, actor } = library
    this.#held.set(nameOf(library), {
      key,
      libraryId: info.id,
      accountKey: actor.key,
      checkedBy: checkedBy(encryption),
      expiresAt,
    })
    this.#sweeper ??= setInterval(() => this.#sweep(), SWEEP_MS).unref()
    // All keys have one lifetime, so the first in insertion order expires first.
    for (const name of this.#held.keys()) {
      if (this.#held.size <= MAX_KEYS) return
      this.#drop(name)
    }
  }

  /** Removes the key of this credential. Idempotent. */
  forget(library: Opened): void {
    this.#drop(nameOf(library))
  }

  /** Removes all keys of the library. */
  forgetLibrary(id: LibraryId): void {
    this.#dropWhere((held) => held.libraryId === id)
  }

  /** Removes all keys of the account, for one library or for all. */
  forgetAccount(accountKey: number, id?: LibraryId): void {
    this.#dropWhere((held) => held.accountKey === accountKey && (id ?? held.libraryId) === held.libraryId)
  }

  /** Removes and wipes all keys. */
  [Symbol.dispose](): void {
    this.#dropWhere(() => true)
  }

  /** The key of this credential; undefined if it has expired or the password was changed. */
  find(library: Opened, encryption: LibraryEncryption): DataKey | undefined {
    const name = nameOf(library)
    const held = this.#held.get(name)
    if (held === undefined) return undefined
    if (held.expiresAt > this.#now() && held.checkedBy === checkedBy(encryption)) return held.key
    this.#drop(name)
    return undefined
  }

  #sweep(): void {
    const now = this.#now()
    this.#dropWhere((held) => held.expiresAt <= now)
  }

  #dropWhere(isExpired: (held: Held) => boolean): void {
    for (const [name, held] of this.#held) if (isExpired(held)) this.#drop(name)
  }

  #drop(name: string): void {
    this.#held.get(name)?.key.retire()
    this.#held.delete(name)
    if (this.#held.size > 0) return
    clearInterval(this.#sweeper)
    this.#sweeper = undefined
  }
}

/** Names the library and the credential it was opened with. */
export function nameOf({ info, actor: { key, epoch, apiTokenKey, scope } }: Opened): string {
  return [info.id, info.epoch, key, epoch, apiTokenKey, scope?.tokenKey].join('.')
}

export function checkedBy({ magic, pwdHash, randomKey }: LibraryEncryption): string {
  return `${magic} ${pwdHash} ${randomKey}`
}
