import { Readable } from 'node:stream'
import { guestOf } from '../access/index.ts'
import {
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
import { type Address, addressOf, hrefOf } from './address.ts'
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
  const all = async function* () {
    if (first.done !== true) yield first.value
    yield* pieces
  }
  return rawResponse({
    status: 207,
    headers: { 'Content-Type': 'application/xml; charset=utf-8' },
    body: Readable.from(all(), { objectMode: false }),
  })
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
): AsyncGenerator<Listed> {
  const context = { services, locks: undefined }
  const base = { isFolder: true, size: 0, id: undefined }
  yield { item: { ...base, address, name: address.snapshot ?? '', mtime: undefined }, context, dead: [] }
  if (depth === 0) return
  const named = await services.libraryNames.list(user)
  const opened = await services.access.openAll(
    user,
    named.map(({ id }) => id),
  )
  for (const { name, id } of named) {
    const library = opened.get(id)
    if (library === undefined) continue
    const at = { ...address, library: name, path: ROOT }
    const { updatedAt: mtime, root } = library.info
    // A state of the past may have another root, or may not exist.
    const own = address.snapshot === undefined ? { mtime, id: root } : { mtime: undefined, id: undefined }
    yield { item: { ...base, address: at, name, ...own }, context, dead: [] }
  }
}

async function libraryItems(
  services: WebdavServices,
  resource: LibraryResource & { readonly kind: 'file' | 'folder' },
  depth: 0 | 1,
  asked: Asked,
): Promise<AsyncGenerator<Listed>> {
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
  const slicer = new TimeSlicer()
  return (async function* () {
    yield { item: { ...describe(own, address), createdAt: storedCreationTime(dead), quota }, context, dead }
    for (const one of folder?.dir.entries ?? []) {
      const at = joinPath(path, one.name)
      const deadHere = deadBelow.get(at) ?? []
      const item = {
        ...describe(one, { ...address, path: at }),
        createdAt: storedCreationTime(deadHere),
        quota: one.kind === 'dir' ? quota : undefined,
      }
      yield { item, context, dead: deadHere }
      if (slicer.isDue) await slicer.rest()
    }
  })()
}

type Described = Pick<Dirent, 'kind' | 'name' | 'mtime' | 'size' | 'id'>

function rootEntry(library: Library, { library: name = '' }: Address): Described {
  return { kind: 'dir', name, mtime: library.info.updatedAt, size: 0, id: library.tree.root }
}

function describe(entry: Described, address: Address): DescribedItem {
  const { kind, name, mtime, size, id } = entry
  return { address, isFolder: kind === 'dir', name, mtime, size, id }
}

async function quotaOf({ quotas }: WebdavServices, library: Library) {
  const room = await quotas.roomLeft(library.info, guestOf(library))
  return { used: library.info.size, available: room?.left }
}

/** The document in pieces of about 64 KiB. */
async function* joined(items: AsyncGenerator<Listed>, asked: Asked): AsyncGenerator<string> {
  let piece = HEAD
  for await (const listed of items) {
    piece += await responseXml(listed, asked)
    if (piece.length < PIECE) continue
    yield piece
    piece = ''
  }
  yield piece + TAIL
}

async function responseXml({ item, context, dead }: Listed, asked: Asked): Promise<string> {
  let found = ''
  let missing = ''
  for (const { namespace, name } of namesFor(asked, dead)) {
    const isName = asked.kind === 'propname'
    const xml = namespace === 'DAV:' ? await liveXml(name, item, context, isName) : undefined
    const stored = xml ?? timeXml(item, { namespace, name }, isName) ?? deadXml(dead, namespace, name, isName)
    if (stored !== undefined) found += stored
    else if (asked.kind === 'prop') missing += emptyElement(namespace, name)
  }
  const href = hrefOf(item.address, item.isFolder)
  const isEmpty = found === '' && missing !== ''
  return `<d:response><d:href>${href}</d:href>${isEmpty ? '' : propstat(found, '200 OK')}${missing === '' ? '' : propstat(missing, '404 Not Found')}</d:response>`
}

function namesFor({ kind, names }: Asked, dead: readonly DeadProperty[]): Asked['names'] {
  if (kind === 'prop') return names
  const usual = usualProperties.map((name) => ({ namespace: 'DAV:', name }))
  const stored = dead.filter((one) => !isLive(one)).map(({ namespace, name }) => ({ namespace, name }))
  return [...usual, ...stored, ...names]
}

/** The modification time under the name that Windows sets it by. */
function timeXml(
  { mtime }: DescribedItem,
  name: Asked['names'][number],
  isName: boolean,
): string | undefined {
  if (mtime === undefined || !isModificationTime(name)) return undefined
  return isName ? emptyElement(name.namespace, name.name) : modificationTimeXml(mtime)
}

async function liveXml(
  name: string,
  item: DescribedItem,
  context: PropertyContext,
  isName: boolean,
): Promise<string | undefined> {
  const live = Object.hasOwn(liveProperties, name) ? liveProperties[name] : undefined
  const made = live?.(item, context)
  const content = made instanceof Promise ? await made : made
  if (content === undefined) return undefined
  return content === '' || isName ? `<d:${name}/>` : `<d:${name}>${content}</d:${name}>`
}

function deadXml(
  dead: readonly DeadProperty[],
  namespace: string,
  name: string,
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

function dependsOnDead(name: Asked['names'][number]): boolean {
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
