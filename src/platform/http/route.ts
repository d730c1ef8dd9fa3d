import type { FaultTable } from '../../base/errors.ts'
import type { Compatibility, Details, Responses } from '../../base/schemas/index.ts'
import type { Readers, Values } from '../input/index.ts'
import type { ResponseHeaders } from '../responses/index.ts'
import type { HttpRequest } from './request.ts'
import type { RequestBody } from './transport.ts'

type Method =
  | 'GET'
  | 'POST'
  | 'PUT'
  | 'DELETE'
  | 'OPTIONS'
  | 'PROPFIND'
  | 'PROPPATCH'
  | 'MKCOL'
  | 'COPY'
  | 'MOVE'
  | 'LOCK'
  | 'UNLOCK'

/** Who may call a route: anyone, holders of an API token, administrators, holders of a library token, holders of a password or token for WebDAV. */
export type Policy = 'none' | 'user' | 'admin' | 'library' | 'webdav'

/** The scope a route requires of a scoped token: `any` admits all, `none` admits none. */
export type ScopeNeeded = 'none' | 'any' | 'read' | 'write' | 'upload'

/**
 * The rate limit that counts a call: per account, per address (60 a minute), that of ping, that of transfers (per account, or per address where a ticket or a
 * sync token is the credential), or none.
 */
export type Limit = 'user' | 'anonymous' | 'ping' | 'transfer' | 'none'

/** Who is not refused by a call, where no caller needs a right of another kind. Each group includes the ones after it; readers to the owner are those of the library that the call names. */
export type Callers =
  | 'anyone'
  | 'every account'
  | 'readers'
  | 'writers'
  | 'managers'
  | 'the owner'
  | 'administrators'

/** What a permitted caller sends. The library that the path names has `/in.txt` and the folder `/docs`. */
interface SampleCall {
  readonly query?: Record<string, string | number>
  readonly form?: Record<string, string | number>
  readonly json?: unknown
}

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

/** The input of a handler. */
export interface Input<User, P extends Readers, Q extends Readers, B> {
  /** The authenticated account; undefined on a route for anyone. */
  readonly user: User
  readonly params: Values<P>
  readonly query: Values<Q>
  readonly body: B
  readonly request: HttpRequest
}

type Body<B extends Readers | 'raw'> = B extends Readers ? Values<B> : RequestBody

/** The declaration of a route. */
interface RouteSpec<
  User,
  Services,
  A extends Policy,
  P extends Readers,
  Q extends Readers,
  B extends Readers | 'raw',
> {
  method: Method
  /** For example `/api2/repos/:repo_id/dir/`. Served with and without the trailing slash. */
  path: string
  /** A route without a policy neither compiles nor starts (I8). */
  auth: A
  /** One sentence for the endpoint list in the docs. */
  summary: string
  /** How the call compares with that of the server that existing clients were written for. Required of the web API. */
  compatibility?: Compatibility
  /** Who is not refused. The role matrix and the revocation matrix try the call as everybody, with `sample`. Calls that need more are in `test/api/matrix/`. */
  callers?: Callers
  sample?: SampleCall
  /** A reader for every `:segment`. If one refuses, the response is a plain 404. */
  params?: P
  query?: Q
  /** Readers for a body in any encoding, or `'raw'` to read the bytes as they arrive. */
  body?: B
  /** Maximum size in bytes of a body that is not raw. Default: 1 MiB with authentication, else 64 KiB. */
  bodyLimit?: number
  /**
   * The scope required of a scoped token. Default: on routes of one library, reading for GET and writing
   * otherwise, which the access check restricts further; on other routes no scoped token is admitted.
   */
  scope?: ScopeNeeded
  /** Default: that of the surface, else `'user'` with authentication and `'none'` without. */
  limit?: Limit
  /** Faults that this route answers differently from its surface. */
  faults?: FaultResponses
  /** Also matches every path below. */
  prefix?: true
  /** The part of a URL that tells which rows a request reads. Default: all of it. */
  resourceOf?: (url: string) => string
  /**
   * The responses by status, for the API description and all that is made of it. Errors are listed only if they have a form of their own, which is
   * then one more than those of the surface. A function, because the server never reads them: only generators and tests do.
   */
  responses?: () => Responses
  /** What else the description says of the call. */
  details?: () => Details
  /** The result is sent as JSON with status 200, unless it is an `HttpResponse`. */
  handle: (input: Input<A extends 'none' ? undefined : User, P, Q, Body<B>>, services: Services) => unknown
}

/** A route as the server runs it. The types of readers and handler were already matched. */
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
  readonly resourceOf?: ((url: string) => string) | undefined
  readonly compatibility?: Compatibility | undefined
  readonly callers?: Callers | undefined
  readonly sample?: SampleCall | undefined
  readonly responses?: (() => Responses) | undefined
  readonly details?: (() => Details) | undefined
  /** Requests that bypass the policy. Used by the server's own routes only. */
  readonly openTo?: (request: HttpRequest) => boolean
  /** Called by monitoring all the time, so it is not logged. */
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
  /** Names of the path, query and body fields it reads; `raw` for a raw body. */
  readonly reads: readonly string[]
  /** Maximum size in bytes of a body that is not raw. */
  readonly bodyLimit: number
}

/** A `route` function for one kind of user and one set of services, with the rate limit of routes that have no other. */
export function routesFor<User, Services>({ limit }: { limit?: Limit } = {}) {
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
      limit: spec.limit ?? limit ?? (spec.auth === 'none' ? 'none' : 'user'),
      scope: spec.scope ?? usualScope(spec),
      faults: spec.faults ?? {},
      prefix: spec.prefix ?? false,
      resourceOf: spec.resourceOf,
      compatibility: spec.compatibility,
      callers: spec.callers,
      sample: spec.sample,
      responses: spec.responses,
      details: spec.details,
      // The server runs exactly these readers and this policy before the handler, so the types hold.
      handle: spec.handle as Route<User, Services>['handle'],
    }
  }
}

function usualScope({ method, path, auth }: { method: Method; path: string; auth: Policy }): ScopeNeeded {
  const ofOneLibrary = auth === 'user' && /^\/api(?:2|\/v2\.1)\/repos\/:repo_id\//.test(path)
  if (!ofOneLibrary) return 'none'
  return method === 'GET' ? 'read' : 'write'
}

/** The endpoints for the docs, in the order of declaration. */
export function endpointsOf(routes: readonly ListedRoute[]): Endpoint[] {
  return routes.map(({ method, path, auth, scope, summary, params, query, body, bodyLimit }) => {
    const fields = body === 'raw' ? ['raw'] : Object.keys(body)
    const reads = [...Object.keys(params), ...Object.keys(query), ...fields]
    return { method, path, auth, scope, summary, reads, bodyLimit }
  })
}

/** The fields of a route that the endpoint list needs. */
export type ListedRoute = Omit<Endpoint, 'reads'> & Pick<Route<never, never>, 'params' | 'query' | 'body'>
