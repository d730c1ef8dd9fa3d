import { fail } from '../errors.ts'
import type { Account } from '../identity/account.ts'
import type { LibraryCore } from '../library/core.ts'
import { getLibrary } from '../library/libraries.ts'
import { findLibraries } from '../library/library-store.ts'
import { Library, type OwnedLibrary, type Permission } from '../library/library.ts'
import type { LibraryInfo } from '../library/library-info.ts'
import type { LibraryId } from '../objects/ids.ts'

/**
 * The one door to libraries (I8). Whoever holds what it hands out has been checked; knowing an id
 * is not a right (I7).
 */
export class Access {
  readonly #core: LibraryCore

  constructor(core: LibraryCore) {
    this.#core = core
  }

  /** Throws library-not-found; permission-denied for who may not even read. */
  async open(user: Account, id: LibraryId): Promise<Library> {
    const info = await getLibrary(this.#core, id)
    const permission = permissionOn(user, info) ?? fail({ code: 'permission-denied' })
    return new Library(this.#core, info, user, permission)
  }

  /** Those the user may read, by id; the others are left out. */
  async openMany(user: Account, ids: readonly LibraryId[]): Promise<Library[]> {
    const found = await findLibraries(this.#core.db, ids)
    return found.flatMap((info) => {
      const permission = permissionOn(user, info)
      return permission === undefined ? [] : new Library(this.#core, info, user, permission)
    })
  }

  /** Throws library-not-found; permission-denied for all but the owner. */
  async openOwned(user: Account, id: LibraryId): Promise<OwnedLibrary> {
    return (await this.open(user, id)).owned()
  }
}

/** The permission of a user on a library; undefined for none. A read-only library caps it at reading. */
function permissionOn(user: Account, library: LibraryInfo): Permission | undefined {
  if (library.ownerKey !== user.key) return undefined
  return library.status === 'read-only' ? 'r' : 'rw'
}
