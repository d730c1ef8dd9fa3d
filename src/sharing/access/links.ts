import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { DomainError, fail } from '../../base/errors.ts'
import { type LibraryPath, parentOf, ROOT } from '../../base/paths/index.ts'
import type { AdministeredLibrary, Library, LibraryCore } from '../../libraries/library/index.ts'
import {
  asSeen,
  inOrigin,
  type LibraryInfo,
  libraryHeads,
  libraryRows,
  originOf,
} from '../../libraries/registry/index.ts'
import { type Account, roleAllows } from '../../people/accounts/index.ts'
import type { Audit, AuditActor } from '../../people/audit/index.ts'
import type { CredentialOrigins } from '../../people/credentials/index.ts'
import { PasswordGuard, type PasswordGuardOptions } from '../../people/passwords/index.ts'
import { type Database, writeIfSpace } from '../../platform/database/index.ts'
import type { ServerSecret } from '../../platform/secret/index.ts'
import type { Access } from './access.ts'
import { checkAdministrator } from './administration.ts'
import { linkChanged, linkCreated, linkDeleted } from './audited-actions.ts'
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
  listLinkedPaths,
  listLinks,
  replaceLinkPassword,
  updateLink,
} from './link-store.ts'
import { OpenLink } from './open-link.ts'

const TOKEN_BYTES = 10
const MAX_PER_LIBRARY = 50_000
const MAX_LINKS_FOR_SIGNS = 10_000

/** The credentials that the visitor of a link presents. */
interface VisitorCredentials {
  /** The remote address. */
  readonly address: string
  /** The network that failed tries are counted by. Default: the address. */
  readonly network?: string
  readonly password: string | undefined
  /** The cookie from an earlier correct password. */
  readonly cookie: string | undefined
  readonly apiToken: string | undefined
}

interface LinksOptions extends PasswordGuardOptions {
  readonly core: LibraryCore
  readonly db: Database
  readonly access: Access
  readonly origins: CredentialOrigins
  readonly secret: ServerSecret
  /** Resolves an API token to its account. */
  readonly identify: (apiToken: string) => Promise<Account | undefined>
  /** In characters. */
  readonly shortestPassword: number
}

/**
 * Creates, manages and opens share links and upload links. A link is bound to the shared item, not to a path:
 * it follows the item through renames and moves within the library, and ends for good when the item is
 * deleted. It permits no more than its creator may do now.
 */
export class Links {
  /** In characters. */
  readonly shortestPassword: number
  readonly #audit: Audit
  readonly #db: Database
  readonly #access: Access
  readonly #origins: CredentialOrigins
  readonly #secrets: LinkSecrets
  readonly #now: () => number
  readonly #identify: LinksOptions['identify']
  readonly #guard: PasswordGuard

  constructor(options: LinksOptions) {
    this.shortestPassword = options.shortestPassword
    this.#audit = options.core.audit
    this.#db = options.db
    this.#access = options.access
    this.#origins = options.origins
    this.#secrets = new LinkSecrets(options.secret, options.now)
    this.#now = options.now
    this.#identify = options.identify
    this.#guard = new PasswordGuard(options)
  }

  /**
   * Creates a link to an item of a library: one per creator and item unless `several`. An existing upload
   * link is returned unchanged. Throws path-not-found, permission-denied, link-exists, limit-reached.
   */
  async create(
    user: Account,
    library: Library,
    options: LinkOptions,
    by: AuditActor | undefined,
    { several = false }: { several?: boolean } = {},
  ): Promise<Link> {
    if (!mayCreate(user, options.kind)) fail({ code: 'permission-denied' })
    for (let opened: Library | undefined = library; ; ) {
      const isDir = await kindOf(opened, options.path)
      refuseRights(opened, options)
      const created = await this.#insert(user, opened, options, { isDir, several, by })
      if (created !== undefined) return created
      // The library changed since the check, so the item may be gone.
      opened = await this.#access.reopen(user, keysOf(library))
      if (opened === undefined) return fail({ code: 'library-not-found', id: library.info.id })
    }
  }

  /**
   * Links of an account that it may still read, oldest first; optionally in one library or sub-library, and
   * at one path.
   */
  async listOwn(user: Account, kind: LinkKind, library?: Library, path?: LibraryPath): Promise<Link[]> {
    const where = library && {
      libraryKey: library.info.key,
      subKey: library.info.sub?.key ?? 0,
      place: path && inOrigin(library.info, path),
    }
    return this.#readable(user, await listLinks(this.#db, { kind, accountKey: user.key, ...where }))
  }

  /**
   * Links of all accounts in a library, or in the folder of a sub-library, with paths as seen there; oldest
   * first.
   */
  async listIn({ info }: AdministeredLibrary, kind: LinkKind): Promise<Link[]> {
    const links = await listLinks(this.#db, { kind, libraryKey: info.key })
    return links.flatMap((link) => seenIn(info, link) ?? [])
  }

  /**
   * Paths of the entries of a folder that have a link of any account. Empty in a library with very many links,
   * because reading them would take too long for a sign in a list.
   */
  async linkedEntries({ info }: AdministeredLibrary, folder: LibraryPath): Promise<LibraryPath[]> {
    const place = inOrigin(info, folder)
    const linked = await listLinkedPaths(this.#db, info.key, this.#now(), MAX_LINKS_FOR_SIGNS)
    const here = linked.filter((path) => parentOf(path) === place)
    return [...new Set(here.flatMap((path) => asSeen(info, path) ?? []))]
  }

  /**
   * For the creator of the link and the owner of its library. Throws link-not-found, also for anybody else.
   */
  async get(user: Account, token: string, kind: LinkKind): Promise<Link> {
    const link = await this.#find(token, kind)
    const [own] = link.accountKey === user.key ? await this.#readable(user, [link]) : []
    if (own !== undefined) return own
    const library = await libraryRows.findByKey(this.#db, link.libraryKey)
    const owned = library?.ownerKey === user.key ? seenIn(library, link) : undefined
    return owned ?? fail({ code: 'link-not-found', token })
  }

  /**
   * A link in a library, or in the folder of a sub-library, with its path as seen there. Throws
   * link-not-found.
   */
  async getIn({ info }: AdministeredLibrary, token: string, kind: LinkKind): Promise<Link> {
    return seenIn(info, await this.#find(token, kind)) ?? fail({ code: 'link-not-found', token })
  }

  /** A page of all links, newest first, and the total. Throws permission-denied except for administrators. */
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

  /** Any link, for administrators. Throws link-not-found, permission-denied. */
  async getAny(user: Account, token: string, kind: LinkKind): Promise<Link> {
    checkAdministrator(user)
    return this.#find(token, kind)
  }

  /** Deletes any link, for administrators. Idempotent. Throws permission-denied. */
  async deleteAny(user: Account, token: string, kind: LinkKind, by: AuditActor | undefined): Promise<void> {
    checkAdministrator(user)
    await this.#db.write(async (tx) => {
      const link = isLinkToken(token) ? await findLink(tx, token) : undefined
      if (link?.kind !== kind) return
      await deleteLink(tx, link.key)
      await this.#audit.record(tx, by, linkDeleted(link))
    })
  }

  /**
   * Audited if something differs. Throws link-not-found; permission-denied except for the creator, and for rights the
   * creator does not have.
   */
  async update(
    user: Account,
    token: string,
    kind: LinkKind,
    changes: LinkChanges,
    by: AuditActor | undefined,
  ): Promise<Link> {
    const link = await this.#find(token, kind)
    if (link.accountKey !== user.key) fail({ code: 'permission-denied' })
    if ((await this.#readable(user, [link])).length === 0) fail({ code: 'link-not-found', token })
    if (changes.rights !== undefined) {
      const library = await this.#access.reopen(user, link)
      if (library) refuseRights(library, { ...link, rights: changes.rights })
    }
    const { expiresAt, request, password: _, ...rest } = changes
    const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
    const changed: Link = {
      ...link,
      ...given,
      expiresAt: expiresAt === undefined ? link.expiresAt : (expiresAt ?? undefined),
      request: request === undefined ? link.request : (request ?? undefined),
      password: this.#changedPassword(link, changes),
    }
    await this.#db.write(async (tx) => {
      await updateLink(tx, changed)
      await deleteTicketsOfLink(tx, link.key)
      if (!isSameLink(link, changed)) await this.#audit.record(tx, by, linkChanged(changed))
    })
    return changed
  }

  /** Whatever is new about the password ends the cookies of visitors, which are signed over the ciphertext. */
  #changedPassword(link: Link, { password, active }: LinkChanges): Uint8Array | undefined {
    if (password === null) return undefined
    if (password !== undefined) return this.#secrets.seal(link.token, password)
    return active === false ? this.#resealed(link) : link.password
  }

  /**
   * Encrypts the same password again. Cookies are signed over the ciphertext, so visitors must enter the
   * password again.
   */
  #resealed(link: Link): Uint8Array | undefined {
    return this.#secrets.reseal(link) ?? link.password
  }

  /** Whether the user created the link. */
  async findOwn(user: Account, token: string, kind: LinkKind): Promise<'own' | 'foreign' | 'unknown'> {
    const link = isLinkToken(token) ? await findLink(this.#db, token) : undefined
    if (link?.kind !== kind) return 'unknown'
    return link.accountKey === user.key ? 'own' : 'foreign'
  }

  /** Idempotent: an unknown link is no error. Throws permission-denied for a link of another account. */
  async delete(user: Account, token: string, kind: LinkKind, by: AuditActor | undefined): Promise<void> {
    const link = isLinkToken(token) ? await findLink(this.#db, token) : undefined
    if (link?.kind !== kind) return
    if (link.accountKey !== user.key) fail({ code: 'permission-denied' })
    await this.#deleteAll([link], by)
  }

  /** Throws link-not-found. */
  async deleteIn(
    library: AdministeredLibrary,
    token: string,
    kind: LinkKind,
    by: AuditActor | undefined,
  ): Promise<void> {
    await this.#deleteAll([await this.getIn(library, token, kind)], by)
  }

  /** Deletes an account's links whose item is gone. */
  async cleanInvalid(user: Account, kind: LinkKind, by: AuditActor | undefined): Promise<void> {
    const links = await listLinks(this.#db, { kind, accountKey: user.key })
    await this.#deleteAll(
      links.filter((link) => link.isGone),
      by,
    )
  }

  /**
   * Omits links to items the creator may no longer read. A link follows its item, so it would reveal the new
   * name or path.
   */
  async #readable(user: Account, links: readonly Link[]): Promise<Link[]> {
    const ids = [...new Set(links.map(({ libraryId }) => libraryId))]
    const libraries = await this.#access.openAll(user, ids)
    return links.filter(({ libraryId }) => libraries.has(libraryId))
  }

  async #deleteAll(links: readonly Link[], by: AuditActor | undefined): Promise<void> {
    await this.#db.write(async (tx) => {
      for (const link of links) {
        await deleteLink(tx, link.key)
        await this.#audit.record(tx, by, linkDeleted(link))
      }
    })
  }

  /** The password of a link, for its creator; empty if it has none. */
  passwordOf(link: Link): string {
    return this.#secrets.open(link) ?? ''
  }

  /**
   * Opens a link for a visitor. Throws link-not-found for an unknown, disabled or dead link; link-expired;
   * link-not-for-you; link-password-needed; too-many-tries.
   */
  async open(token: string, shown: VisitorCredentials, kind?: LinkKind): Promise<OpenLink> {
    const link = await this.#find(token, kind)
    if (!link.active || link.isGone) fail({ code: 'link-not-found', token })
    if (isExpired(link, this.#now())) fail({ code: 'link-expired', kind: link.kind })
    const library = await this.#openLibrary(link)
    const visitor = link.scope === 'all_users' ? undefined : await this.#refuseStranger(link, shown)
    const opened = link.password === undefined ? link : await this.#checkPassword(link, shown)
    return new OpenLink(opened, library, this.#now(), visitor?.apiTokenKey)
  }

  /** A link of an account with the name of its item, if it leads somewhere now; undefined otherwise. */
  async findUsable(
    user: Account,
    token: string,
    kind: LinkKind,
  ): Promise<{ link: Link; name: string } | undefined> {
    try {
      const link = await this.get(user, token, kind)
      if (!link.active || link.isGone || isExpired(link, this.#now())) return undefined
      return { link, name: new OpenLink(link, await this.#openLibrary(link), this.#now()).name }
    } catch (error) {
      if (error instanceof DomainError) return undefined
      throw error
    }
  }

  /** The cookie that replaces the password of an opened link from now on. */
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
    const link = isLinkToken(token) ? await findLink(this.#db, token) : undefined
    if (link === undefined || (kind !== undefined && link.kind !== kind)) {
      return fail({ code: 'link-not-found', token })
    }
    return link
  }

  /** Undefined if the library has changed since it was opened. */
  async #insert(
    user: Account,
    library: Library,
    options: LinkOptions,
    { isDir, several, by }: { isDir: boolean; several: boolean; by: AuditActor | undefined },
  ) {
    const { kind, path } = options
    const token = randomBytes(TOKEN_BYTES).toString('hex')
    const now = this.#now()
    const created = await this.#db.write(async (tx) => {
      // While the head is locked, the folder of a sub-library cannot move either.
      if (!(await libraryHeads.hold(tx, library.info.key, originOf(library.info).head))) return undefined
      const { libraryKey, subKey } = keysOf(library)
      const place = inOrigin(library.info, path)
      const where = { kind, accountKey: user.key, libraryKey, subKey: subKey ?? 0, place }
      const there = several ? [] : await listLinks(tx, where)
      // A link created with a token ends with it, so it is never reused for one without, or vice versa.
      const sameOrigin = there.filter((link) => link.scopedTokenKey === user.scope?.tokenKey)
      const usable = sameOrigin.find((link) => isUsable(link, now))
      if (usable !== undefined && kind === 'share') fail({ code: 'link-exists', token: usable.token })
      if (usable !== undefined) return usable.token
      if ((await countLinks(tx, library.info.key)) >= MAX_PER_LIBRARY)
        fail({ code: 'limit-reached', what: 'links', limit: MAX_PER_LIBRARY })
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
        request: kind === 'upload' ? options.request : undefined,
        scopedTokenKey: user.scope?.tokenKey,
        createdAt: now,
      })
      await this.#audit.record(tx, by, linkCreated(library.info, options))
      return token
    })
    return created === undefined ? undefined : this.#find(created)
  }

  /**
   * With the current permission of its creator. Throws link-not-found if the creator may no longer read the
   * item.
   */
  async #openLibrary(link: Link): Promise<Library> {
    const notFound = { code: 'link-not-found', token: link.token } as const
    try {
      const library = await this.#openAsCreator(link)
      if (library === undefined || library.info.encryption !== undefined) return fail(notFound)
      const isDir = await kindOf(library, link.path)
      return isDir === link.isDir ? library : fail(notFound)
    } catch (error) {
      const code = error instanceof DomainError ? error.fault.code : undefined
      if (code === 'permission-denied' || code === 'path-not-found') fail(notFound)
      throw error
    }
  }

  /**
   * Undefined if its creator, or the token it was created with, may no longer create such a link. Throws
   * permission-denied.
   */
  async #openAsCreator(link: Link): Promise<Library | undefined> {
    const { accountKey, scopedTokenKey, kind, libraryKey, subKey } = link
    const origin = { accountKey, scopedTokenKey, epoch: undefined, apiTokenKey: undefined }
    const creator = await this.#origins.findActor(origin)
    return creator && mayCreate(creator, kind)
      ? this.#access.reopen(creator, { libraryKey, subKey })
      : undefined
  }

  /** Throws link-not-for-you unless the visitor is one of the named people. */
  async #refuseStranger(link: Link, { apiToken }: VisitorCredentials): Promise<Account> {
    const user = apiToken === undefined ? undefined : await this.#identify(apiToken)
    const known = user !== undefined && (user.key === link.accountKey || link.emails.includes(user.email))
    return known ? user : fail({ code: 'link-not-for-you' })
  }

  /** Resolves to the link, whose stored password this may replace. */
  async #checkPassword(
    link: Link,
    { cookie, password, address, network = address }: VisitorCredentials,
  ): Promise<Link> {
    if (cookie !== undefined && this.#secrets.isGrant(link, cookie)) return link
    if (password === undefined) fail({ code: 'link-password-needed', wrong: false })
    const attempt = { kind: 'link', subject: link.token, source: network, address } as const
    const outcome = await this.#guard.try(attempt, async () => ({
      isRight: await this.#secrets.isPassword(link, password),
    }))
    if (typeof outcome === 'object') fail({ code: 'too-many-tries', seconds: outcome.retryAfterSeconds })
    if (outcome === 'wrong') fail({ code: 'link-password-needed', wrong: true })
    return this.#secrets.isHashed(link) ? this.#withPassword(link, password) : link
  }

  /** Stores the password of a link of which only the hash is known, so that its creator can read it again. */
  async #withPassword(link: Link, password: string): Promise<Link> {
    const sealed = this.#secrets.seal(link.token, password)
    await writeIfSpace(this.#db, (tx) => replaceLinkPassword(tx, link, sealed))
    // Read again: a concurrent request may have stored another hash first, and a grant is bound to the stored one.
    return this.#find(link.token)
  }
}

function mayCreate({ role }: Account, kind: LinkKind): boolean {
  return roleAllows(role, kind === 'share' ? 'make-share-link' : 'make-upload-link')
}

function keysOf({ info }: Library) {
  return { libraryKey: info.key, subKey: info.sub?.key }
}

/** A link with its path as seen in a library or sub-library; undefined if it is outside. */
function seenIn(library: LibraryInfo, link: Link): Link | undefined {
  const path = link.libraryKey === library.key ? asSeen(library, link.place) : undefined
  return path && { ...link, path, libraryId: library.id, libraryName: library.name }
}

/** Whether the item is a folder. Throws path-not-found. */
async function kindOf(library: Library, path: LibraryPath): Promise<boolean> {
  if (path === ROOT) return true
  const entry = await library.tree.find(path)
  return (entry ?? fail({ code: 'path-not-found', path, wanted: 'Item' })).kind === 'dir'
}

/** Throws permission-denied for rights that the creator does not have. */
function refuseRights(
  library: Library,
  options: { kind: LinkKind; path: LibraryPath; rights?: LinkRights },
): void {
  const { kind, path, rights } = options
  const writes = kind === 'upload' || rights?.canUpload === true || rights?.canEdit === true
  const isAllowed = !writes || library.permissionAt(path) === 'rw'
  // Whoever got one file can share nothing of the library with others.
  if (!isAllowed || library.info.encryption !== undefined || library.info.sub?.isFile)
    fail({ code: 'permission-denied' })
}

/** Tokens of earlier versions were shorter. */
export function isLinkToken(text: string): boolean {
  return /^[a-f0-9]{8,64}$/.test(text)
}

/** Whether two states of a link have the same options. The password cannot be changed. */
function isSameLink(before: Link, after: Link): boolean {
  const optionsOf = ({ password, expiresAt, rights, scope, emails, description, request, active }: Link) => ({
    password: password && Buffer.from(password),
    expiresAt,
    rights,
    scope,
    emails,
    description,
    request,
    active,
  })
  return isDeepStrictEqual(optionsOf(before), optionsOf(after))
}
