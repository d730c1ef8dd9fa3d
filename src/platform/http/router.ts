/** Path segments by name, decoded. */
export type Segments = ReadonlyMap<string, string>

/** The value of a matched route, and its named segments. */
interface Found<T> {
  readonly target: T
  readonly segments: Segments
}

interface Ending<T> {
  readonly target: T
  /** Names of the segments on the way here. */
  readonly names: readonly string[]
}

interface Node<T> {
  /** Children by literal segment. They are few, so a linear scan is faster than a map. */
  readonly next: { readonly segment: string; readonly node: Node<T> }[]
  /** The child for a named segment. */
  any: Node<T> | undefined
  here: Ending<T> | undefined
  /** A prefix route, which matches everything below. */
  below: Ending<T> | undefined
}

/** Maximum length of a named segment: a percent-encoded name of 255 bytes, with some margin. */
const MAX_SEGMENT = 1024

/**
 * Finds the route for a method and a path. Literal segments take precedence over named ones, and both over
 * prefix routes. A trailing slash is ignored.
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

  /** Undefined if no route matches. What a prefix route matches below its path may have invalid escapes, which its handler refuses. */
  find(method: string, url: string): Found<T> | undefined {
    const root = this.#roots.get(method)
    if (root === undefined) return undefined
    const path = pathOf(url)
    const read = path?.includes('%') ? decoded(path) : path
    if (read === undefined) return undefined
    const values: string[] = []
    const ending = walk(root, read, 1, read.charAt(0), values)
    if (ending === undefined || values.includes(UNDECODABLE)) return undefined
    return { target: ending.target, segments: named(ending.names, values) }
  }
}

function newNode<T>(): Node<T> {
  return { next: [], any: undefined, here: undefined, below: undefined }
}

/** Continues at the segment that begins at `from`. Stores the named segments of its path in `values`. */
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
  if (node.any !== undefined && end - from <= MAX_SEGMENT) {
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

// A lone surrogate, which decoded text cannot contain: stands for an escaped slash within a segment.
const DECODED_SLASH = '\uD800'
// Another one: stands for a segment whose escapes are invalid.
const UNDECODABLE = '\uDFFF'

/** The path with its escapes decoded. */
function decoded(path: string): string {
  return path.split('/').map(decodedSegment).join(DECODED_SLASH)
}

function decodedSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return UNDECODABLE
  }
}

/**
 * The path of a request target without a trailing slash. The target may be an absolute URL, as sent to
 * proxies.
 */
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
