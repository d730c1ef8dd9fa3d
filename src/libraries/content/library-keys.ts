import { hash } from 'node:crypto'
import { fail } from '../../base/errors.ts'
import type { LibraryId } from '../../base/objects/index.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import type { DataKey } from './data-key.ts'
import { checkedBy, Keyring, LIFETIME_SECONDS, nameOf, type Opened } from './keyring.ts'
import type { LibraryEncryption } from './library-encryption.ts'
import {
  deleteOpened,
  deleteOpenedBefore,
  deleteOpenedLibrary,
  deleteOpenedOfAccount,
  findOpenedLibrary,
  putOpenedLibrary,
} from './opened-library-store.ts'
import { openSealedKey, sealKey } from './sealed-key.ts'

interface LibraryKeysOptions {
  readonly db: Database
  /** Unix seconds. */
  readonly now: () => number
  /** The credential that the caller presented with this request; undefined if it can be derived from what the server stores. */
  readonly credentialOf?: (actor: Opened['actor']) => string | undefined
  /** Called in the transaction that seals a key with a credential, which must not be derivable from stored data from then on. */
  readonly onSealed?: (tx: Transaction, actor: Opened['actor']) => Promise<void>
}

/**
 * The keys of encrypted libraries whose password was given, for one hour. With a single process on SQLite they are in its memory only. With several nodes they are also in rows,
 * sealed with the credential of the client, of which the server stores only the hash: any node that receives the credential, or a ticket issued with
 * it, can open the library. A row that was deleted ends the key on all nodes with the next request.
 */
export class LibraryKeys implements Disposable {
  readonly #options: LibraryKeysOptions
  readonly #memory: Keyring
  readonly #isShared: boolean
  /** Names of keys without a row: the credential cannot seal them, so only this node has them. */
  readonly #local = new Set<string>()
  readonly #tickets = new WeakMap<object, string>()

  constructor(options: LibraryKeysOptions) {
    this.#options = options
    this.#memory = new Keyring(options.now)
    this.#isShared = options.db.isShared
  }

  /** The data key of a library; undefined for a plain one. Throws password-needed. */
  async keyFor(library: Opened): Promise<DataKey | undefined> {
    const { encryption } = library.info
    if (encryption === undefined) return undefined
    return (await this.#find(library, encryption)) ?? fail({ code: 'password-needed' })
  }

  /** Whether the caller can read and write content: the library is plain or unlocked for this credential. */
  async isOpen(library: Opened): Promise<boolean> {
    const { encryption } = library.info
    return encryption === undefined || (await this.#find(library, encryption)) !== undefined
  }

  /** Stores a key for one hour. Replaces the previous key of this credential. */
  async hold(library: Opened, encryption: LibraryEncryption, key: DataKey): Promise<void> {
    this.#memory.hold(library, encryption, key)
    if (!this.#isShared) return
    const name = nameOf(library)
    const { db, now, credentialOf, onSealed } = this.#options
    const credential = credentialOf?.(library.actor)
    if (credential === undefined) {
      this.#local.add(name)
      return
    }
    this.#local.delete(name)
    const sealedKey = sealKey(key, credential, purposeOf(name, encryption))
    await db.write(async (tx) => {
      await deleteOpenedBefore(tx, now())
      await deleteOpened(tx, name)
      await onSealed?.(tx, library.actor)
      await putOpenedLibrary(tx, {
        ...rowOf(library),
        name,
        sealedKey,
        expiresAt: now() + LIFETIME_SECONDS,
      })
    })
  }

  /** Lets the holder of a ticket use the key of the library, if it is unlocked, until the ticket expires. */
  async passTo(library: Opened, ticket: string): Promise<void> {
    const { encryption } = library.info
    if (!this.#isShared || encryption === undefined) return
    const opened = nameOf(library)
    const key = await this.#find(library, encryption)
    const row = this.#local.has(opened) ? undefined : await this.#findRow(opened)
    if (key === undefined || row === undefined) return
    const name = nameOfTicket(ticket)
    const sealedKey = sealKey(key, ticket, purposeOf(name, encryption))
    await this.#options.db.write(
      (tx) => putOpenedLibrary(tx, { ...rowOf(library), name, sealedKey, expiresAt: row.expiresAt }),
      { durable: 'replicated' },
    )
  }

  /** Notes the ticket with which a library was opened in this request. */
  noteTicket(library: Opened, ticket: string): void {
    if (this.#isShared && library.info.encryption !== undefined) this.#tickets.set(library, ticket)
  }

  /** Removes the key of this credential, on all nodes. Idempotent. */
  async forget(library: Opened): Promise<void> {
    this.#memory.forget(library)
    const name = nameOf(library)
    this.#local.delete(name)
    await this.#delete((tx) => deleteOpened(tx, name))
  }

  /** Removes all keys of the library, on all nodes. */
  async forgetLibrary(id: LibraryId): Promise<void> {
    this.#memory.forgetLibrary(id)
    await this.#delete((tx) => deleteOpenedLibrary(tx, id))
  }

  /** Removes all keys of the account, for one library or for all, on all nodes. */
  async forgetAccount(accountKey: number, id?: LibraryId): Promise<void> {
    this.#memory.forgetAccount(accountKey, id)
    await this.#delete((tx) => deleteOpenedOfAccount(tx, accountKey, id))
  }

  /** Maintenance: deletes the rows of keys that have expired. */
  async deleteExpired(): Promise<number> {
    if (!this.#isShared) return 0
    return this.#options.db.write((tx) => deleteOpenedBefore(tx, this.#options.now()))
  }

  /** Wipes all keys in memory. */
  [Symbol.dispose](): void {
    this.#memory[Symbol.dispose]()
  }

  async #find(library: Opened, encryption: LibraryEncryption): Promise<DataKey | undefined> {
    const held = this.#memory.find(library, encryption)
    if (!this.#isShared) return held
    const opened = nameOf(library)
    if (this.#local.has(opened)) {
      if (held === undefined) this.#local.delete(opened)
      return held
    }
    // Another node may have deleted it since.
    const row = await this.#findRow(opened)
    if (row === undefined) {
      this.#memory.forget(library)
      return undefined
    }
    return held ?? this.#unseal(library, encryption, opened, row)
  }

  /** Opens a sealed key with the credential or the ticket of this request. */
  async #unseal(
    library: Opened,
    encryption: LibraryEncryption,
    opened: string,
    row: { readonly sealedKey: Uint8Array; readonly expiresAt: number },
  ): Promise<DataKey | undefined> {
    const credential = this.#options.credentialOf?.(library.actor)
    let key = credential && openSealedKey(row.sealedKey, credential, purposeOf(opened, encryption))
    if (!key) {
      const ticket = this.#tickets.get(library)
      const name = ticket && nameOfTicket(ticket)
      const passed = name && (await this.#findRow(name))
      key = ticket && name && passed && openSealedKey(passed.sealedKey, ticket, purposeOf(name, encryption))
    }
    if (!key) return undefined
    this.#memory.hold(library, encryption, key, row.expiresAt)
    return key
  }

  #findRow(name: string): ReturnType<typeof findOpenedLibrary> {
    return findOpenedLibrary(this.#options.db, name, this.#options.now())
  }

  async #delete(work: (tx: Transaction) => Promise<void>): Promise<void> {
    if (this.#isShared) await this.#options.db.write(work)
  }
}

function rowOf(library: Opened) {
  const { info, actor } = library
  return {
    opened: nameOf(library),
    libraryId: info.id,
    accountKey: actor.key,
    apiTokenKey: actor.apiTokenKey,
    scopedTokenKey: actor.scope?.tokenKey,
  }
}

/** A key that was sealed before a change of the password does not open. */
function purposeOf(name: string, encryption: LibraryEncryption): string {
  return `key of a library ${name} ${checkedBy(encryption)}`
}

function nameOfTicket(ticket: string): string {
  return `ticket ${hash('sha256', ticket, 'hex')}`
}
