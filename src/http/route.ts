import type { FaultTable } from '../errors.ts'
import type { Readers, Values } from './readers.ts'
import type { HttpRequest } from './request.ts'
import type { ResponseHeaders } from './response.ts'
import type { RequestBody } from './transport.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS'

/** Who may call a route: anybody, whoever holds an API token, administrators, whoever holds a library token. */
export type Policy = 'none' | 'user' | 'admin' | 'library'

/** What a token with bounds must allow to be let into a route; `any` lets in all of them, `none` lets in none. */
export type ScopeNeeded = 'none' | 'any' | 'read' | 'write' | 'upload'

/** Which throttle counts a call: per account, per address (60 a minute), the one of ping, or none. */
export type Limit = 'user' | 'anonymous' | 'ping' | 'none'

/** The response of a surface to a fault: status, message and headers. */
export type FaultResponse = [status: number, message: string, headers?: ResponseHeaders]

/** Responses to some of the faults, for routes that differ from their surface. */
export type FaultResponses = Partial<FaultTable<FaultResponse>>

/**
 * The response of a surface to every fault. `unexpected` marks a fault that no route of the surface can cause: if one
 * does, that is a bug, answered with 500. A new fault does not compile until every surface lists it.
 */
export type SurfaceFaults = {
  readonly [Code in keyof FaultTable<FaultResponse>]: FaultTable<FaultResponse>[Code] | 'unexpected'
}

/** Entries for faults that a surface cannot meet. */
export function unexpected<Code extends keyof SurfaceFaults>(
  codes: readonly Code[],
): { readonly [Listed in Code]: 'unexpected' } {
  return Object.fromEntries(codes.map((code) => [code, 'unexpected'])) as { [Listed in Code]: 'unexpected' }
}

/** What a handler is given. */
export interface Input<User, P extends Readers, Q extends Readers, B> {
  /** The account whose token came with the request; undefined on a route open to anybody. */
  readonly user: User
  readonly params: Values<P>
  readonly query: Values<Q>
  readonly body: B
  readonly request: HttpRequest
}

type Body<B extends Readers | 'raw'> = B extends Readers ? Values<B> : RequestBody

/** A route as it is written down. */
export interface RouteSpec<
  User,
  Services,
  A extends Policy,
  P extends Readers,
  Q extends Readers,
  B extends Readers | 'raw',
> {
  method: Method
  /** As in `/api2/repos/:repo_id/dir/`; served with and without the slash at the end. */
  path: string
  /** A route without a policy neither compiles nor starts (I8). */
  auth: A
  /** One sentence for the endpoint list in the docs. */
  summary: string
  /** A reader for every `:segment`. One that refuses makes the answer a plain 404. */
  params?: P
  query?: Q
  /** Readers for any encoding of a body, or `'raw'` to be handed the bytes as they come in. */
  body?: B
  /** Most bytes a body that is not raw may have: 1 MiB where a token is needed, else 64 KiB. */
  bodyLimit?: number
  /**
   * What a token with bounds must allow. Without it: reading for GET and writing for the rest on routes of one
   * library, which access bounds further; on every other route no such token is taken.
   */
  scope?: ScopeNeeded
  /** Without it, `'user'` where a token is needed and `'none'` elsewhere. */
  limit?: Limit
  /** Where this route words a fault differently from its surface. */
  faults?: FaultResponses
  /** Takes anything after the path as well. */
  prefix?: true
  /** What it returns is sent as JSON with status 200, unless it is an `HttpResponse`. */
  handle: (input: Input<A extends 'none' ? undefined : User, P, Q, Body<B>>, services: Services) => unknown
}

/** A route as the server runs it, its readers' types already matched with its handler's. */
export interface Route<User, Services> {
  readonly method: Method
  readonly path: string
  readonly auth: Policy
  readonly summary: string
  readonly params: Readers
  readonly query: Readers
  readonly body: Readers | 'raw'
  /** Bytes. */
  readonly bodyLimit: number
  readonly limit: Limit
  readonly scope: ScopeNeeded
  readonly faults: FaultResponses
  readonly prefix: boolean
  /** Requests for which the policy is waived: only the server's own routes have any. */
  readonly openTo?: (request: HttpRequest) => boolean
  /** Called by machines all the time, so not worth a line in the log. */
  readonly isProbe?: boolean
  readonly handle: (input: Input<User | undefined, Readers, Readers, unknown>, services: Services) => unknown
}

/** One line of the endpoint list. */
export interface Endpoint {
  readonly method: Method
  readonly path: string
  readonly auth: Policy
  readonly scope: ScopeNeeded
  readonly summary: string
  /** Names of what it reads from path, query and body; `raw` for a body it reads itself. */
  readonly reads: readonly string[]
}

/** A `route` function for one kind of user and one set of services. */
export function routesFor<User, Services>() {
  return function route<
    const A extends Policy,
    P extends Readers = {},
    Q extends Readers = {},
    B extends Readers | 'raw' = {},
  >(spec: RouteSpec<User, Services, A, P, Q, B>): Route<User, Services> {
    return {
      method: spec.method,
      path: spec.path,
      auth: spec.auth,
      summary: spec.summary,
      params: spec.params ?? {},
      query: spec.query ?? {},
      body: spec.body ?? {},
      bodyLimit: spec.bodyLimit ?? (spec.auth === 'none' ? 64 * 1024 : 1024 * 1024),
      limit: spec.limit ?? (spec.auth === 'none' ? 'none' : 'user'),
      scope: spec.scope ?? usualScope(spec),
      faults: spec.faults ?? {},
      prefix: spec.prefix ?? false,
      // The server runs exactly these readers and this policy before it calls, so the types hold.
      handle: spec.handle as Route<User, Services>['handle'],
    }
  }
}

function usualScope({ method, path, auth }: { method: Method; path: string; auth: Policy }): ScopeNeeded {
  const ofOneLibrary = auth === 'user' && /^\/api(?:2|\/v2\.1)\/repos\/:repo_id\//.test(path)
  if (!ofOneLibrary) return 'none'
  return method === 'GET' ? 'read' : 'write'
}

/** What the docs list, in the order of declaration. */
export function endpointsOf(routes: readonly ListedRoute[]): Endpoint[] {
  return routes.map(({ method, path, auth, scope, summary, params, query, body }) => {
    const fields = body === 'raw' ? ['raw'] : Object.keys(body)
    const reads = [...Object.keys(params), ...Object.keys(query), ...fields]
    return { method, path, auth, scope, summary, reads }
  })
}

/** As much of a route as its line in the list needs. */
export type ListedRoute = Omit<Endpoint, 'reads'> & Pick<Route<never, never>, 'params' | 'query' | 'body'>
