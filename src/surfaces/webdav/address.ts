import { type LibraryPath, parsePath, ROOT, segmentsOf } from '../../base/paths/index.ts'
import type { HttpRequest } from '../../platform/http/index.ts'
import { davError } from './responses.ts'

/** The URL prefixes that WebDAV is served under. The second is that of Seafile. */
export const PREFIXES = ['/dav', '/seafdav'] as const

/** What a URL names, before anything is looked up. */
export interface Address {
  /** The prefix it was given with, which all URLs of the response have, too. */
  readonly prefix: string
  /** The name of a point in time, such as `@2026-11-01`. */
  readonly snapshot: string | undefined
  /** The name of a library; undefined for the root. */
  readonly library: string | undefined
  /** The path in the library. */
  readonly path: LibraryPath
  /** Whether it ends with a slash, as URLs of folders do. */
  readonly hasSlash: boolean
}

/** The address of a request. Throws a refusal for a URL that names nothing. */
export function addressOf(request: HttpRequest): Address {
  const path = pathOf(request.url)
  const address = path === undefined ? undefined : parseAddress(path)
  if (address === undefined) throw davError(400, 'The URL is not valid.')
  return address
}

/**
 * The address of the `Destination` header. Clients send a whole URL or a path, escaped or not. Scheme and port may be those of a proxy,
 * so only the host is compared. Throws a refusal for another host and for anything that is not served here.
 */
export function destinationOf(request: HttpRequest): Address {
  const header = request.header('destination')?.trim()
  if (header === undefined || header === '') throw davError(400, 'The Destination header is missing.')
  const [, authority, rest = ''] = /^(?:[a-z][a-z0-9+.-]*:)?\/\/([^/?#]*)(.*)$/is.exec(header) ?? [
    '',
    undefined,
    header,
  ]
  if (authority !== undefined && !hostsOf(request).includes(hostOf(authority))) {
    throw davError(502, 'The destination is on another server.')
  }
  // Bytes of unescaped UTF-8 arrive as Latin-1.
  const text = Buffer.from(rest, 'latin1').toString()
  const path = pathOf(text.includes('\ufffd') ? rest : text)
  const address = path === undefined ? undefined : parseAddress(path)
  if (address === undefined) throw davError(400, 'The Destination header is not valid.')
  return address
}

/** The escaped URL path of an item, with the prefix of the request. */
export function hrefOf({ prefix, snapshot, library, path }: Address, isFolder: boolean): string {
  const names = [...(snapshot === undefined ? [] : [snapshot]), ...(library === undefined ? [] : [library])]
  const all = [...names, ...segmentsOf(path)].map(encodeName).join('/')
  return `${prefix}/${all}${isFolder && all !== '' ? '/' : ''}`
}

/** One segment of a URL path. Most names need no escapes, and the test takes less time than the encoder. */
export function encodeName(name: string): string {
  return /^[\w.~-]*$/.test(name) ? name : encodeURIComponent(name.toWellFormed())
}

/** The part of a request target that names the library, or the point in time. */
export function libraryUrl(url: string): string {
  return /^(?:\/[^/?]*){2}/.exec(url)?.[0] ?? url
}

/** Parses a URL of this server in an `If` header; undefined for any other. */
export function parseUrl(url: string): Address | undefined {
  const path = pathOf(url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, ''))
  return path === undefined ? undefined : parseAddress(path)
}

function parseAddress(path: string): Address | undefined {
  const prefix = PREFIXES.find((one) => path === one || path.startsWith(`${one}/`))
  if (prefix === undefined) return undefined
  const names: string[] = []
  for (const segment of path.slice(prefix.length).split('/')) {
    const name = decodeName(segment)
    if (name === undefined || name.includes('/')) return undefined
    if (name !== '') names.push(name)
  }
  const isPast = looksLikeSnapshot(names[0] ?? '')
  const snapshot = isPast ? names.shift() : undefined
  const library = names.shift()
  const inLibrary = parsePath(names.join('/'))
  if (inLibrary === undefined || library === '.' || library === '..') return undefined
  return {
    prefix,
    snapshot,
    library,
    path: library === undefined ? ROOT : inLibrary,
    hasSlash: path.endsWith('/'),
  }
}

/** The path of a request target or URL reference; undefined if it has a fragment. */
function pathOf(url: string): string | undefined {
  if (url.includes('#')) return undefined
  const path = url.replace(/^https?:\/\/[^/?]*/i, '')
  return path.split('?', 1)[0]
}

function decodeName(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

function hostsOf(request: HttpRequest): (string | undefined)[] {
  return [hostOf(request.header('host') ?? ''), hostOf(new URL(request.baseUrl).host)]
}

/** The host of an authority, without user and port. */
function hostOf(authority: string): string {
  return authority
    .slice(authority.lastIndexOf('@') + 1)
    .replace(/:\d*$/, '')
    .toLowerCase()
}

const SHAPE = /^@(\d{4}-\d\d-\d\d)(?:T(\d\d)[:.](\d\d)(?:[:.](\d\d))?)?(Z|[+-]\d\d[:.]?\d\d)?$/

/** Whether the name of a folder in the root stands for a point in time. */
export function looksLikeSnapshot(name: string): boolean {
  return SHAPE.test(name)
}

/**
 * The Unix time of a name such as `@2026-11-01T12:00`, in UTC unless it says otherwise. Colons may be written as dots, because
 * Windows has no colons in names. Undefined for any other name, and for a time that does not exist.
 */
export function parseSnapshotName(name: string): number | undefined {
  const [, day, hours = '00', minutes = '00', seconds = '00', zone = 'Z'] = SHAPE.exec(name) ?? []
  if (day === undefined) return undefined
  // Date.parse accepts February 30 as March 2.
  if (!new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day)) return undefined
  const offset = zone === 'Z' ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(-2)}`
  const ms = Date.parse(`${day}T${hours}:${minutes}:${seconds}${offset}`)
  return Number.isNaN(ms) || ms < 0 ? undefined : Math.floor(ms / 1000)
}
