import { availableParallelism } from 'node:os'
import type { Logger } from 'pino'
import { Gauge } from 'prom-client'
import { connectionsFor, descriptorLimit, refusalsFor } from '../../base/descriptor-limits.ts'
import type { Fault } from '../../base/errors.ts'
import type { Operation } from '../../base/scheduling/index.ts'
import { parsePublicUrl } from './base-url.ts'
import { BodyMemory, isLoopback } from './body-memory.ts'
import { parseTrustedProxies } from './client-address.ts'
import { Compression } from './compression.ts'
import type { Authenticate, AuthenticateSecret } from './credentials.ts'
import { Dispatcher, type LogRequest } from './dispatcher.ts'
import { FastTransport } from './fast/fast-transport.ts'
import { drain, type Listening, startListening } from './listen.ts'
import type { HttpMetrics } from './metrics.ts'
import type { CertificateFiles } from './node/certificate.ts'
import { NodeTransport } from './node/node-transport.ts'
import { PipelineQueue } from './pipeline-queue.ts'
import { ReceiveMemory } from './receive-memory.ts'
import { createRequestHandler, type Upgrade } from './request-handler.ts'
import { RequestsInFlight } from './requests-in-flight.ts'
import { ResponseMemory } from './response-memory.ts'
import { type Endpoint, endpointsOf, type ListedRoute, type ScopeNeeded } from './route.ts'
import { type CheckedRoute, checkRoutes } from './routing.ts'
import { baseHeaders, secureHeaders } from './security-headers.ts'
import { securityTxtRoute } from './security-txt.ts'
import type { Surface } from './surface.ts'
import { type Readiness, systemRoutes } from './system-routes.ts'
import { Throttle, type ThrottleOptions } from './throttle.ts'
import type { ConnectionTimeouts, ListenOptions, Transport, TransportOptions } from './transport.ts'

export interface HttpServerOptions<User, Services> {
  readonly surfaces: readonly Surface<User, Services>[]
  readonly services: Services
  readonly authenticate: Authenticate<User>
  /** Required if there are routes for library tokens. */
  readonly authenticateForLibrary?: Authenticate<User>
  /** Authenticates a WebDAV client by a name and a password, or a token. */
  readonly authenticateSecret?: AuthenticateSecret<User>
  readonly isAdmin: (user: User) => boolean
  /** Whether a route admits the credential of a user. Default: always. */
  readonly admits?: (user: User, scope: ScopeNeeded) => boolean
  /** The key of a user in rate limits and the log. */
  readonly userKey: (user: User) => string
  readonly rateLimit: ThrottleOptions
  /** Addresses and ranges of proxies whose forwarding headers are trusted. */
  readonly trustedProxies?: readonly string[]
  /** The base of links. Default: as the client addressed the server. */
  readonly publicUrl?: string | undefined
  readonly logger: Logger
  /** Default: the logger writes all lines. */
  readonly logRequest?: LogRequest
  readonly metrics: HttpMetrics
  /** Replaces the text of the metrics, with those of other processes of this server. */
  readonly metricsText?: (() => Promise<string>) | undefined
  /** Authorizes a program without an account to read `/metrics`. */
  readonly metricsToken?: string | undefined
  /** A URI for vulnerability reports. */
  readonly securityContact?: string | undefined
  readonly ready: () => Promise<Readiness>
  /** The fault behind an error that is none, such as that of a full disk. */
  readonly faultOf?: (error: unknown) => Fault | undefined
  /** Wraps the handling of each request, for code that needs its time of arrival or must hold its response back. */
  readonly inRequest?: <T>(
    handle: () => T,
    request: { asksForChange: boolean; key: () => string | undefined },
  ) => T
  /** Called when a request arrives. The result runs its handler, and is disposed of when its response is sent. */
  readonly beginOperation?: () => Operation
  /** Accepts protocol upgrades. Default: none are accepted. */
  readonly upgrade?: Upgrade
  /** Default: `fast`. */
  readonly transport?: TransportSetting
  readonly limits?: Partial<HttpLimits>
}

/** The transport: our own parser, or Node's, which with a certificate also serves HTTPS and HTTP/2. */
export type TransportSetting =
  | { readonly kind: 'fast' }
  | { readonly kind: 'node'; readonly certificate?: CertificateFiles | undefined }

/** Limits, timeouts, and the duration from which a request is logged as slow. */
interface HttpLimits extends ConnectionTimeouts {
  /** Requests that take longer are logged as slow, unless their body or response is streamed. */
  readonly slowMs: number
  /** Open connections. */
  readonly connections: number
  /** Of one address; also the concurrent requests of one address behind a trusted proxy. */
  readonly connectionsPerAddress: number
  /** Bytes of all buffered bodies, and as many of responses that are not taken yet. */
  readonly bodyMemory: number
  /** How long a body waits for memory. */
  readonly bodyMemoryWaitMs: number
  /** Bytes received and not read yet, of all connections. */
  readonly receiveMemory: number
  /** Responses that are compressed at the same time. Further ones are sent as they are. */
  readonly compressions: number
  /** Addresses that are exempt from the limit per address. */
  readonly isExempt: (address: string) => boolean
}

const defaultLimits: HttpLimits = {
  headersMs: 60_000,
  keepAliveMs: 75_000,
  idleMs: 120_000,
  checkMs: 10_000,
  slowMs: 1_000,
  leastRate: 100,
  rateWindowMs: 60_000,
  lingerMs: 600_000,
  connections: 10_000,
  connectionsPerAddress: 256,
  bodyMemory: 256_000_000,
  bodyMemoryWaitMs: 10_000,
  receiveMemory: 128 * 2 ** 20,
  // Half of the processors.
  compressions: Math.max(1, Math.floor(availableParallelism() / 2)),
  isExempt: isLoopback,
}

/** A server of routes, not yet listening. */
export interface HttpServer extends AsyncDisposable {
  /** Every route, for the docs and the compatibility report. */
  readonly endpoints: readonly Endpoint[]
  /** Connections that are open. */
  readonly connectionCount: number
  /** Rejects with a `ListenError`, whose message says how to fix it. */
  listen(options: ListenOptions): Promise<Listening>
  /**
   * Announces the stop, while requests are still served: `/readyz` answers that the server is draining, and each response closes its connection, so that a
   * proxy sends its next requests elsewhere.
   */
  drain(): void
  /**
   * Graceful stop: stops accepting, closes idle connections, and resolves when all requests in flight are complete. After
   * `waitMs` the remaining ones are aborted. May be called again.
   */
  close(options?: { waitMs?: number }): Promise<void>
}

/** Throws if a route is invalid (I8) or an option cannot be parsed. */
export function createHttpServer<User, Services>(options: HttpServerOptions<User, Services>): HttpServer {
  const limits = { ...defaultLimits, ...options.limits }
  let closing = false
  const { securityContact: contact, publicUrl, rateLimit } = options
  const securityTxt = securityTxtRoute({ contact, publicUrl, now: rateLimit.now })
  const system: Surface<User, Services> = {
    routes: [securityTxt, ...systemRoutes({ ...options, isDraining: () => closing })],
    faults: undefined,
  }
  const { transport: transportSetting = { kind: 'fast' } } = options
  const encrypts = transportSetting.kind === 'node' && transportSetting.certificate !== undefined
  // Behind a proxy with TLS, too. Browsers ignore the field on plain connections.
  const isSecure = encrypts || publicUrl?.startsWith('https:') === true
  const headers = isSecure ? { ...baseHeaders, ...secureHeaders } : baseHeaders
  const surfaces = [...options.surfaces, system].map((surface) => ({
    ...surface,
    headers: { ...headers, ...surface.headers },
  }))
  const routes = surfaces.flatMap((surface): readonly ListedRoute[] => surface.routes)
  checkRoutes(surfaces.flatMap((surface): readonly CheckedRoute[] => surface.routes))
  const trust = parseTrustedProxies(options.trustedProxies ?? [])
  const isExempt = (address: string) => limits.isExempt(address) || trust(address)
  const hasProxies = (options.trustedProxies ?? []).length > 0
  const bodyMemory = new BodyMemory({ total: limits.bodyMemory, waitMs: limits.bodyMemoryWaitMs })
  const responseMemory = new ResponseMemory(limits.bodyMemory)
  const throttle = new Throttle(rateLimit)
  const dispatcher = new Dispatcher<User, Services>({
    runtime: { ...options, throttle },
    site: {
      trust,
      publicUrl: options.publicUrl === undefined ? undefined : parsePublicUrl(options.publicUrl),
    },
    logger: options.logger,
    logRequest: options.logRequest,
    metrics: options.metrics,
    bodyMemory,
    responseMemory,
    headers,
    compression: new Compression(limits.compressions),
    inFlight: hasProxies || encrypts ? new RequestsInFlight(limits.connectionsPerAddress) : undefined,
    isExempt,
    slowMs: limits.slowMs,
  })
  const descriptors = descriptorLimit()
  const memory = new ReceiveMemory(limits.receiveMemory)
  const transport = createTransport(transportSetting, {
    ...limits,
    handler: createRequestHandler(surfaces, dispatcher, options.upgrade),
    limits: {
      connections: Math.min(limits.connections, connectionsFor(descriptors)),
      refusals: refusalsFor(descriptors),
      connectionsPerAddress: limits.connectionsPerAddress,
      isExempt,
    },
    memory,
    pipeline: new PipelineQueue(),
    isClosing: () => closing,
    onError: (error: unknown) => options.logger.error({ err: error }, 'a connection failed'),
  })
  registerLimits(options.metrics, transport, bodyMemory, responseMemory, memory)
  let closed: Promise<void> | undefined
  const close = ({ waitMs = 30_000 } = {}) => {
    closing = true
    throttle[Symbol.dispose]()
    closed ??= drain(transport, () => dispatcher.settled(), waitMs)
    return closed
  }
  return {
    endpoints: endpointsOf(routes),
    get connectionCount() {
      return transport.connectionCount
    },
    listen: (listening) => startListening(transport, listening),
    drain() {
      closing = true
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  }
}

function createTransport(setting: TransportSetting, options: TransportOptions): Transport {
  return setting.kind === 'fast'
    ? new FastTransport(options)
    : new NodeTransport(options, setting.certificate)
}

/** Registers gauges for the memory and connection limits. */
function registerLimits(
  { registry }: HttpMetrics,
  transport: Transport,
  bodies: BodyMemory,
  responses: ResponseMemory,
  received: ReceiveMemory,
): void {
  const gauges: [name: string, help: string, value: () => number][] = [
    ['carrel_http_connections', 'Connections that are open', () => transport.connectionCount],
    ['carrel_http_body_memory_bytes', 'Memory reserved for buffered bodies', () => bodies.used],
    ['carrel_http_body_memory_waiting', 'Requests that wait for memory for their body', () => bodies.waiting],
    ['carrel_http_unsent_bytes', 'Bytes of responses that clients have not taken yet', () => responses.used],
    ['carrel_http_unread_bytes', 'Bytes received and not read yet, of all connections', () => received.used],
  ]
  for (const [name, help, value] of gauges) {
    const gauge = new Gauge({
      name,
      help,
      registers: [],
      collect() {
        this.set(value())
      },
    })
    registry.registerMetric(gauge)
  }
}
