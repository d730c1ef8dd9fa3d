import { httpDate, mediaTypeOf } from '../http/index.ts'
import { displayName } from '../identity/index.ts'
import type { FileLock } from '../library/index.ts'
import type { LibraryPath } from '../objects/index.ts'
import { type Address, hrefOf } from './address.ts'
import { covers } from './preconditions.ts'
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
  /** Used and available bytes, of a folder in a library. */
  readonly quota: { readonly used: number; readonly available: number | undefined } | undefined
}

/** What all items of a response have in common. */
export interface PropertyContext {
  /** Of one of the items. */
  readonly address: Address
  /** The locks of the library; undefined for the past and the root, where nothing can be locked. */
  readonly locks: readonly ShownLock[] | undefined
}

/** A lock as clients see it. */
export interface ShownLock {
  readonly lock: FileLock
  /** The name of who has a lock of the web app; '' for a lock of WebDAV, whose clients describe themselves. */
  readonly holder: string
  /** Seconds until it expires; undefined for never. */
  readonly secondsLeft: number | undefined
}

/** The content of a property; undefined if the item does not have it. */
export type LiveProperty = (item: DescribedItem, context: PropertyContext) => string | undefined

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
  lockdiscovery: ({ path }, { locks, address }) =>
    locks === undefined ? undefined : locks.length === 0 ? '' : lockDiscovery(locks, { ...address, path }),
  'quota-used-bytes': ({ quota }) => (quota === undefined ? undefined : String(quota.used)),
  'quota-available-bytes': ({ quota }) =>
    quota?.available === undefined ? undefined : String(Math.max(0, Math.floor(quota.available))),
}

/** Those that `allprop` returns. RFC 4331, 2: quotas are not, because they may be expensive. */
export const usualProperties: readonly string[] = Object.keys(liveProperties).filter(
  (name) => !name.startsWith('quota-'),
)

function isoTime(seconds: number | undefined): string | undefined {
  return seconds === undefined ? undefined : new Date(seconds * 1000).toISOString().replace('.000', '')
}

/** Locks with the names of their holders. Read once for all items of a response. */
export async function shownLocks(
  { accounts, now }: WebdavServices,
  locks: Iterable<FileLock>,
): Promise<ShownLock[]> {
  const names = new Map<number, string>()
  const shown: ShownLock[] = []
  for (const lock of locks) {
    const { accountKey, expiresAt, webdav } = lock
    if (webdav === undefined && !names.has(accountKey)) {
      const account = await accounts.findByKey(accountKey)
      names.set(accountKey, account ? displayName(account) : '')
    }
    const holder = webdav === undefined ? (names.get(accountKey) ?? '') : ''
    const secondsLeft = expiresAt === null ? undefined : Math.max(0, expiresAt - now())
    shown.push({ lock, holder, secondsLeft })
  }
  return shown
}

/** The locks that cover an item, as elements of `lockdiscovery`. A lock of the web app has no token. */
export function lockDiscovery(locks: readonly ShownLock[], address: Address): string {
  let xml = ''
  for (const shown of locks) if (covers(shown.lock, address.path)) xml += activeLocks(shown, address)
  return xml
}

function activeLocks({ lock, holder, secondsLeft }: ShownLock, address: Address): string {
  const { webdav } = lock
  const timeout = secondsLeft === undefined ? 'Infinite' : `Second-${secondsLeft}`
  const root = `<d:lockroot><d:href>${hrefOf({ ...address, path: lock.path }, false)}</d:href></d:lockroot>`
  const element = (owner: string, token: string) =>
    `<d:activelock><d:locktype><d:write/></d:locktype><d:lockscope><d:${webdav?.scope ?? 'exclusive'}/></d:lockscope>` +
    `<d:depth>${webdav?.isDeep ? 'infinity' : '0'}</d:depth>${owner}<d:timeout>${timeout}</d:timeout>${token}${root}</d:activelock>`
  if (webdav === undefined) return element(`<d:owner>${escapeText(holder)}</d:owner>`, '')
  return webdav.holders
    .map(({ owner, token }) =>
      element(owner, `<d:locktoken><d:href>${escapeText(token)}</d:href></d:locktoken>`),
    )
    .join('')
}
