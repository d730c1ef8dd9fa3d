import type { Fault } from '../../base/errors.ts'
import { type MaybePromise, type Operation, whenReady } from '../../base/scheduling/index.ts'
import { Fields, type Readers, type Values } from '../input/index.ts'
import { HttpResponse, jsonResponse, notFound, Refusal } from '../responses/index.ts'
import { parseBody, readBody } from './body.ts'
import {
  type Authenticate,
  type AuthenticateSecret,
  libraryTokenRefusal,
  notPermitted,
  outOfScope,
  readApiToken,
  readSecret,
  secretRefusal,
  tokenRefusal,
} from './credentials.ts'
import { ClientDisconnected, type HttpRequest } from './request.ts'
import type { Route, ScopeNeeded } from './route.ts'
import type { Segments } from './router.ts'
import type { Throttle } from './throttle.ts'
import type { IncomingRequest, ResponseWriter } from './transport.ts'

/** The services and callbacks that routes need. */
export interface Runtime<User, Services> {
  readonly services: Services
  readonly authenticate: Authenticate<User>
  /** Authenticates a library token. */
  readonly authenticateForLibrary?: Authenticate<User>
  /** Authenticates a WebDAV client. */
  readonly authenticateSecret?: AuthenticateSecret<User>
  readonly isAdmin: (user: User) => boolean
  /** Whether the credential of a user is admitted to a route that requires `scope`. */
  readonly admits?: (user: User, scope: ScopeNeeded) => boolean
  readonly userKey: (user: User) => string
  readonly throttle: Throttle
  /** The fault behind an error that is none, such as that of a full disk. It is logged all the same. */
  readonly faultOf?: ((error: unknown) => Fault | undefined) | undefined
  /** Wraps the handling of a request, until its response is complete or starts to stream. */
  readonly inRequest?: <T>(
    handle: () => T,
    request: { asksForChange: boolean; key: () => string | undefined },
  ) => T
  /** Called when a request arrives. The result runs its handler, and is disposed of when its response is sent. */
  readonly beginOperation?: () => Operation
}

/** One request and its response, with the fields of its log line and metrics. */
export interface Exchange {
  readonly request: HttpRequest
  readonly incoming: IncomingRequest
  readonly response: ResponseWriter
  /** The path pattern of the route, with the names of its segments. */
  readonly pattern: string
  /** Set once the caller is authenticated. */
  userKey: string | undefined
  /** Whether its duration depends on the size of a file, so that it is not logged as slow. */
  streams: boolean
  /** Set once the response is being sent. */
  result: HttpResponse | undefined
}

/**
 * Runs a route: rate limit by address, credentials, rate limit by account, path, query, body, handler. In this order an
 * unauthenticated client costs little and learns nothing. Throws, at once or later, the faults that the surface turns
 * into responses. A value that is available is not awaited, because each await costs microseconds.
 */
export function run<User, Services>(
  exchange: Exchange,
  route: Route<User, Services>,
  segments: Segments,
  runtime: Runtime<User, Services>,
): HttpResponse | Promise<HttpResponse> {
  const { request } = exchange
  runtime.throttle.byAddress(route, request)
  const isOpen = route.auth === 'none' || route.openTo?.(request) === true
  if (isOpen) return runFor(undefined, exchange, route, segments, runtime)
  return whenReady(signIn(exchange, route, runtime), (user) => {
    // Nothing is begun for a client that left while its credentials were checked.
    if (exchange.response.isAbandoned) throw new ClientDisconnected()
    return runFor(user, exchange, route, segments, runtime)
  })
}

/** After authentication. */
function runFor<User, Services>(
  user: User | undefined,
  exchange: Exchange,
  route: Route<User, Services>,
  segments: Segments,
  { services }: Runtime<User, Services>,
): HttpResponse | Promise<HttpResponse> {
  const { request, incoming } = exchange
  const params = readSegments(route.params, segments)
  const query = readAll(route.query, request.queryFields)
  const handle = (body: unknown) => {
    const handled = route.handle({ user, params, query, body, request }, services)
    return handled instanceof Promise ? handled.then(toResponse) : toResponse(handled)
  }
  if (route.body === 'raw') return handle(incoming.body)
  const { body: readers } = route
  const handleFields = () => handle(readAll(readers, request.bodyFields))
  if (route.method === 'GET' || incoming.body.length === 0) return handleFields()
  const takeFields = (fields: Fields) => {
    request.bodyFields = fields
    return handleFields()
  }
  const take = (bytes: Buffer) => {
    const fields = parseBody(request.header('content-type'), bytes)
    return fields instanceof Promise ? fields.then(takeFields) : takeFields(fields)
  }
  const bytes = readBody(incoming.body, route.bodyLimit, request.bodyClaim)
  return bytes instanceof Promise ? bytes.then(take) : take(bytes)
}

function toResponse(result: unknown): HttpResponse {
  return result instanceof HttpResponse ? result : jsonResponse(200, result)
}

function signIn<User, Services>(
  exchange: Exchange,
  route: Route<User, Services>,
  runtime: Runtime<User, Services>,
): MaybePromise<User> {
  const { request } = exchange
  if (route.auth === 'library') return signInToLibrary(exchange, route, runtime)
  if (route.auth === 'webdav') return signInBySecret(exchange, route, runtime)
  const apiToken = readApiToken(request.header('authorization'))
  return whenReady(runtime.authenticate(apiToken, request), (found) => {
    if (found.kind !== 'user') throw tokenRefusal(found.kind)
    return admitted(found.user, exchange, route, runtime)
  })
}

async function signInBySecret<User, Services>(
  exchange: Exchange,
  route: Route<User, Services>,
  runtime: Runtime<User, Services>,
): Promise<User> {
  const { request } = exchange
  const found = await runtime.authenticateSecret?.(readSecret(request.header('authorization')), request)
  if (found?.kind !== 'user') throw secretRefusal()
  return admitted(found.user, exchange, route, runtime)
}

/** The user of a valid credential. Throws a refusal if the route needs another role or scope, or the user sends too many requests. */
function admitted<User, Services>(
  user: User,
  exchange: Exchange,
  route: Route<User, Services>,
  { isAdmin, admits, throttle, userKey }: Runtime<User, Services>,
): User {
  exchange.userKey = userKey(user)
  if (route.auth === 'admin' && !isAdmin(user)) throw notPermitted()
  if (admits?.(user, route.scope) === false) throw outOfScope()
  throttle.byAccount(route, exchange.userKey)
  exchange.request.chargeTo(exchange.userKey)
  return user
}

async function signInToLibrary<User, Services>(
  exchange: Exchange,
  route: Route<User, Services>,
  { authenticateForLibrary, throttle, userKey }: Runtime<User, Services>,
): Promise<User> {
  const { request } = exchange
  const found = await authenticateForLibrary?.(readApiToken(request.header('authorization')), request)
  if (found?.kind !== 'user') throw libraryTokenRefusal()
  exchange.userKey = userKey(found.user)
  throttle.byAccount(route, exchange.userKey)
  request.chargeTo(exchange.userKey)
  return found.user
}

/** An invalid segment cannot name an existing item, so the response is 404. */
function readSegments(readers: Readers, segments: Segments): Values<Readers> {
  if (isEmpty(readers)) return nothing
  try {
    return readAll(readers, new Fields(segments))
  } catch (error) {
    throw error instanceof Refusal ? notFound() : error
  }
}

function readAll(readers: Readers, fields: Fields): Values<Readers> {
  if (isEmpty(readers)) return nothing
  const values: Record<string, unknown> = {}
  for (const name in readers) values[name] = readers[name]?.(fields, name)
  return values
}

const nothing: Values<Readers> = Object.freeze({})

function isEmpty(readers: Readers): boolean {
  for (const _ in readers) return false
  return true
}
