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
  readonly next: Map<string, Node<T>>
  /** The way on with any segment. */
  any: Node<T> | undefined
  here: Ending<T> | undefined
  /** Takes whatever else follows. */
  below: Ending<T> | undefined
}

/** Longest named segment: a name of 255 bytes, percent-encoded, and then some. */
const LONGEST_SEGMENT = 1024

/**
 * Finds what a method and a path lead to: a look into a map for each segment. A segment as it is written goes before
 * one that is named, and both before a route that takes anything. A slash at the end changes nothing.
 */
export class Router<T> {
  readonly #roots = new Map<string, Node<T>>()

  add(method: string, path: string, target: T, { prefix = false } = {}): void {
    let node = this.#roots.get(method)
    if (node === undefined) this.#roots.set(method, (node = newNode()))
    const names: string[] = []
    for (const segment of segmentsOf(path)) {
      if (segment.startsWith(':')) {
        names.push(segment.slice(1))
        node = node.any ??= newNode()
      } else {
        const next: Node<T> = node.next.get(segment) ?? newNode()
        node.next.set(segment, next)
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
    const segments = readSegments(url)
    if (segments === undefined) return undefined
    const values: string[] = []
    const ending = walk(root, segments, 0, values)
    return ending && { target: ending.target, segments: named(ending.names, values) }
  }
}

function newNode<T>(): Node<T> {
  return { next: new Map(), any: undefined, here: undefined, below: undefined }
}

/** Leaves the named segments of the way it went in `values`. */
function walk<T>(
  node: Node<T>,
  segments: readonly string[],
  at: number,
  values: string[],
): Ending<T> | undefined {
  if (at === segments.length) return node.here
  const segment = segments[at] ?? ''
  const next = node.next.get(segment)
  const found = next && walk(next, segments, at + 1, values)
  if (found !== undefined) return found
  if (node.any !== undefined && segment.length <= LONGEST_SEGMENT) {
    const kept = values.length
    values.push(segment)
    const named = walk(node.any, segments, at + 1, values)
    if (named !== undefined) return named
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

function readSegments(url: string): string[] | undefined {
  const path = pathOf(url)
  if (path === undefined) return undefined
  const segments = segmentsOf(path)
  if (!path.includes('%')) return segments
  try {
    return segments.map((segment) => (segment.includes('%') ? decodeURIComponent(segment) : segment))
  } catch {
    return undefined
  }
}

/** What is between the slashes; one at the end is as good as none. */
function segmentsOf(path: string): string[] {
  const segments: string[] = []
  let from = 1
  for (let end = path.indexOf('/', 1); end !== -1; end = path.indexOf('/', from)) {
    segments.push(path.slice(from, end))
    from = end + 1
  }
  if (from < path.length) segments.push(path.slice(from))
  return segments
}

/** The path of what a request asks for. That may be a whole URL, as clients send it to proxies. */
function pathOf(url: string): string | undefined {
  const path = url.startsWith('/') ? url : pathOfWhole(url)
  if (path === undefined || !(path.includes('?') || path.includes('#'))) return path
  return path.slice(0, path.search(/[?#]/)) || '/'
}

function pathOfWhole(url: string): string | undefined {
  const path = /^https?:\/\/[^/?#]+(.*)$/is.exec(url)?.[1]
  return path !== undefined && URL.canParse(url) ? path || '/' : undefined
}
