import { guestOf } from '../access/index.ts'
import {
  type Chunks,
  type HttpRequest,
  type HttpResponse,
  type RequestBody,
  rawResponse,
  readBody,
} from '../http/index.ts'
import type { Account } from '../identity/index.ts'
import { type DeadProperty, type Library, locksOf, propertiesIn, propertiesOf } from '../library/index.ts'
import { type Dirent, joinPath, ROOT } from '../objects/index.ts'
import { TimeSlicer } from '../scheduling/index.ts'
import { type Address, addressOf, encodeName, hrefOf } from './address.ts'
import { isCreationTime, isModificationTime, modificationTimeXml, storedCreationTime } from './item-times.ts'
import {
  type DescribedItem,
  liveProperties,
  type PropertyContext,
  usualProperties,
} from './live-properties.ts'
import { existing, findResource, type LibraryResource, refuseClosed } from './resource.ts'
import { davError } from './responses.ts'
import type { WebdavServices } from './services.ts'
import { child, elementsOf, isDav, parseXml } from './xml-reader.ts'
import { escapeText } from './xml-writer.ts'

const MAX_BODY = 64 * 1024
/** Characters that are sent together. */
const PIECE = 64 * 1024
/** Entries that are described without giving way to other requests. */
const BATCH = 200
const HEAD = '<?xml version="1.0" encoding="utf-8"?>\n<d:multistatus xmlns:d="DAV:">'
const TAIL = '</d:multistatus>'

/** The properties a client asks for. */
interface Asked {
  readonly kind: 'prop' | 'allprop' | 'propname'
  readonly names: readonly { readonly namespace: string; readonly name: string }[]
}

/** PROPFIND: the properties of an item, and with `Depth: 1` those of the items in a folder. The response is streamed. */
export async function findProperties(
  services: WebdavServices,
  user: Account,
  request: HttpRequest,
  body: RequestBody,
): Promise<HttpResponse> {
  const depth = readDepth(request)
  const asked = readAsked(await readBody(body, MAX_BODY, request.bodyClaim))
  const resource = await findResource(services, user, addressOf(request))
  const items =
    resource.kind === 'root'
      ? rootItems(services, user, resource.address, depth)
      : await libraryItems(services, existing(resource), depth, asked)
  const pieces = joined(items, asked)
  // The first piece is made now, so that a fault is answered and not sent as a broken document.
  const first = await pieces.next()
  const text = first.value ?? ''
  // Most folders fit in one piece. Sending it as a stream would take longer than making it.
  const document = text.endsWith(TAIL) ? text : streamed(text, pieces)
  const headers = { 'Content-Type': 'application/xml; charset=utf-8' }
  return rawResponse({ status: 207, headers, body: document })
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

/** An item with everything its properties depend on. */
interface Listed {
  readonly item: DescribedItem
  readonly context: PropertyContext
  readonly dead: readonly DeadProperty[]
}

async function* rootItems(
  services: WebdavServices,
  user: Account,
  address: Address,
  depth: 0 | 1,
): AsyncGenerator<readonly Listed[]> {
  const context = { services, locks: undefined }
  const base = { isFolder: true, size: 0, id: undefined }
  const own = { address, href: hrefOf(address, true), name: address.snapshot ?? '', mtime: undefined }
  yield [{ item: { ...base, ...own }, context, dead: [] }]
  if (depth === 0) return
  const named = await services.libraryNames.list(user)
  const opened = await services.access.openAll(
    user,
    named.map(({ id }) => id),
  )
  const listed: Listed[] = []
  for (const { name, id } of named) {
    const library = opened.get(id)
    if (library === undefined) continue
    const at = { ...address, library: name, path: ROOT }
    const { updatedAt: mtime, root } = library.info
    // A state of the past may have another root, or may not exist.
    const state = address.snapshot === undefined ? { mtime, id: root } : { mtime: undefined, id: undefined }
    const item = { ...base, address: at, href: hrefOf(at, true), name, ...state }
    listed.push({ item, context, dead: [] })
  }
  yield listed
}

async function libraryItems(
  services: WebdavServices,
  resource: LibraryResource & { readonly kind: 'file' | 'folder' },
  depth: 0 | 1,
  asked: Asked,
): Promise<AsyncGenerator<readonly Listed[]>> {
  const { address, library, path, kind, entry } = resource
  const { core } = services
  const isPast = address.snapshot !== undefined
  const listing = depth === 1 && kind === 'folder'
  if (listing) await refuseClosed(services, library)
  const locks = isPast ? undefined : [...(await locksOf(core, library.info)).values()]
  const wantsDead = !isPast && (asked.kind !== 'prop' || asked.names.some(dependsOnDead))
  const dead = wantsDead ? await propertiesOf(core, library, path) : []
  const deadBelow = wantsDead && listing ? await propertiesIn(core, library, path) : new Map()
  const quota = wantsQuota(asked) && kind === 'folder' ? await quotaOf(services, library) : undefined
  const context = { services, locks }
  const folder = listing ? await library.tree.getDir(path) : undefined
  const own = entry ?? rootEntry(library, address)
  const href = hrefOf(address, kind === 'folder')
  const slicer = new TimeSlicer()
  return (async function* () {
    const item = { ...describe(own, address, href), createdAt: storedCreationTime(dead), quota }
    yield [{ item, context, dead }]
    let batch: Listed[] = []
    for (const one of folder?.dir.entries ?? []) {
      const at = joinPath(path, one.name)
      const deadHere = deadBelow.get(at) ?? []
      const isFolder = one.kind === 'dir'
      const below = {
        ...describe(one, { ...address, path: at }, `${href}${encodeName(one.name)}${isFolder ? '/' : ''}`),
        createdAt: storedCreationTime(deadHere),
        quota: isFolder ? quota : undefined,
      }
      batch.push({ item: below, context, dead: deadHere })
      if (batch.length < BATCH) continue
      yield batch
      batch = []
      if (slicer.isDue) await slicer.rest()
    }
    yield batch
  })()
}

type Described = Pick<Dirent, 'kind' | 'name' | 'mtime' | 'size' | 'id'>

function rootEntry(library: Library, { library: name = '' }: Address): Described {
  return { kind: 'dir', name, mtime: library.info.updatedAt, size: 0, id: library.tree.root }
}

function describe(entry: Described, address: Address, href: string): DescribedItem {
  const { kind, name, mtime, size, id } = entry
  return { address, href, isFolder: kind === 'dir', name, mtime, size, id }
}

async function quotaOf({ quotas }: WebdavServices, library: Library) {
  const room = await quotas.roomLeft(library.info, guestOf(library))
  return { used: library.info.size, available: room?.left }
}

/** The document in pieces of about 64 KiB. */
async function* joined(items: AsyncGenerator<readonly Listed[]>, asked: Asked): AsyncGenerator<string, void> {
  let piece = HEAD
  for await (const batch of items) {
    for (const listed of batch) {
      const xml = responseXml(listed, asked)
      // Only locks of the web app need a lookup. An await for each of 10,000 entries would take longer than the rest.
      piece += typeof xml === 'string' ? xml : await xml
      if (piece.length < PIECE) continue
      yield piece
      piece = ''
    }
  }
  yield piece + TAIL
}

type Name = Asked['names'][number]
type Later<T> = T | Promise<T>

function responseXml(listed: Listed, asked: Asked): Later<string> {
  const names = namesFor(asked, listed.dead)
  const made = names.map((name) => propertyXml(name, listed, asked.kind === 'propname'))
  const ready = made.filter((one): one is string | undefined => !(one instanceof Promise))
  return ready.length === made.length
    ? assembled(listed, asked, names, ready)
    : assembledLater(listed, asked, names, made)
}

async function assembledLater(
  listed: Listed,
  asked: Asked,
  names: readonly Name[],
  made: readonly Later<string | undefined>[],
): Promise<string> {
  const all = await Promise.all(made.map(async (one) => one))
  return assembled(listed, asked, names, all)
}

function assembled(
  { item: { href } }: Listed,
  { kind }: Asked,
  names: readonly Name[],
  made: readonly (string | undefined)[],
): string {
  let found = ''
  let missing = ''
  for (const [index, { namespace, name }] of names.entries()) {
    const xml = made[index]
    if (xml !== undefined) found += xml
    else if (kind === 'prop') missing += emptyElement(namespace, name)
  }
  const isEmpty = found === '' && missing !== ''
  return `<d:response><d:href>${href}</d:href>${isEmpty ? '' : propstat(found, '200 OK')}${missing === '' ? '' : propstat(missing, '404 Not Found')}</d:response>`
}

/** Undefined if the item does not have the property. */
function propertyXml(
  name: Name,
  { item, context, dead }: Listed,
  isName: boolean,
): Later<string | undefined> {
  return liveXml(name, item, context, isName) ?? timeXml(item, name, isName) ?? deadXml(dead, name, isName)
}

const USUAL: readonly Name[] = usualProperties.map((name) => ({ namespace: 'DAV:', name }))

function namesFor({ kind, names }: Asked, dead: readonly DeadProperty[]): readonly Name[] {
  if (kind === 'prop') return names
  if (dead.length === 0 && names.length === 0) return USUAL
  const stored = dead.filter((one) => !isLive(one)).map(({ namespace, name }) => ({ namespace, name }))
  return [...USUAL, ...stored, ...names]
}

/** The modification time under the name that Windows sets it by. */
function timeXml({ mtime }: DescribedItem, name: Name, isName: boolean): string | undefined {
  if (mtime === undefined || !isModificationTime(name)) return undefined
  return isName ? emptyElement(name.namespace, name.name) : modificationTimeXml(mtime)
}

function liveXml(
  { namespace, name }: Name,
  item: DescribedItem,
  context: PropertyContext,
  isName: boolean,
): Later<string | undefined> {
  const live = namespace === 'DAV:' && Object.hasOwn(liveProperties, name) ? liveProperties[name] : undefined
  const content = live?.(item, context)
  return content instanceof Promise ? elementLater(name, content, isName) : element(name, content, isName)
}

async function elementLater(
  name: string,
  content: Promise<string | undefined>,
  isName: boolean,
): Promise<string | undefined> {
  return element(name, await content, isName)
}

function element(name: string, content: string | undefined, isName: boolean): string | undefined {
  if (content === undefined) return undefined
  return content === '' || isName ? `<d:${name}/>` : `<d:${name}>${content}</d:${name}>`
}

function deadXml(
  dead: readonly DeadProperty[],
  { namespace, name }: Name,
  isName: boolean,
): string | undefined {
  const stored = dead.find((one) => one.namespace === namespace && one.name === name)
  return stored && (isName ? emptyElement(namespace, name) : stored.xml)
}

export function emptyElement(namespace: string, name: string): string {
  return namespace === 'DAV:' ? `<d:${name}/>` : `<${name} xmlns="${escapeText(namespace)}"/>`
}

export function propstat(properties: string, status: string): string {
  return `<d:propstat><d:prop>${properties}</d:prop><d:status>HTTP/1.1 ${status}</d:status></d:propstat>`
}

function dependsOnDead(name: Name): boolean {
  return !isLive(name) || isCreationTime(name)
}

/** Whether the server computes a property. */
export function isLive({ namespace, name }: { namespace: string; name: string }): boolean {
  return namespace === 'DAV:' && Object.hasOwn(liveProperties, name)
}

function wantsQuota({ names }: Asked): boolean {
  return names.some(({ namespace, name }) => namespace === 'DAV:' && name.startsWith('quota-'))
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

/** An empty body asks for all properties. */
function readAsked(bytes: Buffer): Asked {
  if (bytes.length === 0) return { kind: 'allprop', names: [] }
  const root = parseXml(bytes)
  const prop = child(root, 'prop')
  const kind = prop !== undefined ? 'prop' : child(root, 'propname') !== undefined ? 'propname' : 'allprop'
  const isValid = isDav(root, 'propfind') && (kind !== 'allprop' || child(root, 'allprop') !== undefined)
  if (!isValid) throw davError(400, 'The XML of the request does not ask for properties.')
  const listed = prop ?? child(root, 'include')
  const names = listed === undefined ? [] : elementsOf(listed)
  return { kind, names: names.map(({ namespace, name }) => ({ namespace, name })) }
}
