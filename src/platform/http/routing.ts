import type { Route } from './route.ts'

/** The fields of a route that are checked before it is served. */
export type CheckedRoute = Pick<Route<never, never>, 'method' | 'path' | 'auth' | 'prefix' | 'params'>

/**
 * Throws, naming the route, if one has no policy (I8), does not match its path parameters, or is declared
 * twice.
 */
export function checkRoutes(routes: readonly CheckedRoute[]): void {
  const seen = new Set<string>()
  for (const route of routes) {
    const name = `${route.method} ${route.path}`
    if (!['none', 'user', 'admin', 'library', 'webdav'].includes(route.auth))
      throw new Error(`${name} does not say who may call it.`)
    if (!/^\/[\w./:-]*$/.test(route.path)) throw new Error(`${name} is not a path we can serve.`)
    const segments = segmentNames(route.path)
    const readers = Object.keys(route.params)
    if (segments.length !== readers.length || !segments.every((segment) => readers.includes(segment))) {
      throw new Error(`${name} must read exactly the segments in its path: ${segments.join(', ') || 'none'}.`)
    }
    const key = `${route.method} ${shapeOf(route.path)}`
    if (seen.has(key)) throw new Error(`${name} is declared twice.`)
    seen.add(key)
  }
}

/** The methods of each path shape, for `OPTIONS`, `HEAD` and 405 responses. */
export class MethodTable {
  readonly #entries: { readonly pattern: RegExp; readonly methods: Set<string> }[] = []
  readonly #shapes = new Map<string, Set<string>>()

  constructor(routes: readonly CheckedRoute[]) {
    for (const route of routes) this.#add(route)
  }

  /**
   * The methods for the `Allow` header; empty if no route matches. Scans all path shapes, so it is for error
   * responses only.
   */
  allowedAt(url: string): string[] {
    const path = url.split('?', 1)[0] ?? ''
    const methods = new Set<string>()
    for (const entry of this.#entries)
      if (entry.pattern.test(path)) for (const method of entry.methods) methods.add(method)
    return [...methods]
  }

  #add({ method, path, prefix }: CheckedRoute): void {
    const shape = shapeOf(path) + (prefix ? '*' : '')
    const methods = this.#shapes.get(shape) ?? new Set()
    methods.add(method)
    if (method === 'GET') methods.add('HEAD')
    methods.add('OPTIONS')
    if (this.#shapes.has(shape)) return
    this.#shapes.set(shape, methods)
    this.#entries.push({ pattern: patternOf(path, prefix), methods })
  }
}

/** A path without its trailing slash and the names of its segments. Two routes of one shape are equal. */
function shapeOf(path: string): string {
  return withoutSlash(path).replace(/:\w+/g, ':')
}

function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

function segmentNames(path: string): string[] {
  return Array.from(path.matchAll(/:(\w+)/g), ([, name = '']) => name)
}

function patternOf(path: string, prefix: boolean): RegExp {
  const source = withoutSlash(path)
    .replace(/[.\-/]/g, '\\$&')
    .replace(/:\w+/g, '[^/]+')
  return new RegExp(`^${source}${prefix ? '(?:/.*)?' : '/?'}$`)
}
