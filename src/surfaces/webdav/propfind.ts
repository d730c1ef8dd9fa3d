import type { Dirent, FileId } from '../../base/objects/index.ts'
import { joinPath, type LibraryPath, ROOT } from '../../base/paths/index.ts'
import { TimeSlicer, TwoGenerationCache } from '../../base/scheduling/index.ts'
import {
  checksumsOf,
  type DeadProperty,
  type PropertySizes,
  propertiesOf,
  propertiesOfAll,
  propertySizesIn,
} from '../../libraries/attributes/index.ts'
import { fileLocks, type Library } from '../../libraries/library/index.ts'
import type { Account } from '../../people/accounts/index.ts'
import { type HttpRequest, type RequestBody, readBody } from '../../platform/http/index.ts'
import { type Chunks, type HttpResponse, rawResponse } from '../../platform/responses/index.ts'
import { type Guest, guestOf } from '../../sharing/quotas/index.ts'
import { type Address, addressOf, encodeName, hrefOf } from './address.ts'
import { storedCreationTime } from './item-times.ts'
import { type DescribedItem, ShownLocks } from './live-properties.ts'
import { type Listed, PropertyQuery } from './property-query.ts'
import { existing, findAsOf, findResource, type LibraryResource, refuseClosed } from './resource.ts'
import { davError } from './responses.ts'
import type { WebdavServices } from './services.ts'
import { MULTISTATUS_END } from './xml-writer.ts'

const MAX_BODY = 16 * 1024
/** Characters that are sent together. */
const PIECE = 64 * 1024
/** Entries whose dead properties are read together. */
const BATCH = 200
/** Bytes of dead properties that are read together. */
const DEAD_BYTES = 256 * 1024
/** Entries that are described without giving way to other requests. */
const STEP = 20
const XML_HEADERS = { 'Content-Type': 'application/xml; charset=utf-8' }
const NONE: readonly DeadProperty[] = []

/** Bytes of all cached documents. */
const CACHE_BYTES = 8 * 2 ** 20
/** Estimated size of a cached document besides its bytes: most of it is the key. */
const OVERHEAD_BYTES = 1000
/**
 * Listings of folders that fit in one piece, because clients list the same folders again and again. Dirs are immutable and the dir id is in the
 * key, so they stay valid. The rights of the caller are checked before, for each request.
 */
const cache = new TwoGenerationCache<string, Buffer>(CACHE_BYTES, ({ length }) => length + OVERHEAD_BYTES)

/** Evicts all cached listings, to return memory while the server is idle. */
export function clearPropfindCache(): void {
  cache.clear()
}

/** PROPFIND: the properties of an item, and with `Depth: 1` those of the items in a folder. A long response is streamed. */
export async function findProperties(
  services: WebdavServices,
  user: Account,
  request: HttpRequest,
  body: RequestBody,
): Promise<HttpResponse> {
  const depth = readDepth(request)
  const bytes = readBody(body, MAX_BODY, request.bodyClaim)
  const query = PropertyQuery.parse(bytes instanceof Promise ? await bytes : bytes)
  const resource = await findResource(services, user, addressOf(request))
  const { own, below, dirKey } =
    resource.kind === 'root'
      ? await rootListing(services, user, resource.address, depth, query)
      : await libraryListing(services, existing(resource), depth, query)
  const start = query.start + query.responseXml(own)
  // `start` has the URL that those of the entries begin with.
  const key =
    dirKey === undefined || query.cacheKey === undefined ? undefined : `${dirKey} ${query.cacheKey}\n${start}`
  const cached = key === undefined ? undefined : cache.get(key)
  if (cached !== undefined) return multistatus(cached)
  const pieces = joined(start, below(), query)
  // The first piece is made now, so that a fault is answered and not sent as a broken document.
  const first = await pieces.next()
  const text = first.value ?? ''
  if (!text.endsWith(MULTISTATUS_END)) return multistatus(streamed(text, pieces))
  // Most folders fit in one piece. Sending it as a stream would take longer than making it.
  if (key === undefined) return multistatus(text)
  const document = Buffer.from(text)
  cache.set(key, document)
  return multistatus(document)
}

function multistatus(body: string | Buffer | Chunks): HttpResponse {
  return rawResponse({ status: 207, headers: XML_HEADERS, body })
}

function streamed(first: string, rest: AsyncGenerator<string, void>): Chunks {
  let piece: string | undefined = first
  return {
    async next() {
      const step = piece === undefined ? await rest.next() : { done: false, value: piece }
      piece = undefined
      return step.value === undefined
        ? { done: true, value: undefined }
        : { done: false, value: Buffer.from(step.value) }
    },
    async return() {
      await rest.return()
    },
  }
}

/** What a response describes. */
interface Listing {
  /** The item of the request. */
  readonly own: Listed
  /** The items in it, in batches. */
  readonly below: () => AsyncGenerator<readonly Listed[]>
  /** Identifies the dir that is listed, for the cache; undefined for none. */
  readonly dirKey: string | undefined
}

async function rootListing(
  services: WebdavServices,
  user: Account,
  address: Address,
  depth: 0 | 1,
  query: PropertyQuery,
): Promise<Listing> {
  const context = { locks: undefined }
  const base = { path: ROOT, isFolder: true, size: 0, createdAt: undefined, checksums: undefined }
  const free = query.needsQuota ? await services.server.storeRoom() : undefined
  const used = free === undefined ? 0 : await services.quotas.usageOf(user)
  const quota = await quotaOf(services, free, { ownerKey: user.key }, used)
  const unknown = { mtime: undefined, id: undefined }
  const own = { ...base, href: hrefOf(address, true), name: address.snapshot ?? '', ...unknown, quota }
  return {
    own: { item: own, context, dead: NONE },
    async *below() {
      if (depth === 0) return
      const named = await services.libraryNames.list(user)
      const opened = await services.access.openAll(
        user,
        named.map(({ libraryId }) => libraryId),
      )
      const listed: Listed[] = []
      for (const { name, libraryId } of named) {
        const library = opened.get(libraryId)
        if (library === undefined) continue
        const at = { ...address, library: name, path: ROOT }
        const shown = address.snapshot === undefined ? library : await findAsOf(library, address)
        if (shown === undefined) continue
        const { mtime, id } = rootEntry(shown, at)
        const itsQuota = await quotaOf(services, free, library.info, library.info.size, guestOf(library))
        const item = { ...base, href: hrefOf(at, true), name, mtime, id, quota: itsQuota }
        listed.push({ item, context, dead: NONE })
      }
      yield listed
    },
    dirKey: undefined,
  }
}

async function libraryListing(
  services: WebdavServices,
  resource: LibraryResource & { readonly kind: 'file' | 'folder' },
  depth: 0 | 1,
  query: PropertyQuery,
): Promise<Listing> {
  const { address, library, path, kind, entry } = resource
  const { core } = services
  const isPast = address.snapshot !== undefined
  const listing = depth === 1 && kind === 'folder'
  if (listing) await refuseClosed(services, library)
  const stored = isPast || !query.needsLocks ? [] : await fileLocks.list(core, library.info)
  const locks = isPast ? undefined : await ShownLocks.of(services, address, stored)
  const readsDead = !isPast && query.needsDead
  const dead = readsDead ? await propertiesOf(core, library, path) : NONE
  const deadBelow = readsDead && listing ? await propertySizesIn(core, library, path) : undefined
  const { info } = library
  const free = query.needsQuota && kind === 'folder' ? await services.server.storeRoom() : undefined
  const quota = await quotaOf(services, free, info, info.size, guestOf(library))
  const context = { locks }
  const folder = listing ? await library.tree.getDir(path) : undefined
  const href = hrefOf(address, kind === 'folder')
  const readsChecksums = query.needsChecksums
  const checksums =
    readsChecksums && entry?.kind === 'file' ? await checksumsOf(core, library, [entry.id]) : undefined
  const described = { dead, checksums: entry && checksums?.get(entry.id as FileId), quota }
  const own = describe(entry ?? rootEntry(library, address), path, href, described)
  return {
    own: { item: own, context, dead },
    async *below() {
      for await (const batch of withProperties(
        services,
        library,
        path,
        folder?.dir.entries ?? [],
        deadBelow,
      )) {
        const ids = readsChecksums
          ? batch.flatMap(({ entry: { kind, id } }) => (kind === 'file' ? id : []))
          : []
        const known = ids.length === 0 ? undefined : await checksumsOf(core, library, ids)
        yield batch.map(({ entry: one, at, dead: deadHere }) => {
          const url = `${href}${encodeName(one.name)}${one.kind === 'dir' ? '/' : ''}`
          const parts = { dead: deadHere, checksums: known?.get(one.id as FileId), quota }
          return { item: describe(one, at, url, parts), context, dead: deadHere }
        })
      }
    },
    dirKey: folder && `${library.info.key} ${folder.dir.id}`,
  }
}

/** An entry of a folder with its path and its dead properties. */
interface EntryWithProperties {
  readonly entry: Dirent
  readonly at: LibraryPath
  dead: readonly DeadProperty[]
}

/** The entries of a folder in batches of bounded memory. */
async function* withProperties(
  { core }: WebdavServices,
  library: Library,
  folder: LibraryPath,
  entries: readonly Dirent[],
  sizes: PropertySizes | undefined,
): AsyncGenerator<readonly EntryWithProperties[], void> {
  let batch: EntryWithProperties[] = []
  let owners: EntryWithProperties[] = []
  let bytes = 0
  const complete = async () => {
    if (owners.length > 0) {
      const dead = await propertiesOfAll(
        core,
        library,
        owners.map(({ at }) => at),
      )
      for (const one of owners) one.dead = dead.get(one.at) ?? NONE
    }
    const completed = batch
    batch = []
    owners = []
    bytes = 0
    return completed
  }
  for (const entry of entries) {
    const one = { entry, at: joinPath(folder, entry.name), dead: NONE }
    const size = sizes?.(one.at) ?? 0
    if (bytes + size > DEAD_BYTES) yield await complete()
    batch.push(one)
    if (size > 0) owners.push(one)
    bytes += size
    if (batch.length >= BATCH) yield await complete()
  }
  yield await complete()
}

type Described = Pick<Dirent, 'kind' | 'name' | 'size' | 'id'> & Pick<DescribedItem, 'mtime'>

/** The root of a library. Its time is that of the newest commit, which a state of the past does not have. */
function rootEntry(library: Library, { library: name = '', snapshot }: Address): Described {
  const mtime = snapshot === undefined ? library.info.updatedAt : undefined
  return { kind: 'dir', name, mtime, size: 0, id: library.tree.root }
}

function describe(
  { kind, name, mtime, size, id }: Described,
  path: LibraryPath,
  href: string,
  parts: Pick<DescribedItem, 'checksums' | 'quota'> & { readonly dead: readonly DeadProperty[] },
): DescribedItem {
  const isFolder = kind === 'dir'
  const { dead } = parts
  const quota = isFolder ? parts.quota : undefined
  // The empty dir has the id of the empty file.
  const checksums = isFolder ? undefined : parts.checksums
  const createdAt = dead.length === 0 ? undefined : storedCreationTime(dead)
  return { path, href, isFolder, name, mtime, createdAt, size, id, checksums, quota }
}

/** Used and available bytes; undefined unless the free ones of the store were asked for. RFC 4331, 3 recommends them where there is no quota. */
async function quotaOf(
  { quotas }: WebdavServices,
  free: number | undefined,
  owner: Pick<Library['info'], 'ownerKey'>,
  used: number,
  guest?: Guest,
): Promise<DescribedItem['quota']> {
  if (free === undefined) return undefined
  const room = await quotas.roomLeft(owner, guest)
  return { used, available: Math.min(room?.left ?? free, free) }
}

/** The document in pieces of about 64 KiB. */
async function* joined(
  start: string,
  below: AsyncGenerator<readonly Listed[]>,
  query: PropertyQuery,
): AsyncGenerator<string, void> {
  const slicer = new TimeSlicer()
  let piece = start
  for await (const batch of below) {
    for (const [index, listed] of batch.entries()) {
      piece += query.responseXml(listed)
      if (index % STEP === 0 && slicer.isDue) await slicer.rest()
      if (piece.length < PIECE) continue
      yield piece
      piece = ''
    }
  }
  yield piece + MULTISTATUS_END
}

/** No header stands for 1, although RFC 4918, 9.1 says infinity: a client without one wants a listing, not a refusal. */
function readDepth(request: HttpRequest): 0 | 1 {
  const depth = request.header('depth')?.trim().toLowerCase() ?? '1'
  if (depth === 'infinity') {
    throw davError(403, 'Folders are listed one at a time.', { condition: 'propfind-finite-depth' })
  }
  if (depth !== '0' && depth !== '1') throw davError(400, 'The Depth header is not valid.')
  return depth === '0' ? 0 : 1
}
