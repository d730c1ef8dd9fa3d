import type { Dirent } from '../../base/objects/index.ts'
import { isWithin, type LibraryPath, parentOf, ROOT } from '../../base/paths/index.ts'
import { type FileLock, fileLocks, type Library, lockTokens } from '../../libraries/library/index.ts'
import type { Account } from '../../people/accounts/index.ts'
import type { HttpRequest } from '../../platform/http/index.ts'
import { judge } from '../../platform/representations/index.ts'
import { type Address, hrefOf, parseUrl } from './address.ts'
import { IfHeader, type ResourceState } from './if-header.ts'
import { findResource, type LibraryResource } from './resource.ts'
import { davError } from './responses.ts'
import type { WebdavServices } from './services.ts'

/** What a request does to a path, and so which locks protect it. */
type Effect =
  /** Changes the content or the properties of one item. */
  | 'changes'
  /** Creates an item: a new member of its folder. */
  | 'creates'
  /** Removes or replaces an item with everything below it. */
  | 'removes'

/** The conditional headers of a request that changes something (RFC 9110, 13.1). Most requests have none of them. */
const CONDITIONAL = ['if-match', 'if-none-match', 'if-unmodified-since']

/** The preconditions of a request that changes something: conditional headers, `If`, and the tokens of locks. */
export class Preconditions {
  readonly #services: WebdavServices
  readonly #request: HttpRequest
  readonly #user: Account
  readonly #ifHeader: IfHeader

  /** Throws a refusal for an invalid header. */
  constructor(services: WebdavServices, request: HttpRequest, user: Account) {
    this.#services = services
    this.#request = request
    this.#user = user
    this.#ifHeader = IfHeader.parse(request.header('if'))
  }

  /** The tokens of locks that the client submits. */
  get tokens(): readonly string[] {
    return this.#ifHeader.tokens
  }

  /** Throws a refusal if a condition does not hold for the resource of the request. */
  async check(resource: LibraryResource): Promise<void> {
    if (!this.accepts(resource.kind === 'missing' ? undefined : (resource.entry ?? 'root'))) throw failed()
    if (this.#ifHeader.isEmpty) return
    const stateOf = async (url: string | undefined) =>
      url === undefined ? this.#stateOf(resource) : this.#stateAt(url)
    if (!(await this.#ifHeader.holds(stateOf))) throw failed()
  }

  /** Whether the conditional headers of HTTP allow a change of an entry; undefined for none, `root` for the root of a library. */
  accepts(entry: Dirent | 'root' | undefined): boolean {
    if (CONDITIONAL.every((name) => this.#request.header(name) === undefined)) return true
    const { headers } = this.#request
    if (entry === undefined) return headers['if-match'] === undefined
    const validators = entry === 'root' ? {} : { etag: entry.id, lastModified: entry.mtime }
    // RFC 9110, 13.1.3: it is for GET and HEAD only.
    return judge({ ...headers, 'if-modified-since': undefined }, validators) === 'proceed'
  }

  /** Throws a refusal if a lock protects one of the paths and its token was not submitted. */
  async refuseLocked(
    { library, address }: Pick<LibraryResource, 'library' | 'address'>,
    effects: readonly (readonly [path: LibraryPath, effect: Effect])[],
  ): Promise<void> {
    const refuses = (lock: FileLock) =>
      !this.#isUnlocked(lock) && effects.some(([path, effect]) => protects(lock, path, effect))
    const [first] = await fileLocks.list(this.#services.core, library.info, refuses)
    if (first !== undefined) throw locked(first, address)
  }

  #isUnlocked(lock: FileLock): boolean {
    if (lock.webdav === undefined) return lock.accountKey === this.#user.key
    return this.tokens.some((token) => lockTokens.isHeld(lock, token, this.#user.key))
  }

  async #stateAt(url: string): Promise<ResourceState> {
    const address = parseUrl(url)
    const nothing = { etag: undefined, tokens: new Set<string>() }
    if (address === undefined) return nothing
    const resource = await findResource(this.#services, this.#user, address)
    return resource.kind === 'root' ? nothing : this.#stateOf(resource)
  }

  async #stateOf({ library, path, entry }: LibraryResource): Promise<ResourceState> {
    const locks = await coveringLocks(this.#services, library, path)
    const tokens = locks.flatMap((lock) => lock.webdav?.holders.map(({ token }) => token) ?? [])
    return { etag: entry?.id, tokens: new Set(tokens) }
  }
}

/** The locks that cover a path: its own, and those of folders above it with all their content. */
async function coveringLocks(
  { core }: WebdavServices,
  library: Library,
  path: LibraryPath,
): Promise<FileLock[]> {
  return fileLocks.list(core, library.info, (lock) => fileLocks.covers(lock, path))
}

function protects(lock: FileLock, path: LibraryPath, effect: Effect): boolean {
  if (fileLocks.covers(lock, path)) return true
  if (effect === 'changes') return false
  // RFC 4918, 7.4: the lock of a folder protects the list of its members.
  const isOfFolder = path !== ROOT && lock.webdav !== undefined && lock.path === parentOf(path)
  return isOfFolder || (effect === 'removes' && isWithin(lock.path, path))
}

function locked(lock: FileLock, address: Address): Error {
  const href = hrefOf({ ...address, path: lock.path }, false)
  return davError(423, `${lock.path} is locked.`, { condition: 'lock-token-submitted', href })
}

function failed(): Error {
  return davError(412, 'A precondition of the request does not hold.')
}
