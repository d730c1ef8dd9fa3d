import { fail } from '../errors.ts'
import type { LibraryId } from '../objects/index.ts'
import type { DataKey } from './data-key.ts'
import type { LibraryEncryption } from './library-encryption.ts'

const LIFE_SECONDS = 3600
const SWEEP_MS = 60_000
const MOST_KEYS = 10_000

/** A library and the credential it was opened with. Each has keys of its own: a password that was given with one opens nothing to another. */
interface Opened {
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
  /** The values the password was checked by: under others it is another password. */
  readonly checkedBy: string
  /** Unix seconds. */
  readonly expiresAt: number
}

/**
 * The keys of encrypted libraries, each for the credential that gave the password, for an hour after it did, whether
 * used or not. They are in memory only, and are wiped when they go. A key names the API token or scoped token and the epochs
 * of account and library, so that it is out of reach once one of them ends, in other processes too.
 */
export class Keyring implements Disposable {
  readonly #now: () => number
  readonly #held = new Map<string, Held>()
  #sweeper: NodeJS.Timeout | undefined

  constructor(now: () => number) {
    this.#now = now
  }

  /** How many keys are held. */
  get size(): number {
    return this.#held.size
  }

  /** What the content of a library is encrypted with; undefined for a plain one. Throws password-needed. */
  keyFor(library: Opened): DataKey | undefined {
    const { encryption } = library.info
    if (encryption === undefined) return undefined
    return this.#find(library, encryption) ?? fail({ code: 'password-needed' })
  }

  /** Whether content can be read and written: the library is plain, or its key is held for this caller. */
  isOpen(library: Opened): boolean {
    const { encryption } = library.info
    return encryption === undefined || this.#find(library, encryption) !== undefined
  }

  /** Holds a key for an hour from now, in place of any other for this caller. */
  hold(library: Opened, encryption: LibraryEncryption, key: DataKey): void {
    this.forget(library)
    const { info, actor } = library
    this.#held.set(nameOf(library), {
      key,
      libraryId: info.id,
      accountKey: actor.key,
      checkedBy: checkedBy(encryption),
      expiresAt: this.#now() + LIFE_SECONDS,
    })
    this.#sweeper ??= setInterval(() => this.#sweep(), SWEEP_MS).unref()
    // All live equally long, so the first in order is the one nearest to its end.
    for (const name of this.#held.keys()) {
      if (this.#held.size <= MOST_KEYS) return
      this.#drop(name)
    }
  }

  /** For this caller only. To forget what is not held is no error. */
  forget(library: Opened): void {
    this.#drop(nameOf(library))
  }

  /** All keys of the library, of any account. */
  forgetLibrary(id: LibraryId): void {
    this.#dropWhere((held) => held.libraryId === id)
  }

  /** Every key of the account, of one library or of all. */
  forgetAccount(accountKey: number, id?: LibraryId): void {
    this.#dropWhere((held) => held.accountKey === accountKey && (id ?? held.libraryId) === held.libraryId)
  }

  /** Forgets everything. */
  [Symbol.dispose](): void {
    this.#dropWhere(() => true)
  }

  #find(library: Opened, encryption: LibraryEncryption): DataKey | undefined {
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

  #dropWhere(isOver: (held: Held) => boolean): void {
    for (const [name, held] of this.#held) if (isOver(held)) this.#drop(name)
  }

  #drop(name: string): void {
    this.#held.get(name)?.key.retire()
    this.#held.delete(name)
    if (this.#held.size > 0) return
    clearInterval(this.#sweeper)
    this.#sweeper = undefined
  }
}

function nameOf({ info, actor: { key, epoch, apiTokenKey, scope } }: Opened): string {
  return [info.id, info.epoch, key, epoch, apiTokenKey, scope?.tokenKey].join('.')
}

function checkedBy({ magic, pwdHash, randomKey }: LibraryEncryption): string {
  return `${magic} ${pwdHash} ${randomKey}`
}
