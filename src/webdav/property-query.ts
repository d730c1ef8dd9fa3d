import type { DeadProperty } from '../library/index.ts'
import { TwoGenerationCache } from '../scheduling/index.ts'
import { isCreationTime, isModificationTime, modificationTimeXml } from './item-times.ts'
import {
  type DescribedItem,
  type LiveProperty,
  liveProperties,
  type PropertyContext,
  usualProperties,
} from './live-properties.ts'
import { davError } from './responses.ts'
import { child, elementsOf, isDav, parseXml } from './xml-reader.ts'
import { escapeText } from './xml-writer.ts'

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

/** One property of all items of a response. */
interface Property {
  /** The element without content. */
  readonly empty: string
  /** The element of an item; undefined if the item does not have the property. */
  readonly xmlOf: (listed: Listed) => string | undefined
}

/** Longer bodies are parsed each time. */
const MAX_CACHED_BODY = 1024
const CACHED_BODIES = 200
/** Queries by the bytes of their bodies. A client sends the same few bodies with all its requests. */
const known = new TwoGenerationCache<string, PropertyQuery>(CACHED_BODIES, () => 1)

/** The properties that a PROPFIND asks for. How each is written is decided once, not for each item. */
export class PropertyQuery {
  readonly #kind: 'prop' | 'allprop' | 'propname'
  readonly #names: readonly Name[]
  /** Of items without dead properties. */
  readonly #properties: readonly Property[]
  /** Whether dead properties have to be read. */
  readonly needsDead: boolean
  readonly needsLocks: boolean
  readonly needsQuota: boolean
  /** Identifies the query if what it describes depends on entries alone, so that it can be cached; else undefined. */
  readonly cacheKey: string | undefined

  /** `text` is the body, or undefined if that is long. */
  constructor(kind: 'prop' | 'allprop' | 'propname', names: readonly Name[], text: string | undefined) {
    this.#kind = kind
    this.#names = names
    const asked = names.map((name) => propertyOf(name, kind === 'propname'))
    this.#properties = kind === 'prop' ? asked : [...usual(kind === 'propname'), ...asked]
    const isAsked = (name: string) => names.some((one) => one.namespace === 'DAV:' && one.name === name)
    this.needsDead = kind !== 'prop' || names.some((name) => !isLive(name) || isCreationTime(name))
    this.needsLocks = kind !== 'prop' || isAsked('lockdiscovery')
    this.needsQuota = isAsked('quota-used-bytes') || isAsked('quota-available-bytes')
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
    const properties = listed.dead.length === 0 ? this.#properties : this.#withDead(listed.dead)
    let found = ''
    let missing = ''
    for (const { empty, xmlOf } of properties) {
      const xml = xmlOf(listed)
      if (xml !== undefined) found += xml
      else if (this.#kind === 'prop') missing += empty
    }
    const { href } = listed.item
    if (missing === '') return `<d:response><d:href>${href}</d:href>${FOUND}${found}${END_FOUND}</d:response>`
    const parts = found === '' ? '' : propstat(found, OK)
    return `<d:response><d:href>${href}</d:href>${parts}${propstat(missing, '404 Not Found')}</d:response>`
  }

  #withDead(dead: readonly DeadProperty[]): readonly Property[] {
    if (this.#kind === 'prop') return this.#properties
    const isName = this.#kind === 'propname'
    const stored = dead.filter((one) => !isLive(one))
    return [...usual(isName), ...[...stored, ...this.#names].map((name) => propertyOf(name, isName))]
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
  const names = listed === undefined ? [] : elementsOf(listed)
  return new PropertyQuery(
    kind,
    names.map(({ namespace, name }) => ({ namespace, name })),
    text,
  )
}

function propertyOf(property: Name, isName: boolean): Property {
  const { namespace, name } = property
  const empty = emptyElement(namespace, name)
  const deadXml = ({ dead }: Listed) => {
    const stored = dead.find((one) => one.namespace === namespace && one.name === name)
    return stored && (isName ? empty : stored.xml)
  }
  const live = liveOf(property)
  if (live !== undefined) {
    const start = `<d:${name}>`
    const end = `</d:${name}>`
    const xmlOf = (listed: Listed) => {
      const content = live(listed.item, listed.context)
      if (content === undefined) return deadXml(listed)
      return content === '' || isName ? empty : start + content + end
    }
    return { empty, xmlOf }
  }
  if (!isModificationTime(property)) return { empty, xmlOf: deadXml }
  // The modification time under the name that Windows sets it by.
  const xmlOf = (listed: Listed) => {
    const { mtime } = listed.item
    if (mtime === undefined) return deadXml(listed)
    return isName ? empty : modificationTimeXml(mtime)
  }
  return { empty, xmlOf }
}

function usual(isName: boolean): readonly Property[] {
  return isName ? USUAL_NAMES : USUAL
}

const USUAL = usualProperties.map((name) => propertyOf({ namespace: 'DAV:', name }, false))
const USUAL_NAMES = usualProperties.map((name) => propertyOf({ namespace: 'DAV:', name }, true))

const OK = '200 OK'
const FOUND = '<d:propstat><d:prop>'
const END_FOUND = `</d:prop><d:status>HTTP/1.1 ${OK}</d:status></d:propstat>`

export function propstat(properties: string, status: string): string {
  return `<d:propstat><d:prop>${properties}</d:prop><d:status>HTTP/1.1 ${status}</d:status></d:propstat>`
}

export function emptyElement(namespace: string, name: string): string {
  return namespace === 'DAV:' ? `<d:${name}/>` : `<${name} xmlns="${escapeText(namespace)}"/>`
}

function liveOf({ namespace, name }: Name): LiveProperty | undefined {
  return namespace === 'DAV:' && Object.hasOwn(liveProperties, name) ? liveProperties[name] : undefined
}

/** Whether the server computes a property. */
export function isLive(name: Name): boolean {
  return liveOf(name) !== undefined
}
