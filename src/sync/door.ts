import type { Access } from '../access/access.ts'
import { DomainError, fail } from '../errors.ts'
import { TextRefusal } from '../http/refusal.ts'
import type { HttpRequest } from '../http/request.ts'
import type { SyncTokens } from '../identity/sync-tokens.ts'
import type { LibraryCore } from '../library/core.ts'
import type { EditableLibrary, Library } from '../library/library.ts'
import { findLibrary } from '../library/library-store.ts'
import { findSubLibraryInfos } from '../library/sub-libraries.ts'
import type { LibraryId } from '../objects/ids.ts'
import { ROOT } from '../objects/paths.ts'

// A client sends hundreds of requests for one change. A token that was revoked opens nothing new after this long; what
// it sends in the meantime comes to nothing, because moving the head looks anew.
const REMEMBERED_MS = 1000
const MOST_REMEMBERED = 10_000

interface Remembered {
  readonly library: Library
  readonly until: number
}

/** Lets a client that shows a sync token into its library (I8). */
export class SyncDoor {
  readonly #access: Access
  readonly #core: LibraryCore
  readonly #syncTokens: SyncTokens
  readonly #remembered = new Map<string, Remembered>()

  constructor(access: Access, core: LibraryCore, syncTokens: SyncTokens) {
    this.#access = access
    this.#core = core
    this.#syncTokens = syncTokens
  }

  /** Throws library-not-found, for whoever asks: a client that is told so forgets the library. */
  async expectLibrary(id: LibraryId): Promise<void> {
    if ((await findLibrary(this.#core.db, id)) !== undefined) return
    const [sub] = await findSubLibraryInfos(this.#core, 'id', [id])
    if (sub === undefined) fail({ code: 'library-not-found', id })
  }

  /**
   * The library the token of a request opens, as it was a moment ago. Throws refusals for a token that is missing (400)
   * or does not open this library (403), permission-denied, library-not-found. Nothing is waited for if it is remembered.
   */
  open(request: HttpRequest, id: LibraryId): Library | Promise<Library> {
    const token = tokenOf(request)
    const known = this.#remembered.get(token)
    if (known !== undefined && known.until > performance.now() && known.library.info.id === id) {
      return known.library
    }
    return this.openNow(request, id)
  }

  /** As open, as it is now: for what must not be done with a right that ended. */
  async openNow(request: HttpRequest, id: LibraryId): Promise<Library> {
    return this.openByToken(tokenOf(request), id)
  }

  /** As openNow, for a token that came in a body. */
  async openByToken(token: string, id: LibraryId): Promise<Library> {
    this.#remembered.delete(token)
    const grant = await this.#syncTokens.authenticate(token)
    if (grant === undefined) throw refused()
    const { accountKey, libraryKey, subKey } = grant
    const library = await this.#access.openByKey(accountKey, { libraryKey, subKey })
    if (library === undefined) {
      // Only a library that is gone is to be forgotten; an account may be switched on again.
      await this.expectLibrary(id)
      throw refused()
    }
    if (library.info.id !== id) throw refused()
    this.#remember(token, library)
    return library
  }

  /**
   * Whether a sync token, by its reference, still opens a library: for what was derived from the token. The decision
   * is made from the rows of the database on each call.
   */
  async opensByReference(reference: string, id: LibraryId): Promise<boolean> {
    const grant = await this.#syncTokens.findReferenced(reference)
    if (grant === undefined) return false
    const { accountKey, libraryKey, subKey } = grant
    try {
      return (await this.#access.openByKey(accountKey, { libraryKey, subKey }))?.info.id === id
    } catch (error) {
      if (error instanceof DomainError) return false
      throw error
    }
  }

  /** As open, to change it. Throws permission-denied where it may only be read. */
  edit(request: HttpRequest, id: LibraryId): EditableLibrary | Promise<EditableLibrary> {
    const opened = this.open(request, id)
    return opened instanceof Promise
      ? opened.then((library) => library.editable(ROOT))
      : opened.editable(ROOT)
  }

  /** As edit, as it is now. */
  async editNow(request: HttpRequest, id: LibraryId): Promise<EditableLibrary> {
    return (await this.openNow(request, id)).editable(ROOT)
  }

  #remember(token: string, library: Library): void {
    this.#remembered.set(token, { library, until: performance.now() + REMEMBERED_MS })
    for (const oldest of this.#remembered.keys()) {
      if (this.#remembered.size <= MOST_REMEMBERED) return
      this.#remembered.delete(oldest)
    }
  }
}

/** The sync token of a request; newer clients send it as an API token would be, too. */
export function tokenOf(request: HttpRequest): string {
  const own = request.header('seafile-repo-token')
  if (own !== undefined && own !== '') return own
  const [, token] = /^token\s+(\S+)$/i.exec(request.header('authorization')?.trim() ?? '') ?? []
  if (token === undefined) throw new TextRefusal(400, 'Repo token is missing')
  return token
}

function refused(): TextRefusal {
  return new TextRefusal(403, 'Invalid repo token')
}
