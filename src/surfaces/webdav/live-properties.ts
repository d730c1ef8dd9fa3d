import { isWithin, type LibraryPath, parentOf, ROOT } from '../../base/paths/index.ts'
import type { FileChecksums } from '../../libraries/attributes/index.ts'
import { type FileLock, lockTokens } from '../../libraries/library/index.ts'
import { displayName } from '../../people/accounts/index.ts'
import { httpDate } from '../../platform/http/index.ts'
import { mediaTypeOf } from '../../platform/representations/index.ts'
import { type Address, hrefOf } from './address.ts'
import type { WebdavServices } from './services.ts'
import { escapeText } from './xml-writer.ts'

/** An item as live properties describe it. */
export interface DescribedItem {
  /** The path in its library. */
  readonly path: LibraryPath
  /** Its escaped URL path. */
  readonly href: string
  readonly isFolder: boolean
  readonly name: string
  /** Unix seconds; undefined for the root, which has no time. */
  readonly mtime: number | undefined
  /** Unix seconds, if a client stored it. */
  readonly createdAt: number | undefined
  /** Bytes of a file. */
  readonly size: number
  /** The id of the file or dir; undefined for the root. */
  readonly id: string | undefined
  /** Known checksums of a file, if they were asked for. */
  readonly checksums: FileChecksums | undefined
  /** Used and available bytes, of a folder. */
  readonly quota: { readonly used: number; readonly available: number } | undefined
}

/** What all items of a response have in common. */
export interface PropertyContext {
  /** The locks of the library; undefined for the past and the root, where nothing can be locked. */
  readonly locks: ShownLocks | undefined
}

/** The content of a property; undefined if the item does not have it. */
export type LiveProperty = (item: DescribedItem, context: PropertyContext) => string | undefined

/** Characters of the element by which a client describes itself as the holder of a lock. A longer one is omitted. */
export const MAX_OWNER = 512

const SUPPORTED_LOCK = ['exclusive', 'shared']
  .map(
    (scope) =>
      `<d:lockentry><d:lockscope><d:${scope}/></d:lockscope><d:locktype><d:write/></d:locktype></d:lockentry>`,
  )
  .join('')

/** The properties of the DAV: namespace that the server computes. Clients cannot set them, except `creationdate`. */
export const liveProperties: Readonly<Record<string, LiveProperty>> = {
  resourcetype: ({ isFolder }) => (isFolder ? '<d:collection/>' : ''),
  displayname: ({ name }) => escapeText(name),
  // Creation times are not kept. Until a client sets one, an item is as old as its last change.
  creationdate: ({ createdAt, mtime }) => isoTime(createdAt ?? mtime),
  getlastmodified: ({ mtime }) => (mtime === undefined ? undefined : httpDate(mtime)),
  getetag: ({ id }) => (id === undefined ? undefined : `"${id}"`),
  getcontentlength: ({ isFolder, size }) => (isFolder ? undefined : String(size)),
  getcontenttype: ({ isFolder, name }) => (isFolder ? undefined : escapeText(mediaTypeOf(name))),
  supportedlock: (_, { locks }) => (locks === undefined ? undefined : SUPPORTED_LOCK),
  lockdiscovery: ({ path }, { locks }) => locks?.xmlAt(path),
  'quota-used-bytes': ({ quota }) => (quota === undefined ? undefined : String(quota.used)),
  'quota-available-bytes': ({ quota }) =>
    quota === undefined ? undefined : String(Math.max(0, Math.floor(quota.available))),
}

/** Those that `allprop` returns. RFC 4331, 2: quotas are not, because they may be expensive. */
export const usualProperties: readonly string[] = Object.keys(liveProperties).filter(
  (name) => !name.startsWith('quota-'),
)

function isoTime(seconds: number | undefined): string | undefined {
  return seconds === undefined ? undefined : new Date(seconds * 1000).toISOString().replace('.000', '')
}

/** The locks of a library as clients see them. Most items of a listing have the same ones, so each is described once. */
export class ShownLocks {
  readonly #address: Address
  readonly #now: number
  readonly #byPath: ReadonlyMap<string, FileLock>
  /** Those of folders with all their content. */
  readonly #deep: readonly FileLock[]
  /** Names of accounts that hold locks of the web app. */
  readonly #names: ReadonlyMap<number, string>
  #folder: LibraryPath | undefined
  #above = ''

  /** Address is that of an item in the library. */
  constructor(address: Address, now: number, locks: readonly FileLock[], names: ReadonlyMap<number, string>) {
    this.#address = address
    this.#now = now
    this.#byPath = new Map(locks.map((lock) => [lock.path, lock]))
    this.#deep = locks.filter(({ webdav }) => webdav?.isDeep === true)
    this.#names = names
  }

  /** Reads the names of the holders. */
  static async of(
    { accounts, now }: WebdavServices,
    address: Address,
    locks: readonly FileLock[],
  ): Promise<ShownLocks> {
    const names = new Map<number, string>()
    for (const { accountKey, webdav } of locks) {
      if (webdav !== undefined || names.has(accountKey)) continue
      const account = await accounts.findByKey(accountKey)
      names.set(accountKey, account ? displayName(account) : '')
    }
    return new ShownLocks(address, now(), locks, names)
  }

  /** The locks that cover an item, as elements of `lockdiscovery`. */
  xmlAt(path: LibraryPath): string {
    if (this.#byPath.size === 0) return ''
    const own = this.#byPath.get(path)
    return this.#xmlAbove(path) + (own === undefined ? '' : this.#xmlOf(own))
  }

  #xmlAbove(path: LibraryPath): string {
    if (path === ROOT) return ''
    const folder = parentOf(path)
    if (folder !== this.#folder) {
      this.#folder = folder
      const above = this.#deep.filter((lock) => isWithin(folder, lock.path))
      this.#above = above.map((lock) => this.#xmlOf(lock)).join('')
    }
    return this.#above
  }

  /** A lock of the web app has no token; its holder is named, because no client describes itself. */
  #xmlOf({ path, accountKey, expiresAt, webdav }: FileLock): string {
    const timeout = expiresAt === null ? 'Infinite' : `Second-${Math.max(0, expiresAt - this.#now)}`
    const href = hrefOf({ ...this.#address, path }, false)
    const root = `<d:lockroot><d:href>${href}</d:href></d:lockroot>`
    const element = (owner: string, token: string) =>
      `<d:activelock><d:locktype><d:write/></d:locktype><d:lockscope><d:${webdav?.scope ?? 'exclusive'}/></d:lockscope>` +
      `<d:depth>${webdav?.isDeep ? 'infinity' : '0'}</d:depth>${owner}<d:timeout>${timeout}</d:timeout>${token}${root}</d:activelock>`
    if (webdav === undefined) {
      return element(`<d:owner>${escapeText(this.#names.get(accountKey) ?? '')}</d:owner>`, '')
    }
    return webdav.holders
      .slice(0, lockTokens.maxHolders)
      .map(({ owner, token }) =>
        element(
          owner.length > MAX_OWNER ? '' : owner,
          `<d:locktoken><d:href>${escapeText(token)}</d:href></d:locktoken>`,
        ),
      )
      .join('')
  }
}
