import { randomBytes } from 'node:crypto'
import {
  type Also,
  asSeen,
  findLibraryByKey,
  holdHead,
  inOrigin,
  type LibraryInfo,
  originOf,
} from '../commits/index.ts'
import { type Database, writeIfSpace } from '../database/index.ts'
import { DomainError, fail } from '../errors.ts'
import {
  type Account,
  type CredentialOrigins,
  PasswordGuard,
  type PasswordGuardOptions,
  roleAllows,
} from '../identity/index.ts'
import type { AdministeredLibrary, Library, LibraryCore } from '../library/index.ts'
import { type LibraryPath, ROOT } from '../objects/index.ts'
import type { Access } from './access.ts'
import { checkAdministrator } from './administration.ts'
import {
  isExpired,
  isUsable,
  type Link,
  type LinkChanges,
  type LinkKind,
  type LinkOptions,
  type LinkRights,
  readingRights,
  uploadRights,
} from './link.ts'
import { type LinkGrant, LinkSecrets } from './link-secrets.ts'
import {
  addView,
  countAllLinks,
  countLinks,
  deleteLink,
  deleteTicketsOfLink,
  findLink,
  insertLink,
  listAllLinks,
  listLinks,
  updateLink,
} from './link-store.ts'
import { OpenLink } from './open-link.ts'

const TOKEN_BYTES = 10
const MOST_IN_A_LIBRARY = 500_000

/** What somebody who holds a link shows to be let in. */
export interface VisitorCredentials {
  /** Where they come from. */
  readonly address: string
  /** What the address is counted by; the address itself unless given. */
  readonly network?: string
  readonly password: string | undefined
  /** The grant an earlier password earned. */
  readonly cookie: string | undefined
  readonly apiToken: string | undefined
}

export interface LinksOptions extends PasswordGuardOptions {
  readonly core: LibraryCore
  readonly db: Database
  readonly access: Access
  readonly origins: CredentialOrigins
  readonly secret: Buffer
  /** Whose API token it is. */
  readonly identify: (apiToken: string) => Promise<Account | undefined>
  /** In characters. */
  readonly shortestPassword: number
}

/**
 * Share links and upload links: made, managed and opened. A link is bound to what was shared, not to a path: it
 * follows through renames and moves inside the library and ends when that is deleted, for good. It can do no more
 * than its maker can now.
 */
export class Links {
  /** In characters. */
  readonly shortestPassword: number
  readonly #db: Database
  readonly #access: Access
  readonly #origins: CredentialOrigins
  readonly #secrets: LinkSecrets
  readonly #now: () => number
  readonly #identify: LinksOptions['identify']
  readonly #guard: PasswordGuard

  constructor(options: LinksOptions) {
    this.shortestPassword = options.shortestPassword
    this.#db = options.db
    this.#access = options.access
    this.#origins = options.origins
    this.#secrets = new LinkSecrets(options.secret, options.now)
    this.#now = options.now
    this.#identify = options.identify
    this.#guard = new PasswordGuard(options)
  }

  /**
   * Makes a link to something of a library, one for each maker and item unless `several`. An upload link that
   * is there already is given as it is. Throws path-not-found, permission-denied, link-exists, too-many-links.
   */
  async create(
    user: Account,
    library: Library,
    options: LinkOptions,
    { several = false, also }: { several?: boolean; also?: Also } = {},
  ): Promise<Link> {
    if (!mayMake(user, options.kind)) fail({ code: 'permission-denied' })
    for (let opened: Library | undefined = library; ; ) {
      const isDir = await kindOf(opened, options.path)
      refuseRights(opened, options)
      const made = await this.#insert(user, opened, options, { isDir, several, also })
      if (made !== undefined) return made
      // Somebody changed the library after we looked: what we saw may be gone.
      opened = await this.#access.reopen(user, keysOf(library))
      if (opened === undefined) return fail({ code: 'library-not-found', id: library.info.id })
    }
  }

  /** What an account made where it may still read, oldest first; in one library or sub-library, and at one path of it, if asked. */
  async listOwn(user: Account, kind: LinkKind, library?: Library, path?: LibraryPath): Promise<Link[]> {
    const where = library && {
      libraryKey: library.info.key,
      subKey: library.info.sub?.key ?? 0,
      place: path && inOrigin(library.info, path),
    }
    return this.#readable(user, await listLinks(this.#db, { kind, accountKey: user.key, ...where }))
  }

  /** What everybody made in a library, or in the folder a sub-library shows, as it is seen there; oldest first. */
  async listIn({ info }: AdministeredLibrary, kind: LinkKind): Promise<Link[]> {
    const links = await listLinks(this.#db, { kind, libraryKey: info.key })
    return links.flatMap((link) => seenIn(info, link) ?? [])
  }

  /** For who made it and the owner of its library. Throws link-not-found, for a stranger too. */
  async get(user: Account, token: string, kind: LinkKind): Promise<Link> {
    const link = await this.#find(token, kind)
    const [own] = link.accountKey === user.key ? await this.#readable(user, [link]) : []
    if (own !== undefined) return own
    const library = await findLibraryByKey(this.#db, link.libraryKey)
    const owned = library?.ownerKey === user.key ? seenIn(library, link) : undefined
    return owned ?? fail({ code: 'link-not-found', token })
  }

  /** A link of a library, or of the folder a sub-library shows, as it is seen there. Throws link-not-found. */
  async getIn({ info }: AdministeredLibrary, token: string, kind: LinkKind): Promise<Link> {
    return seenIn(info, await this.#find(token, kind)) ?? fail({ code: 'link-not-found', token })
  }

  /** A page of everybody's, newest first, and how many there are. Throws permission-denied for all but administrators. */
  async listAll(
    user: Account,
    kind: LinkKind,
    { page, perPage }: { page: number; perPage: number },
  ): Promise<{ links: Link[]; count: number }> {
    checkAdministrator(user)
    const db = this.#db
    const [links, count] = await Promise.all([
      listAllLinks(db, kind, { limit: perPage, offset: (page - 1) * perPage }),
      countAllLinks(db, kind),
    ])
    return { links, count }
  }

  /** Anybody's, for administrators. Throws link-not-found, permission-denied. */
  async getAny(user: Account, token: string, kind: LinkKind): Promise<Link> {
    checkAdministrator(user)
    return this.#find(token, kind)
  }

  /** Anybody's, for administrators; an unknown one is no error. Throws permission-denied. */
  async deleteAny(user: Account, token: string, kind: LinkKind, also: (link: Link) => Also): Promise<void> {
    checkAdministrator(user)
    await this.#db.write(async (tx) => {
      const link = isToken(token) ? await findLink(tx, token) : undefined
      if (link?.kind !== kind) return
      await deleteLink(tx, link.key)
      await also(link)(tx)
    })
  }

  /** Throws link-not-found; permission-denied for all but who made it, and for rights they do not have. */
  async update(
    user: Account,
    token: string,
    kind: LinkKind,
    changes: LinkChanges,
    also?: (link: Link) => Also,
  ): Promise<Link> {
    const link = await this.#find(token, kind)
    if (link.accountKey !== user.key) fail({ code: 'permission-denied' })
    if ((await this.#readable(user, [link])).length === 0) fail({ code: 'link-not-found', token })
    if (changes.rights !== undefined) {
      const library = await this.#access.reopen(user, link)
      if (library) refuseRights(library, { ...link, rights: changes.rights })
    }
    const { expiresAt, ...rest } = changes
    const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
    const changed: Link = {
      ...link,
      ...given,
      expiresAt: expiresAt === undefined ? link.expiresAt : (expiresAt ?? undefined),
      password: changes.active === false ? this.#sealedAnew(link) : link.password,
    }
    await this.#db.write(async (tx) => {
      await updateLink(tx, changed)
      await deleteTicketsOfLink(tx, link.key)
      await also?.(changed)(tx)
    })
    return changed
  }

  /** The same password, encrypted anew: who typed it before has to type it again, because grants are signed for its bytes. */
  #sealedAnew(link: Link): Uint8Array | undefined {
    const password = this.#secrets.open(link)
    return password === undefined ? link.password : this.#secrets.seal(link.token, password)
  }

  /** Whose link it is. */
  async findOwn(user: Account, token: string, kind: LinkKind): Promise<'own' | 'foreign' | 'unknown'> {
    const link = isToken(token) ? await findLink(this.#db, token) : undefined
    if (link?.kind !== kind) return 'unknown'
    return link.accountKey === user.key ? 'own' : 'foreign'
  }

  /** An unknown link is no error. Throws permission-denied for somebody else's. */
  async delete(user: Account, token: string, kind: LinkKind, also?: (link: Link) => Also): Promise<void> {
    const link = isToken(token) ? await findLink(this.#db, token) : undefined
    if (link?.kind !== kind) return
    if (link.accountKey !== user.key) fail({ code: 'permission-denied' })
    await this.#deleteAll([link], also)
  }

  /** Throws link-not-found. */
  async deleteIn(
    library: AdministeredLibrary,
    token: string,
    kind: LinkKind,
    also?: (link: Link) => Also,
  ): Promise<void> {
    await this.#deleteAll([await this.getIn(library, token, kind)], also)
  }

  /** Removes an account's links whose target is gone. */
  async cleanInvalid(user: Account, kind: LinkKind, also?: (link: Link) => Also): Promise<void> {
    const links = await listLinks(this.#db, { kind, accountKey: user.key })
    await this.#deleteAll(
      links.filter((link) => link.isGone),
      also,
    )
  }

  /** A link follows what it leads to, so it would tell its maker the new name or path of what they may not read any more. */
  async #readable(user: Account, links: readonly Link[]): Promise<Link[]> {
    const ids = [...new Set(links.map(({ libraryId }) => libraryId))]
    const libraries = await this.#access.openAll(user, ids)
    return links.filter(({ libraryId }) => libraries.has(libraryId))
  }

  async #deleteAll(links: readonly Link[], also?: (link: Link) => Also): Promise<void> {
    await this.#db.write(async (tx) => {
      for (const link of links) {
        await deleteLink(tx, link.key)
        await also?.(link)(tx)
      }
    })
  }

  /** The password of a link, for who made it; empty if it has none. */
  passwordOf(link: Link): string {
    return this.#secrets.open(link) ?? ''
  }

  /**
   * Lets in who holds a link. Throws link-not-found for what is unknown, switched off or leads nowhere;
   * link-expired; link-not-for-you; link-password-needed; too-many-tries.
   */
  async open(token: string, shown: VisitorCredentials, kind?: LinkKind): Promise<OpenLink> {
    const link = await this.#find(token, kind)
    if (!link.active || link.isGone) fail({ code: 'link-not-found', token })
    if (isExpired(link, this.#now())) fail({ code: 'link-expired', kind: link.kind })
    const library = await this.#openLibrary(link)
    const visitor = link.scope === 'all_users' ? undefined : await this.#refuseStranger(link, shown)
    if (link.password !== undefined) await this.#checkPassword(link, shown)
    return new OpenLink(link, library, visitor?.apiTokenKey)
  }

  /** What spares the holder of an opened link the password from now on. */
  grant({ link }: OpenLink): LinkGrant {
    return this.#secrets.grant(link)
  }

  async countView({ link }: OpenLink): Promise<void> {
    await writeIfSpace(this.#db, (tx) => addView(tx, link.key))
  }

  isExpired(link: Link): boolean {
    return isExpired(link, this.#now())
  }

  async #find(token: string, kind?: LinkKind): Promise<Link> {
    const link = isToken(token) ? await findLink(this.#db, token) : undefined
    if (link === undefined || (kind !== undefined && link.kind !== kind)) {
      return fail({ code: 'link-not-found', token })
    }
    return link
  }

  /** Undefined if the library changed since it was opened. */
  async #insert(
    user: Account,
    library: Library,
    options: LinkOptions,
    { isDir, several, also }: { isDir: boolean; several: boolean; also: Also | undefined },
  ) {
    const { kind, path } = options
    const token = randomBytes(TOKEN_BYTES).toString('hex')
    const now = this.#now()
    const made = await this.#db.write(async (tx) => {
      // As long as the head stands, the folder of a sub-library does, too.
      if (!(await holdHead(tx, library.info.key, originOf(library.info).head))) return undefined
      const { libraryKey, subKey } = keysOf(library)
      const place = inOrigin(library.info, path)
      const where = { kind, accountKey: user.key, libraryKey, subKey: subKey ?? 0, place }
      const there = several ? [] : await listLinks(tx, where)
      // A link made with a token and one made without end in different ways, so neither stands for the other.
      const sameOrigin = there.filter((link) => link.scopedTokenKey === user.scope?.tokenKey)
      const usable = sameOrigin.find((link) => isUsable(link, now))
      if (usable !== undefined && kind === 'share') fail({ code: 'link-exists', token: usable.token })
      if (usable !== undefined) return usable.token
      if ((await countLinks(tx, library.info.key)) >= MOST_IN_A_LIBRARY) fail({ code: 'too-many-links' })
      await insertLink(tx, {
        token,
        kind,
        accountKey: user.key,
        libraryKey,
        subKey,
        place,
        isDir,
        password: options.password ? this.#secrets.seal(token, options.password) : undefined,
        expiresAt: options.expiresAt,
        rights: options.rights ?? (kind === 'share' ? readingRights : uploadRights),
        scope: options.scope ?? 'all_users',
        emails: options.emails ?? [],
        description: options.description ?? '',
        scopedTokenKey: user.scope?.tokenKey,
        createdAt: now,
      })
      await also?.(tx)
      return token
    })
    return made === undefined ? undefined : this.#find(made)
  }

  /** As its maker may use it now. Throws link-not-found if what was shared is out of their reach. */
  async #openLibrary(link: Link): Promise<Library> {
    const notFound = { code: 'link-not-found', token: link.token } as const
    try {
      const library = await this.#openAsMaker(link)
      if (library === undefined || library.info.encryption !== undefined) return fail(notFound)
      const isDir = await kindOf(library, link.path)
      return isDir === link.isDir ? library : fail(notFound)
    } catch (error) {
      const code = error instanceof DomainError ? error.fault.code : undefined
      if (code === 'permission-denied' || code === 'path-not-found') fail(notFound)
      throw error
    }
  }

  /** Undefined if its maker, or the token it was made with, may make such a link no more. Throws permission-denied. */
  async #openAsMaker(link: Link): Promise<Library | undefined> {
    const { accountKey, scopedTokenKey, kind, libraryKey, subKey } = link
    const origin = { accountKey, scopedTokenKey, epoch: undefined, apiTokenKey: undefined }
    const maker = await this.#origins.findActor(origin)
    return maker && mayMake(maker, kind) ? this.#access.reopen(maker, { libraryKey, subKey }) : undefined
  }

  /** Who a link for named people was opened by. */
  async #refuseStranger(link: Link, { apiToken }: VisitorCredentials): Promise<Account> {
    const user = apiToken === undefined ? undefined : await this.#identify(apiToken)
    const known = user !== undefined && (user.key === link.accountKey || link.emails.includes(user.email))
    return known ? user : fail({ code: 'link-not-for-you' })
  }

  async #checkPassword(
    link: Link,
    { cookie, password, address, network = address }: VisitorCredentials,
  ): Promise<void> {
    if (cookie !== undefined && this.#secrets.isGrant(link, cookie)) return
    if (password === undefined) fail({ code: 'link-password-needed', wrong: false })
    const attempt = { kind: 'link', subject: link.token, source: network, address } as const
    const isRight = this.#secrets.isPassword(link, password)
    const outcome = await this.#guard.try(attempt, () => Promise.resolve({ isRight }))
    if (typeof outcome === 'object') fail({ code: 'too-many-tries', seconds: outcome.retryAfterSeconds })
    if (outcome === 'wrong') fail({ code: 'link-password-needed', wrong: true })
  }
}

function mayMake({ role }: Account, kind: LinkKind): boolean {
  return roleAllows(role, kind === 'share' ? 'make-share-link' : 'make-upload-link')
}

function keysOf({ info }: Library) {
  return { libraryKey: info.key, subKey: info.sub?.key }
}

/** A link as a library or sub-library shows it; undefined if it is none of its own. */
function seenIn(library: LibraryInfo, link: Link): Link | undefined {
  const path = link.libraryKey === library.key ? asSeen(library, link.place) : undefined
  return path && { ...link, path, libraryId: library.id, libraryName: library.name }
}

/** Whether it is a folder. Throws path-not-found. */
async function kindOf(library: Library, path: LibraryPath): Promise<boolean> {
  if (path === ROOT) return true
  const entry = await library.tree.find(path)
  return (entry ?? fail({ code: 'path-not-found', path, wanted: 'Item' })).kind === 'dir'
}

/** Nobody can give what they do not have. Throws permission-denied. */
function refuseRights(
  library: Library,
  options: { kind: LinkKind; path: LibraryPath; rights?: LinkRights },
): void {
  const { kind, path, rights } = options
  const writes = kind === 'upload' || rights?.canUpload === true || rights?.canEdit === true
  const isAllowed = !writes || library.permissionAt(path) === 'rw'
  if (!isAllowed || library.info.encryption !== undefined) fail({ code: 'permission-denied' })
}

/** Links of earlier servers had shorter tokens. */
function isToken(text: string): boolean {
  return /^[a-f0-9]{8,64}$/.test(text)
}
