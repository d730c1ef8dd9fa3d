/** Path segments by name, decoded. */
export type Segments = ReadonlyMap<string, string>

/** What a path leads to, and what its named segments were. */
export interface Found<T> {
  readonly target: T
  readonly segments: Segments
}

interface Ending<T> {
  readonly target: T
  /** Of the segments on the way here that have one. */
  readonly names: readonly string[]
}

interface Node<T> {
  /** The ways on with a segment as it is written. They are few, so comparing takes less than a look into a map. */
  readonly next: { readonly segment: string; readonly node: Node<T> }[]
  /** The way on with any segment. */
  any: Node<T> | undefined
  here: Ending<T> | undefined
  /** Takes whatever else follows. */
  below: Ending<T> | undefined
}

/** Longest named segment: a name of 255 bytes, percent-encoded, and then some. */
const LONGEST_SEGMENT = 1024

/**
 * Finds what a method and a path lead to. A segment as it is written goes before one that is named, and both before a
 * route that takes anything. A slash at the end changes nothing.
 */
export class Router<T> {
  readonly #roots = new Map<string, Node<T>>()

  add(method: string, path: string, target: T, { prefix = false } = {}): void {
    let node = this.#roots.get(method)
    if (node === undefined) this.#roots.set(method, (node = newNode()))
    const names: string[] = []
    for (const segment of path.split('/').filter(Boolean)) {
      if (segment.startsWith(':')) {
        names.push(segment.slice(1))
        node = node.any ??= newNode()
      } else {
        const known: Node<T> | undefined = node.next.find((one) => one.segment === segment)?.node
        const next: Node<T> = known ?? newNode()
        if (known === undefined) node.next.push({ segment, node: next })
        node = next
      }
    }
    node.here = { target, names }
    if (prefix) node.below = node.here
  }

  /** Undefined for a path nothing has, and for one whose escapes are none. */
  find(method: string, url: string): Found<T> | undefined {
    const root = this.#roots.get(method)
    if (root === undefined) return undefined
    const path = pathOf(url)
    const read = path?.includes('%') ? decoded(path) : path
    if (read === undefined) return undefined
    const values: string[] = []
    const ending = walk(root, read, 1, read.charAt(0), values)
    return ending && { target: ending.target, segments: named(ending.names, values) }
  }
}

function newNode<T>(): Node<T> {
  return { next: [], any: undefined, here: undefined, below: undefined }
}

/** Goes on from the segment that begins at `from`; leaves the named segments of the way it went in `values`. */
function walk<T>(
  node: Node<T>,
  path: string,
  from: number,
  slash: string,
  values: string[],
): Ending<T> | undefined {
  if (from > path.length) return node.here
  const found = path.indexOf(slash, from)
  const end = found === -1 ? path.length : found
  for (const { segment, node: next } of node.next) {
    if (segment.length !== end - from || !path.startsWith(segment, from)) continue
    const ending = walk(next, path, end + 1, slash, values)
    if (ending !== undefined) return ending
  }
  if (node.any !== undefined && end - from <= LONGEST_SEGMENT) {
    const kept = values.length
    values.push(path.slice(from, end))
    const ending = walk(node.any, path, end + 1, slash, values)
    if (ending !== undefined) return ending
    values.length = kept
  }
  return node.below
}

function named(names: readonly string[], values: readonly string[]): Segments {
  if (names.length === 0) return noSegments
  const segments = new Map<string, string>()
  for (let at = 0; at < names.length; at += 1) segments.set(names[at] ?? '', values[at] ?? '')
  return segments
}

const noSegments: Segments = new Map()

// Half a character, which no decoded text can hold: a segment may have a slash of its own.
const DECODED_SLASH = '\uD800'

/** A path with its escapes decoded; undefined if they are none. */
function decoded(path: string): string | undefined {
  try {
    return path.split('/').map(decodeURIComponent).join(DECODED_SLASH)
  } catch {
    return undefined
  }
}

/** The path of what a request asks for, without a slash at its end. That may be a whole URL, as clients send it to proxies. */
function pathOf(url: string): string | undefined {
  const whole = url.startsWith('/') ? url : pathOfWhole(url)
  if (whole === undefined) return undefined
  const path = whole.includes('?') || whole.includes('#') ? whole.slice(0, whole.search(/[?#]/)) : whole
  return path.endsWith('/') ? path.slice(0, -1) : path
}

function pathOfWhole(url: string): string | undefined {
  const path = /^https?:\/\/[^/?#]+(.*)$/is.exec(url)?.[1]
  return path !== undefined && URL.canParse(url) ? path || '/' : undefined
}
