import { DomainError, fail } from '../../base/errors.ts'
import type { LibraryId } from '../../base/objects/index.ts'
import { ROOT } from '../../base/paths/index.ts'
import { type MaybePromise, whenReady } from '../../base/scheduling/index.ts'
import type { EditableLibrary, Library, LibraryCore } from '../../libraries/library/index.ts'
import type { CredentialOrigins, SyncGrant, SyncTokens } from '../../people/credentials/index.ts'
import type { HttpRequest } from '../../platform/http/index.ts'
import { TextRefusal } from '../../platform/responses/index.ts'
import type { Access } from '../../sharing/access/index.ts'

interface SyncAccessOptions {
  readonly access: Access
  readonly core: LibraryCore
  readonly origins: CredentialOrigins
  readonly syncTokens: SyncTokens
}

/** Opens libraries by sync token (I8). Every request is checked; nothing is cached. */
export class SyncAccess {
  readonly #options: SyncAccessOptions

  constructor(options: SyncAccessOptions) {
    this.#options = options
  }

  /** Throws library-not-found. A client that receives it unlinks the library. */
  async expectLibrary(id: LibraryId): Promise<void> {
    if (!(await this.#options.access.exists(id))) fail({ code: 'library-not-found', id })
  }

  /**
   * The library the token of a request opens. Throws refusals for a token that is missing (400) or does not open this
   * library (403), permission-denied, library-not-found.
   */
  open(request: HttpRequest, id: LibraryId): MaybePromise<Library> {
    return this.openByToken(tokenOf(request), id)
  }

  /** As open, for a token that came in a body. */
  openByToken(token: string, id: LibraryId): MaybePromise<Library> {
    const granted = whenReady(this.#options.syncTokens.authenticate(token), (grant) => {
      if (grant === undefined) throw refused()
      return this.#openGranted(grant)
    })
    return whenReady(granted, (library) => {
      if (library === undefined) return this.#refuse(id)
      if (library.info.id !== id) throw refused()
      return library
    })
  }

  /** Clients unlink a library only if it is gone. A disabled account may be enabled again. */
  async #refuse(id: LibraryId): Promise<never> {
    await this.expectLibrary(id)
    throw refused()
  }

  /**
   * Whether a sync token, by its reference, still opens a library: for what was derived from the token. The decision
   * is made from the rows of the database on each call.
   */
  async opensByReference(reference: string, id: LibraryId): Promise<boolean> {
    const grant = await this.#options.syncTokens.findReferenced(reference)
    if (grant === undefined) return false
    try {
      return (await this.#openGranted(grant))?.info.id === id
    } catch (error) {
      if (error instanceof DomainError) return false
      throw error
    }
  }

  /** Undefined if what the token was derived from has ended. Throws permission-denied. */
  #openGranted(grant: SyncGrant): MaybePromise<Library | undefined> {
    const { access, origins } = this.#options
    const opened = whenReady(origins.findActor(grant.origin), (actor) => actor && access.reopen(actor, grant))
    return whenReady(opened, (library) => {
      if (library?.info.sub?.isFile) fail({ code: 'permission-denied' })
      return library
    })
  }

  /** As open, to change it. Throws permission-denied where it may only be read. */
  async edit(request: HttpRequest, id: LibraryId): Promise<EditableLibrary> {
    return (await this.open(request, id)).editable(ROOT)
  }
}

/** The sync token of a request. Newer clients also send it in the Authorization header. */
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
