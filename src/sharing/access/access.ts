import { fail } from '../../base/errors.ts'
import type { LibraryId } from '../../base/objects/index.ts'
import { type LibraryPath, ROOT, selfAndAbove } from '../../base/paths/index.ts'
import { type MaybePromise, whenReady } from '../../base/scheduling/index.ts'
import { LibraryHistory } from '../../libraries/history/index.ts'
import { AdministeredLibrary, Library, storesOf } from '../../libraries/library/for-access.ts'
import type { LibraryCore, OwnedLibrary, Permission, Right } from '../../libraries/library/index.ts'
import {
  asSeen,
  baseOf,
  type LibraryInfo,
  type LibraryName,
  type LibrarySummary,
  libraryRows,
} from '../../libraries/registry/index.ts'
import { findSubLibraryAt } from '../../libraries/views/index.ts'
import {
  type Account,
  groupRows,
  isAdmin,
  roleAllows,
  type Scope,
  scopeReaches,
} from '../../people/accounts/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { type AccessList, type AccessSummary, listAccess, summarizeAccess } from './access-list.ts'
import { type Explanation, explain } from './explain.ts'
import { capped, decide, type Grant } from './grant.ts'
import { type OwnedReadables, permitted, placeOf, type Readable } from './readable.ts'
import { grantsOf, type ShareQuery } from './share-store.ts'
import { listShared, type SharedLibrary } from './shared-libraries.ts'

/** A library in the list of its owner. */
interface OwnedSummary extends LibrarySummary {
  readonly permission: Permission
}

/** Identifies a library or sub-library that is opened again. */
export interface LibraryKeys {
  readonly libraryKey: number
  /** The epoch the library must have; undefined for any. */
  readonly libraryEpoch?: number | undefined
  /** Restricts access to this sub-library. */
  readonly subKey: number | undefined
}

/**
 * The only access to libraries (I8). Every handle it returns has passed the permission check; knowing an id
 * grants nothing (I7).
 */
export class Access {
  readonly #core: LibraryCore
  readonly #db: Database

  constructor({ core, db }: { core: LibraryCore; db: Database }) {
    this.#core = core
    this.#db = db
  }

  /**
   * Opens a library or a sub-library. Throws library-not-found; permission-denied without read permission.
   */
  open(user: Account, id: LibraryId): MaybePromise<Library> {
    return whenReady(this.#find(id), (info) =>
      this.#open(user, info ?? fail({ code: 'library-not-found', id })),
    )
  }

  /** Whether the library or sub-library exists, for calls that report this before the permission. */
  async exists(id: LibraryId): Promise<boolean> {
    return (await this.#find(id)) !== undefined
  }

  /** Opens those of `ids` that exist and that the user may read, with a constant number of queries. */
  async openAll(user: Account, ids: readonly LibraryId[]): Promise<Map<LibraryId, Library>> {
    const infos = await this.#findAll(ids)
    const grants = await this.#grants(user, infos)
    const opened = new Map<LibraryId, Library>()
    for (const info of infos) {
      const right = rightOn(user, info, grants.get(info.key))
      if (right !== undefined) opened.set(info.id, new Library(this.#core, info, user, right))
    }
    return opened
  }

  /**
   * Throws library-not-found; permission-denied except for the owner, and for sub-libraries, which have no
   * owner.
   */
  async openOwned(user: Account, id: LibraryId): Promise<OwnedLibrary> {
    return (await this.open(user, id)).owned()
  }

  /**
   * Throws library-not-found; permission-denied except for the owner and accounts that may manage its shares.
   */
  async openAdministered(user: Account, id: LibraryId): Promise<AdministeredLibrary> {
    return (await this.open(user, id)).administered()
  }

  /**
   * For administrators of the server, who may list and revoke shares of any library. Gives no access to its
   * content. Throws library-not-found; permission-denied for everybody else.
   */
  async openForServer(user: Account, id: LibraryId): Promise<AdministeredLibrary> {
    if (!isServerAdmin(user)) fail({ code: 'permission-denied' })
    const info = (await this.#find(id)) ?? fail({ code: 'library-not-found', id })
    return new AdministeredLibrary(this.#core, info, user, { permission: 'r', isAdmin: true })
  }

  /**
   * Opens the library that contains a path, or the nearest folder above it that is shared with the user.
   * Throws library-not-found, permission-denied.
   */
  async openAround(
    user: Account,
    id: LibraryId,
    path: LibraryPath,
  ): Promise<{ library: Library; path: LibraryPath }> {
    const db = this.#db
    const info = (await libraryRows.find(db, id)) ?? fail({ code: 'library-not-found', id })
    const grants = (await this.#grants(user, [info])).get(info.key)
    const right = rightOn(user, info, grants)
    if (right !== undefined) return { library: new Library(this.#core, info, user, right), path }
    const folder = selfAndAbove(path).find((above) => grants?.some((grant) => grant.path === above))
    const sub = folder && (await findSubLibraryAt(db, info.key, folder))
    const seen = sub && asSeen({ key: info.key, sub: { ...sub, origin: info } }, path)
    if (sub === undefined || seen === undefined) return fail({ code: 'permission-denied' })
    return { library: await this.open(user, sub.id), path: seen }
  }

  /**
   * Opens the library of a credential again, with the current permission of its account
   * (`CredentialOrigins`). Undefined if the library is gone, or was deleted and restored since. Throws
   * permission-denied.
   */
  reopen(user: Account, keys: LibraryKeys): MaybePromise<Library | undefined> {
    return whenReady(this.#findByKey(keys), (info) => {
      if (info === undefined || (keys.libraryEpoch ?? info.epoch) !== info.epoch) return undefined
      return this.#open(user, info)
    })
  }

  /**
   * Opens a library for ending locks of others, which the owner, accounts that may manage its shares and administrators of the server
   * may do. Throws library-not-found, permission-denied.
   */
  openForLocks(user: Account, id: LibraryId): Promise<AdministeredLibrary> {
    return isServerAdmin(user) ? this.openForServer(user, id) : this.openAdministered(user, id)
  }

  /** Tells where in a library an account may write now, within the scope of its credential. A library that is read-only for a while changes nothing. */
  async writableBy(user: Account, libraryKey: number): Promise<(path: LibraryPath) => boolean> {
    const info = await libraryRows.findByKey(this.#db, libraryKey)
    if (info === undefined || (user.scope !== undefined && user.scope.access !== 'write')) return () => false
    const { libraryKey: reached = libraryKey } = user.scope ?? {}
    if (reached !== libraryKey) return () => false
    if (info.ownerKey === user.key) return () => true
    const grants = (await this.#grants(user, [info])).get(libraryKey) ?? []
    return (path) => decide(grants, path)?.permission === 'rw'
  }

  /** Whether a user may end locks of others in a library. */
  mayBreakLocks(user: Account, library: Library): boolean {
    return library.isAdmin || isServerAdmin(user)
  }

  /** The paths of a shared folder while the user could see it, newest first (`folderStays`). None for a whole library. */
  async stays({ folder }: Readable, most: number): ReturnType<LibraryHistory['folderStays']> {
    if (folder === undefined) return []
    return new LibraryHistory(storesOf(this.#core).history, folder).folderStays(most)
  }

  /** See `listAccess`. */
  listAccess(library: AdministeredLibrary, path: LibraryPath): Promise<AccessList> {
    return listAccess(this.#db, library, path, this.#core.now())
  }

  /** See `summarizeAccess`. */
  summarizeAccess(owner: Account): Promise<AccessSummary[]> {
    return summarizeAccess(this.#db, owner, this.#core.now())
  }

  /** See `explain`. */
  explain(library: LibraryInfo, account: Account, path: LibraryPath): Promise<Explanation> {
    return explain(this.#db, library, account, path, this.#core.now())
  }

  /**
   * Libraries and folders, or files, shared with the user, with groups of the user, or with everyone, most
   * recently changed first.
   */
  async listShared(
    user: Account,
    via: 'shared' | 'group' | 'public',
    options?: { files: boolean },
  ): Promise<SharedLibrary[]> {
    const shared = await listShared(this.#db, this.#core, await this.#queryFor(user, via), options)
    if (user.scope === undefined) return shared
    const reached = shared.filter(({ info }) => scopeReaches(user.scope, info))
    return reached.map((one) => ({ ...one, ...within(user.scope, one) }))
  }

  /** Libraries the user owns, most recently changed first. */
  async listOwned(user: Account): Promise<OwnedSummary[]> {
    const owned = await libraryRows.listOf(this.#db, user.key)
    const reached = owned.filter((library) => scopeReaches(user.scope, library))
    return reached.map((library) => ({ ...library, permission: ownPermission(user, library) }))
  }

  /** Every library and shared folder the user may open, once each, with the highest permission. */
  async listOpenable(user: Account): Promise<Library[]> {
    const permissions = new Map((await this.listOwned(user)).map(({ id, permission }) => [id, permission]))
    const infos = new Map(
      (await libraryRows.findMany(this.#db, [...permissions.keys()])).map((info) => [info.id, info]),
    )
    for (const via of ['shared', 'group', 'public'] as const) {
      for (const { info, permission } of await this.listShared(user, via)) {
        infos.set(info.id, info)
        if (permissions.get(info.id) !== 'rw') permissions.set(info.id, permission)
      }
    }
    return Array.from(
      infos.values(),
      (info) => new Library(this.#core, info, user, permissions.get(info.id) ?? 'r'),
    )
  }

  /** All libraries the user may read, grouped by kind of access, each group most recently changed first. */
  async listReadable(user: Account): Promise<Readable[]> {
    return [...(await this.listOwnedReadable(user)), ...(await this.listGranted(user))]
  }

  /** As listReadable, only libraries the user owns. One query. */
  listOwnedReadable(user: Account): Promise<Readable[]> {
    return this.#ownedReadable(user)
  }

  /** As listReadable, without libraries the user owns. */
  listGranted(user: Account): Promise<Readable[]> {
    return this.#granted(user, ['shared', 'group', 'public'], { files: false })
  }

  /** The single files shared with the user or with groups of the user. They are in no other list of libraries. */
  listGrantedFiles(user: Account): Promise<Readable[]> {
    return this.#granted(user, ['shared', 'group'], { files: true })
  }

  async #granted(
    user: Account,
    ways: readonly ('shared' | 'group' | 'public')[],
    options: { files: boolean },
  ): Promise<Readable[]> {
    const readable: Readable[] = []
    for (const via of ways) {
      for (const { info, permission } of await this.listShared(user, via, options)) {
        const { id, key: libraryKey, name, ownerKey } = info
        const encrypted = info.encryption !== undefined
        readable.push(
          permitted({ id, name, ownerKey, encrypted, permission, via, libraryKey, ...placeOf(info) }),
        )
      }
    }
    return readable
  }

  /** Libraries the user owns, for callers that need the names of only a few. */
  async owned(user: Account): Promise<OwnedReadables> {
    if (user.scope === undefined) {
      const keys = await libraryRows.listKeysOf(this.#db, user.key)
      return { keys, find: (among) => this.#ownedReadable(user, among) }
    }
    const all = await this.#ownedReadable(user)
    return {
      keys: all.map(({ libraryKey }) => libraryKey),
      find: async (keys) => all.filter(({ libraryKey }) => keys.includes(libraryKey)),
    }
  }

  async #ownedReadable(user: Account, among?: readonly number[]): Promise<Readable[]> {
    const libraries = await libraryRows.listNamesOf(this.#db, user.key, among)
    return libraries
      .filter((library) => scopeReaches(user.scope, library))
      .map((library) =>
        permitted({
          id: library.id,
          name: library.name,
          ownerKey: user.key,
          encrypted: library.encrypted,
          permission: ownPermission(user, library),
          via: 'mine',
          libraryKey: library.key,
          base: ROOT,
          isFile: false,
        }),
      )
  }

  async #queryFor(user: Account, via: 'shared' | 'group' | 'public'): Promise<ShareQuery> {
    if (via === 'shared') return { to: 'user', keys: [user.key] }
    if (via === 'public') return seesPublic(user) ? { to: 'everyone' } : { to: 'user', keys: [] }
    const memberships = await groupRows.ofMember(this.#db, user.key)
    return { to: 'group', keys: memberships.map(({ group }) => group.key) }
  }

  #find(id: LibraryId): MaybePromise<LibraryInfo | undefined> {
    return whenReady(
      libraryRows.find(this.#db, id),
      (info) =>
        info ??
        storesOf(this.#core)
          .views.findSubLibraryInfos('id', [id])
          .then(([found]) => found),
    )
  }

  #findByKey({ libraryKey, subKey }: LibraryKeys): MaybePromise<LibraryInfo | undefined> {
    if (subKey === undefined) return libraryRows.findByKey(this.#db, libraryKey)
    return storesOf(this.#core)
      .views.findSubLibraryInfos('key', [subKey])
      .then(([found]) => found)
  }

  async #findAll(ids: readonly LibraryId[]): Promise<LibraryInfo[]> {
    const found = await libraryRows.findMany(this.#db, ids)
    if (found.length === ids.length) return found
    const known = new Set(found.map(({ id }) => id))
    const rest = ids.filter((id) => !known.has(id))
    return [...found, ...(await storesOf(this.#core).views.findSubLibraryInfos('id', rest))]
  }

  #open(user: Account, info: LibraryInfo): MaybePromise<Library> {
    return whenReady(this.#grants(user, [info]), (grants) => {
      const right = rightOn(user, info, grants.get(info.key))
      return right === undefined ? this.#openAgain(user, info) : new Library(this.#core, info, user, right)
    })
  }

  async #openAgain(user: Account, info: LibraryInfo): Promise<Library> {
    // The folder, or one above it, may have been moved between the two reads.
    const [again] =
      info.sub === undefined
        ? []
        : await storesOf(this.#core).views.findSubLibraryInfos('key', [info.sub.key])
    if (again === undefined || baseOf(again) === baseOf(info)) return fail({ code: 'permission-denied' })
    return this.#open(user, again)
  }

  /** Owned libraries need no query. */
  #grants(user: Account, infos: readonly LibraryInfo[]): MaybePromise<Map<number, Grant[]>> {
    const others = infos.filter(({ ownerKey }) => ownerKey !== user.key)
    if (others.length === 0) return new Map()
    const keys = new Set(others.map(({ key }) => key))
    const asking = { key: user.key, seesPublic: seesPublic(user) }
    return grantsOf(this.#db, asking, [...keys], this.#core.now())
  }
}

/** Whether a user administers the server. A scoped credential does not. */
function isServerAdmin(user: Account): boolean {
  return isAdmin(user) && user.scope === undefined
}

/** Whether shares with everyone apply to this user. */
export function seesPublic(user: Account): boolean {
  return roleAllows(user.role, 'see-public-libraries')
}

/** The right of a user on a library, within the scope of the credential; undefined for none. */
function rightOn(user: Account, library: LibraryInfo, grants?: readonly Grant[]): Right | undefined {
  if (!scopeReaches(user.scope, library)) return undefined
  const right = rightOfAccount(user, library, grants)
  return right && within(user.scope, right)
}

/** Restricts a right to a scope. A scoped credential cannot manage shares. */
function within(scope: Scope | undefined, { permission, isAdmin }: Right): Right {
  if (scope === undefined) return { permission, isAdmin }
  return { permission: scope.access === 'read' ? 'r' : permission, isAdmin: false }
}

/** The right of the account, regardless of its credential. A read-only library caps it at `r`. */
function rightOfAccount(
  user: Account,
  library: LibraryInfo,
  grants: readonly Grant[] = [],
): Right | undefined {
  if (library.ownerKey === user.key) return { permission: capped('rw', library), isAdmin: true }
  const { sub } = library
  // Grants of the sub-library apply at its folder, even if the folder is moved concurrently.
  const here = (grant: Grant) => (grant.subKey === sub?.key ? { ...grant, path: baseOf(library) } : grant)
  const decision = decide(sub === undefined ? grants : grants.map(here), baseOf(library))
  return decision && { permission: capped(decision.permission, library), isAdmin: decision.isAdmin }
}

/** The permission of a user on a library they own. */
function ownPermission({ scope }: Account, library: LibraryName): Permission {
  return within(scope, { permission: capped('rw', library), isAdmin: true }).permission
}
