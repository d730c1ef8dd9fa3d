import { fail } from '../errors.ts'
import type { Account } from '../identity/account.ts'
import type { Accounts } from '../identity/accounts.ts'
import { scopeReaches } from '../identity/scope.ts'
import type { LibraryCore } from '../library/core.ts'
import { getLibrary } from '../library/libraries.ts'
import { Library, type OwnedLibrary, type Permission } from '../library/library.ts'
import type { LibraryInfo } from '../library/library-info.ts'
import { findLibraries, findLibraryByKey, listLibrariesOf } from '../library/library-store.ts'
import type { LibraryId } from '../objects/ids.ts'
import { ROOT } from '../objects/paths.ts'
import type { Readable } from './readable.ts'

/**
 * The one door to libraries (I8). Whoever holds what it hands out has been checked; knowing an id
 * is not a right (I7).
 */
export class Access {
  readonly #core: LibraryCore
  readonly #accounts: Accounts

  constructor(core: LibraryCore, accounts: Accounts) {
    this.#core = core
    this.#accounts = accounts
  }

  /** Throws library-not-found; permission-denied for who may not even read. */
  async open(user: Account, id: LibraryId): Promise<Library> {
    return this.#grant(user, await getLibrary(this.#core, id))
  }

  /** Those of `ids` that exist and that the user may read, by id, with one query. */
  async openAll(user: Account, ids: readonly LibraryId[]): Promise<Map<LibraryId, Library>> {
    const found = await findLibraries(this.#core.db, ids)
    const open = found.filter((info) => permissionWithin(user, info) !== undefined)
    return new Map(open.map((info) => [info.id, this.#grant(user, info)]))
  }

  /** Throws library-not-found; permission-denied for all but the owner. */
  async openOwned(user: Account, id: LibraryId): Promise<OwnedLibrary> {
    return (await this.open(user, id)).owned()
  }

  /**
   * For what was granted earlier and is checked again: undefined if the account or the library is gone.
   * Throws permission-denied.
   */
  async openByKey(accountKey: number, libraryKey: number): Promise<Library | undefined> {
    const [user, info] = await Promise.all([
      this.#accounts.findByKey(accountKey),
      findLibraryByKey(this.#core.db, libraryKey),
    ])
    return user?.active && info ? this.#grant(user, info) : undefined
  }

  /** As openByKey, for whoever a credential with bounds says is acting. */
  async openWithin(user: Account, libraryKey: number): Promise<Library | undefined> {
    const info = await findLibraryByKey(this.#core.db, libraryKey)
    return info && this.#grant(user, info)
  }

  /** What the user may read, each way it is reached; newest change first within one way. */
  async listReadable(user: Account): Promise<Readable[]> {
    const owned = await listLibrariesOf(this.#core.db, user.key)
    const within = owned.filter((library) => scopeReaches(user.scope, library.key))
    return within.map((library) => ({
      id: library.id,
      name: library.name,
      ownerKey: user.key,
      encrypted: library.encrypted,
      permission: library.status === 'read-only' || user.scope?.access === 'read' ? 'r' : 'rw',
      via: 'mine',
      libraryKey: library.key,
      base: ROOT,
    }))
  }

  #grant(user: Account, info: LibraryInfo): Library {
    const permission = permissionWithin(user, info) ?? fail({ code: 'permission-denied' })
    return new Library(this.#core, info, user, permission)
  }
}

/** The permission of a user within the bounds of the credential the user came with. */
function permissionWithin(user: Account, library: LibraryInfo): Permission | undefined {
  if (!scopeReaches(user.scope, library.key)) return undefined
  const permission = permissionOn(user, library)
  return permission !== undefined && user.scope?.access === 'read' ? 'r' : permission
}

/** The permission of a user on a library; undefined for none. A read-only library caps it at reading. */
function permissionOn(user: Account, library: LibraryInfo): Permission | undefined {
  if (library.ownerKey !== user.key) return undefined
  return library.status === 'read-only' ? 'r' : 'rw'
}
