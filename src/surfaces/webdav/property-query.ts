import { TwoGenerationCache } from '../../base/scheduling/index.ts'
import type { DeadProperty } from '../../libraries/attributes/index.ts'
import { isChecksums, owncloudProperty } from './checksum-property.ts'
import { isCreationTime, isModificationTime, modificationTimeText } from './item-times.ts'
import {
  type DescribedItem,
  type LiveProperty,
  liveProperties,
  type PropertyContext,
  usualProperties,
} from './live-properties.ts'
import { davError } from './responses.ts'
import { child, elementsOf, isDav, parseXml, serialize } from './xml-reader.ts'
import { multistatusNamespaces, multistatusStart, type Namespaces } from './xml-writer.ts'

/** The name of a property with its namespace. */
interface Name {
  readonly namespace: string
  readonly name: string
}

/** An item with everything its properties depend on. */
export interface Listed {
  readonly item: DescribedItem
  readonly context: PropertyContext
  readonly dead: readonly DeadProperty[]
}

/** Dead properties of one item, by `keyOf`. */
type Stored = ReadonlyMap<string, DeadProperty>

/** One property of all items of a response. */
interface Property {
  /** The element without content. */
  readonly empty: string
  /** The element of an item; undefined if the item does not have the property. */
  readonly xmlOf: (listed: Listed, stored: Stored) => string | undefined
}

/** Real clients ask for fewer than 50 properties. */
const MAX_NAMES = 100
/** Of all names and their namespaces. Every item of a response names the properties that it does not have. */
const MAX_NAME_BYTES = 4096

/** Longer bodies are parsed each time. */
const MAX_CACHED_BODY = 1024
const CACHED_BODIES = 200
/** Queries by the bytes of their bodies. A client sends the same few bodies with all its requests. */
const known = new TwoGenerationCache<string, PropertyQuery>(CACHED_BODIES, () => 1)

/** The properties that a PROPFIND asks for. How each is written is decided once, not for each item. */
export class PropertyQuery {
  readonly #kind: 'prop' | 'allprop' | 'propname'
  /** Besides dead properties that were not asked for by name. */
  readonly #properties: readonly Property[]
  /** The start of the document, which declares all namespaces that were asked for. */
  readonly start: string
  /** Whether dead properties have to be read. */
  readonly needsDead: boolean
  readonly needsLocks: boolean
  readonly needsQuota: boolean
  readonly needsChecksums: boolean
  /** Identifies the query if what it describes depends on entries and their content alone, so that it can be cached; else undefined. */
  readonly cacheKey: string | undefined

  /** Without two equal names. `text` is the body, or undefined if that is long. */
  constructor(kind: 'prop' | 'allprop' | 'propname', names: readonly Name[], text: string | undefined) {
    this.#kind = kind
    const isName = kind === 'propname'
    const namespaces = multistatusNamespaces()
    // All dead properties are written in any case, and the usual ones, too.
    const asked = kind === 'prop' ? names : names.filter((name) => isLive(name) && !isUsual(name))
    const properties = asked.map((name) => propertyOf(name, isName, namespaces))
    this.#properties = kind === 'prop' ? properties : [...(isName ? USUAL_NAMES : USUAL), ...properties]
    this.start = multistatusStart(namespaces)
    const isAsked = (name: string) => names.some((one) => one.namespace === 'DAV:' && one.name === name)
    this.needsDead = kind !== 'prop' || names.some((name) => !isLive(name) || isCreationTime(name))
    this.needsLocks = kind !== 'prop' || isAsked('lockdiscovery')
    this.needsQuota = isAsked('quota-used-bytes') || isAsked('quota-available-bytes')
    this.needsChecksums = names.some(isChecksums)
    const dependsOnMore = this.needsDead || this.needsLocks || this.needsQuota
    this.cacheKey = dependsOnMore || text === undefined ? undefined : `${text.length} ${text}`
  }

  /** An empty body asks for all properties. Throws a refusal. */
  static parse(bytes: Buffer): PropertyQuery {
    if (bytes.length > MAX_CACHED_BODY) return parseQuery(bytes, undefined)
    const key = bytes.toString('latin1')
    let query = known.get(key)
    if (query === undefined) {
      query = parseQuery(bytes, key)
      known.set(key, query)
    }
    return query
  }

  /** The `response` element of an item. */
  responseXml(listed: Listed): string {
    const { dead, item } = listed
    const stored = dead.length === 0 ? NOTHING_STORED : new Map(dead.map((one) => [keyOf(one), one]))
    let found = ''
    let missing = ''
    for (const { empty, xmlOf } of this.#properties) {
      const xml = xmlOf(listed, stored)
      if (xml !== undefined) found += xml
      else if (this.#kind === 'prop') missing += empty
    }
    if (dead.length > 0 && this.#kind !== 'prop') found += this.#deadXml(dead)
    const { href } = item
    if (missing === '') return `<d:response><d:href>${href}</d:href>${FOUND}${found}${END_FOUND}</d:response>`
    const parts = found === '' ? '' : propstat(found, OK)
    return `<d:response><d:href>${href}</d:href>${parts}${propstat(missing, '404 Not Found')}</d:response>`
  }

  /** All dead properties of an item. They declare their namespaces themselves. */
  #deadXml(dead: readonly DeadProperty[]): string {
    let xml = ''
    for (const one of dead) {
      if (isLive(one)) continue
      const { namespace, name } = one
      const isName = this.#kind === 'propname'
      xml += isName ? serialize({ namespace, name, attributes: [], content: [] }) : one.xml
    }
    return xml
  }
}

function parseQuery(bytes: Buffer, text: string | undefined): PropertyQuery {
  if (bytes.length === 0) return new PropertyQuery('allprop', [], text)
  const root = parseXml(bytes)
  const prop = child(root, 'prop')
  const kind = prop !== undefined ? 'prop' : child(root, 'propname') !== undefined ? 'propname' : 'allprop'
  const isValid = isDav(root, 'propfind') && (kind !== 'allprop' || child(root, 'allprop') !== undefined)
  if (!isValid) throw davError(400, 'The XML of the request does not ask for properties.')
  const listed = prop ?? child(root, 'include')
  const names = new Map<string, Name>()
  for (const { namespace, name } of listed === undefined ? [] : elementsOf(listed)) {
    names.set(keyOf({ namespace, name }), { namespace, name })
  }
  refuseLongNames(names.values())
  return new PropertyQuery(kind, [...names.values()], text)
}

function refuseLongNames(names: Iterable<Name>): void {
  let count = 0
  let bytes = 0
  const namespaces = new Set<string>()
  for (const { namespace, name } of names) {
    count += 1
    bytes += Buffer.byteLength(name) + (namespaces.has(namespace) ? 0 : Buffer.byteLength(namespace))
    namespaces.add(namespace)
  }
  if (count <= MAX_NAMES && bytes <= MAX_NAME_BYTES) return
  const limit = `At most ${MAX_NAMES} properties, whose names have ${MAX_NAME_BYTES} bytes in total`
  throw davError(400, `${limit}, can be asked for at once.`)
}

function propertyOf(property: Name, isName: boolean, namespaces: Namespaces): Property {
  const element = namespaces.elementName(property.namespace, property.name)
  const empty = `<${element}/>`
  const key = keyOf(property)
  const deadXml = (stored: Stored) => {
    const found = stored.get(key)
    return found && (isName ? empty : found.xml)
  }
  const live = liveOf(property)
  if (live === undefined) return { empty, xmlOf: (_, stored) => deadXml(stored) }
  const start = `<${element}>`
  const end = `</${element}>`
  const xmlOf = (listed: Listed, stored: Stored) => {
    const content = live(listed.item, listed.context)
    if (content === undefined) return deadXml(stored)
    return content === '' || isName ? empty : start + content + end
  }
  return { empty, xmlOf }
}

/** Identifies a property. A name has no spaces. */
export function keyOf({ namespace, name }: Name): string {
  return `${name} ${namespace}`
}

const usual: ReadonlySet<string> = new Set(usualProperties)

/** Whether a property is written for every item if all are asked for. */
function isUsual({ namespace, name }: Name): boolean {
  return namespace === 'DAV:' && usual.has(name)
}

const usualOf = (isName: boolean) =>
  usualProperties.map((name) => propertyOf({ namespace: 'DAV:', name }, isName, multistatusNamespaces()))
const USUAL = usualOf(false)
const USUAL_NAMES = usualOf(true)
const NOTHING_STORED: Stored = new Map()

const OK = '200 OK'
const FOUND = '<d:propstat><d:prop>'
const END_FOUND = `</d:prop><d:status>HTTP/1.1 ${OK}</d:status></d:propstat>`

export function propstat(properties: string, status: string): string {
  return `<d:propstat><d:prop>${properties}</d:prop><d:status>HTTP/1.1 ${status}</d:status></d:propstat>`
}

function liveOf(property: Name): LiveProperty | undefined {
  if (isModificationTime(property)) {
    return ({ mtime }) => (mtime === undefined ? undefined : modificationTimeText(property, mtime))
  }
  const { namespace, name } = property
  if (namespace !== 'DAV:') return owncloudProperty(property)
  return Object.hasOwn(liveProperties, name) ? liveProperties[name] : undefined
}

/** Whether the server computes a property. */
export function isLive(name: Name): boolean {
  return liveOf(name) !== undefined
}
