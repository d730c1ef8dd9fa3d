import type { Logger } from 'pino'
import { parsePublicUrl } from './base-url.ts'
import { parseTrustedProxies } from './client-address.ts'
import type { Authenticate } from './credentials.ts'
import { Dispatcher, type LogRequest } from './dispatcher.ts'
import { leading, type Upgrade } from './leading.ts'
import { drain, type Listening, startListening } from './listening.ts'
import type { HttpMetrics } from './metrics.ts'
import { type Endpoint, endpointsOf, type ScopeNeeded } from './route.ts'
import { type CheckedRoute, checkRoutes } from './routing.ts'
import type { Surface } from './surface.ts'
import { type Readiness, systemRoutes } from './system-routes.ts'
import { Throttle, type ThrottleOptions } from './throttle.ts'
import { WireServer } from './wire/wire-server.ts'

export interface HttpServerOptions<User, Services> {
  readonly surfaces: readonly Surface<User, Services>[]
  readonly services: Services
  readonly authenticate: Authenticate<User>
  /** Needed where there are routes for library tokens. */
  readonly authenticateForLibrary?: Authenticate<User>
  readonly isAdmin: (user: User) => boolean
  /** Whether the credential of a user is let into a route; without it, every one is. */
  readonly admits?: (user: User, scope: ScopeNeeded) => boolean
  /** What a user is counted by in throttles and named by in the log. */
  readonly userKey: (user: User) => string
  readonly rateLimit: ThrottleOptions
  /** Addresses and ranges of proxies whose forwarding headers are believed. */
  readonly trustedProxies?: readonly string[]
  /** The base of links handed out; without it, what the client called us. */
  readonly publicUrl?: string | undefined
  readonly logger: Logger
  /** Without it the logger writes all lines. */
  readonly logRequest?: LogRequest
  readonly metrics: HttpMetrics
  readonly ready: () => Promise<Readiness>
  /** Runs the handling of each request, for those who have to know when it arrived. */
  readonly inRequest?: <T>(handle: () => T) => T
  /** What takes connections that ask for another protocol; without it nobody does. */
  readonly upgrade?: Upgrade
  readonly limits?: Partial<HttpLimits>
}

/** How long a client may keep us waiting, and when we are slow ourselves. */
export interface HttpLimits {
  /** For all headers of a request. */
  readonly headersMs: number
  /** Between two requests on one connection. */
  readonly keepAliveMs: number
  /** Without a byte moving, while we wait for the client. */
  readonly idleMs: number
  /** How often `headersMs` is checked, at least. */
  readonly checkMs: number
  readonly slowMs: number
}

const defaultLimits: HttpLimits = {
  headersMs: 60_000,
  keepAliveMs: 75_000,
  idleMs: 120_000,
  checkMs: 10_000,
  slowMs: 1_000,
}

/** A server of routes, not yet listening. */
export interface HttpServer extends AsyncDisposable {
  /** Every route, for the docs and the compatibility report. */
  readonly endpoints: readonly Endpoint[]
  /** Rejects with a `ListenError` that says what to do. */
  listen(where: { host: string; port: number }): Promise<Listening>
  /**
   * Stops accepting, closes connections that wait for nothing, and resolves when all that runs is answered, or
   * after `waitMs` by cutting off what is left. May be called again.
   */
  close(options?: { waitMs?: number }): Promise<void>
}

/** Throws if a route is not fit to be served (I8) or an option cannot be read. */
export function createHttpServer<User, Services>(options: HttpServerOptions<User, Services>): HttpServer {
  const limits = { ...defaultLimits, ...options.limits }
  let closing = false
  const system = { routes: systemRoutes(options.metrics, options.ready), faults: {} }
  const surfaces = [...options.surfaces, system]
  const routes = surfaces.flatMap((surface): readonly Endpoint[] => surface.routes)
  checkRoutes(surfaces.flatMap((surface): readonly CheckedRoute[] => surface.routes))
  const dispatcher = new Dispatcher<User, Services>({
    runtime: { ...options, throttle: new Throttle(options.rateLimit) },
    site: {
      trust: parseTrustedProxies(options.trustedProxies ?? []),
      publicUrl: options.publicUrl === undefined ? undefined : parsePublicUrl(options.publicUrl),
    },
    logger: options.logger,
    logRequest: options.logRequest,
    metrics: options.metrics,
    slowMs: limits.slowMs,
  })
  const rules = {
    ...limits,
    ...leading(surfaces, dispatcher, options.upgrade),
    isClosing: () => closing,
  }
  const server = new WireServer(rules, limits.checkMs)
  let closed: Promise<void> | undefined
  const close = ({ waitMs = 30_000 } = {}) => {
    closing = true
    closed ??= drain(server, () => dispatcher.settled(), waitMs)
    return closed
  }
  return {
    endpoints: endpointsOf(routes),
    listen: (where) => startListening(server, where),
    close,
    [Symbol.asyncDispose]: () => close(),
  }
}
