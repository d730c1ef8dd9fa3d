import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import { DomainError } from '../../base/errors.ts'
import { type Operation, Overdue } from '../../base/scheduling/index.ts'
import { HttpResponse } from '../responses/index.ts'
import type { Site } from './base-url.ts'
import { type BodyMemory, busy } from './body-memory.ts'
import { plainAddress } from './client-address.ts'
import type { Compression } from './compression.ts'
import { type Exchange, type Runtime, run } from './exchange.ts'
import type { HttpMetrics } from './metrics.ts'
import { ClientDisconnected, HttpRequest } from './request.ts'
import type { RequestsInFlight } from './requests-in-flight.ts'
import type { ResponseMemory } from './response-memory.ts'
import type { Route } from './route.ts'
import type { Segments } from './router.ts'
import { DefaultHeaders } from './security-headers.ts'
import { discard, send } from './send.ts'
import { type ErrorResponses, plainFailure, responseToThrown } from './surface.ts'
import type { IncomingRequest, RequestHead, ResponseWriter } from './transport.ts'

/** They ask for no change (RFC 9110, 9.2.1; RFC 4918, 9.1). */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PROPFIND'])

/** Writes the log line of an ordinary request. `members` are the members of a JSON object. */
export type LogRequest = (members: string) => void

/** The options of a dispatcher in addition to the `Runtime` of routes. */
interface DispatcherOptions<User, Services> {
  readonly runtime: Runtime<User, Services>
  readonly site: Site
  readonly logger: Logger
  /** Default: the logger writes all lines. */
  readonly logRequest?: LogRequest | undefined
  readonly metrics: HttpMetrics
  readonly bodyMemory: BodyMemory
  readonly responseMemory: ResponseMemory
  /** Default headers of responses to requests that no route matches. */
  readonly headers: Readonly<Record<string, string>>
  readonly compression: Compression
  /** Counts the concurrent requests of clients behind trusted proxies and over HTTP/2; undefined if there can be neither. */
  readonly inFlight: RequestsInFlight | undefined
  /** Addresses whose requests over HTTP/2 are not counted. */
  readonly isExempt: (address: string) => boolean
  /** Slower responses, except streams, are logged as warnings. */
  readonly slowMs: number
}

/** Runs a matched route, sends its response, and records the log line and the metrics. */
export class Dispatcher<User, Services> {
  readonly #options: DispatcherOptions<User, Services>
  readonly #idPrefix = randomBytes(6).toString('hex')
  /** By the headers of a surface. */
  readonly #defaults = new WeakMap<Readonly<Record<string, string>>, DefaultHeaders>()
  #count = 0
  #running = 0
  #idle: PromiseWithResolvers<void> | undefined

  constructor(options: DispatcherOptions<User, Services>) {
    this.#options = options
  }

  serve(
    surface: ErrorResponses,
    route: Route<User, Services>,
    segments: Segments,
    incoming: IncomingRequest,
    response: ResponseWriter,
  ): Promise<void> | undefined {
    this.#running += 1
    const operation = this.#options.runtime.beginOperation?.()
    const exchange = this.#begin(route.path, incoming, response, route.isProbe)
    exchange.streams = route.body === 'raw'
    let leave: (() => void) | undefined
    let result: HttpResponse | undefined | Promise<HttpResponse>
    try {
      leave = this.#countConcurrent(exchange)
      if (this.#options.responseMemory.isExhausted(exchange.request.address)) throw busy()
      const { runtime } = this.#options
      const serve = () => run(exchange, route, segments, runtime)
      const handle = operation === undefined ? serve : () => operation.run(serve)
      result =
        runtime.inRequest === undefined
          ? handle()
          : runtime.inRequest(handle, {
              asksForChange: !SAFE_METHODS.has(incoming.head.method),
              key: () => keyOf(incoming.head, route.resourceOf),
            })
    } catch (thrown) {
      result = this.#responseTo(thrown, exchange, surface, route)
    }
    if (result instanceof Promise) {
      return result.then(
        (result) => this.#finish(exchange, result, surface, operation, leave),
        (thrown) =>
          this.#finish(
            exchange,
            this.#responseTo(thrown, exchange, surface, route),
            surface,
            operation,
            leave,
            thrown instanceof Overdue ? thrown.work : undefined,
          ),
      )
    }
    this.#finish(exchange, result, surface, operation, leave)
    return undefined
  }

  #finish(
    exchange: Exchange,
    result: HttpResponse | undefined,
    surface: ErrorResponses,
    operation: Operation | undefined,
    leave: (() => void) | undefined,
    late?: Promise<unknown>,
  ): void {
    if (late === undefined) exchange.request.releaseBody()
    if (leave !== undefined) {
      if (exchange.response.isClosed) leave()
      else exchange.response.onClose(leave)
    }
    // An event stream reads no stored content, and does not end by itself.
    if (isEventStream(result)) operation?.[Symbol.dispose]()
    const sending =
      result === undefined ? undefined : this.#compressAndSend(exchange, result, surface.headers)
    if (result === undefined) exchange.response.destroy()
    const isOver = () => {
      operation?.[Symbol.dispose]()
      this.#countOut()
    }
    // The handler goes on after its answer, with its body, and gc keeps what it has named.
    if (late !== undefined) void Promise.all([sending, this.#outwait(late, exchange)]).then(isOver)
    else if (sending === undefined) isOver()
    else void sending.then(isOver)
  }

  /** Never rejects. */
  async #outwait(late: Promise<unknown>, { request }: Exchange): Promise<void> {
    const result = await late.catch(() => undefined)
    request.releaseBody()
    if (result instanceof HttpResponse) await discard(result)
  }

  /**
   * Counts a request that is not limited by its connection: of a client behind a proxy, or one of several on an HTTP/2 connection. Throws a refusal
   * if the client has too many. The returned function is to be called when the handler has ended and the response is sent or the client is gone.
   */
  #countConcurrent({ request, incoming }: Exchange): (() => void) | undefined {
    const { inFlight, isExempt, site } = this.#options
    if (inFlight === undefined) return undefined
    const peer = plainAddress(request.peer ?? '')
    const counts = site.trust(peer) || (incoming.isMultiplexed === true && !isExempt(peer))
    return counts ? inFlight.enter(request.address) : undefined
  }

  #countOut(): void {
    this.#running -= 1
    if (this.#running === 0) this.#idle?.resolve()
  }

  /** Responds to a request that no route matches. */
  send(result: HttpResponse, incoming: IncomingRequest, response: ResponseWriter): void {
    void this.#send(this.#begin('unknown', incoming, response), result)
  }

  /**
   * Resolves when no handler runs, not even for a client that has disconnected. Called after the server
   * stopped accepting.
   */
  settled(): Promise<void> {
    if (this.#running === 0) return Promise.resolve()
    this.#idle ??= Promise.withResolvers()
    return this.#idle.promise
  }

  #begin(pattern: string, incoming: IncomingRequest, response: ResponseWriter, isProbe = false): Exchange {
    const { bodyMemory, metrics, site } = this.#options
    const started = performance.now()
    const request = new HttpRequest(this.#requestId(incoming), incoming, response, site, bodyMemory)
    // Read now for the log, because a closed socket may not know its peer any more.
    const { address } = request
    const exchange: Exchange = {
      request,
      incoming,
      response,
      pattern,
      userKey: undefined,
      streams: false,
      result: undefined,
    }
    metrics.started()
    response.onClose(() => {
      // A response still being sent is left to the garbage collector.
      if (response.isSent) exchange.result?.release?.()
      this.#ended(exchange, address, performance.now() - started, isProbe)
    })
    return exchange
  }

  /** Undefined if the client is gone. */
  #responseTo(
    thrown: unknown,
    exchange: Exchange,
    surface: ErrorResponses,
    route: Route<User, Services>,
  ): HttpResponse | undefined {
    // What also failed while the handler released what it held changes nothing for the client.
    let first = thrown
    for (; first instanceof SuppressedError; first = first.suppressed) this.#logFailure(first.error, exchange)
    if (isDisconnect(first, exchange.request)) return undefined
    try {
      const known = responseToThrown(first, surface, route.faults)
      if (known !== undefined) {
        const { userKey, request } = exchange
        if (userKey === undefined && isRefused(known.status)) {
          this.#options.runtime.throttle.countRefused(route, request)
        }
        return known
      }
      this.#logFailure(first, exchange)
      const fault = this.#options.runtime.faultOf?.(first)
      if (fault !== undefined) {
        const told = responseToThrown(new DomainError(fault), surface, route.faults)
        if (told !== undefined) return told
      }
      return surface.onUnknownError?.(first, exchange.request) ?? plainFailure()
    } catch (error) {
      this.#logFailure(error, exchange)
      return plainFailure()
    }
  }

  /** Like `#send`, compressed if the client accepts that. */
  #compressAndSend(
    exchange: Exchange,
    result: HttpResponse,
    surfaceHeaders: ErrorResponses['headers'],
  ): Promise<void> | undefined {
    const { compression } = this.#options
    const coded = compression.apply(exchange.request, exchange.pattern, result)
    if (!(coded instanceof Promise)) return this.#send(exchange, coded, surfaceHeaders)
    return coded.then((response) => this.#send(exchange, response, surfaceHeaders))
  }

  /** Never rejects; not a promise if there is nothing to wait for. */
  #send(
    exchange: Exchange,
    result: HttpResponse,
    surfaceHeaders = this.#options.headers,
  ): Promise<void> | undefined {
    const { response, request } = exchange
    if (response.isClosed) return discard(result)
    const headers = ['X-Request-Id', request.id]
    // RFC 9110, 11.6.1 requires it. Browsers show no dialog for a scheme they do not know.
    if (result.status === 401 && result.headers['WWW-Authenticate'] === undefined) {
      headers.push('WWW-Authenticate', 'Token')
    }
    const { responseMemory } = this.#options
    const bytes = bytesOf(result)
    const { address } = request
    // A change that was made is acknowledged in any case.
    if (!responseMemory.mayHold(bytes, address, exchange.userKey) && SAFE_METHODS.has(request.method)) {
      result.release?.()
      result = busy().toResponse()
    }
    exchange.result = result
    const defaults = this.#defaultsOf(surfaceHeaders)
    try {
      const sending = send(response, request.method, result, headers, defaults.without(result.headers))
      if (sending === undefined) {
        if (!response.isSent && !response.isClosed) {
          response.onClose(responseMemory.hold(bytes, address, exchange.userKey))
        }
        return undefined
      }
      exchange.streams = true
      return sending.catch((error) => this.#sendFailure(error, exchange, headers, defaults))
    } catch (error) {
      return this.#sendFailure(error, exchange, headers, defaults)
    }
  }

  #defaultsOf(given: Readonly<Record<string, string>>): DefaultHeaders {
    let defaults = this.#defaults.get(given)
    if (defaults === undefined) this.#defaults.set(given, (defaults = new DefaultHeaders(given)))
    return defaults
  }

  async #sendFailure(
    error: unknown,
    exchange: Exchange,
    headers: readonly string[],
    defaults: DefaultHeaders,
  ): Promise<void> {
    const { response, request } = exchange
    if (!isDisconnect(error, request)) this.#logFailure(error, exchange)
    if (response.isBegun) response.destroy()
    else {
      try {
        const failure = plainFailure()
        await send(response, request.method, failure, headers, defaults.without(failure.headers))
      } catch {
        response.destroy()
      }
    }
  }

  #ended(
    { request, response, pattern, streams, userKey }: Exchange,
    address: string,
    ms: number,
    isProbe: boolean,
  ): void {
    const { logger, logRequest, metrics, slowMs } = this.#options
    // 499 is the usual status in proxy logs for a client that disconnected early.
    const status = response.isSent ? response.status : 499
    metrics.ended(pattern, request.method, status, ms / 1000)
    const isSlow = ms > slowMs && !streams
    const level = isSlow ? 'warn' : isProbe ? 'debug' : 'info'
    if (!logger.isLevelEnabled(level)) return
    // The pattern, not the path: paths and queries contain private file names and tokens.
    const { id, method } = request
    const rounded = Math.round(ms * 10) / 10
    if (level === 'info' && logRequest !== undefined) {
      const user = userKey === undefined ? '' : `,"user":${JSON.stringify(userKey)}`
      logRequest(
        `"method":"${method}","route":"${pattern}","status":${status},"ms":${rounded},"address":"${address}","request":"${id}"${user}`,
      )
      return
    }
    const line = { method, route: pattern, status, ms: rounded, address, request: id, user: userKey }
    logger[level](line, isSlow ? 'slow request' : 'request')
  }

  #logFailure(error: unknown, { request, pattern }: Exchange): void {
    const { id, method } = request
    this.#options.logger.error({ err: error, request: id, method, route: pattern }, 'request failed')
  }

  /** A new id, unless a trusted proxy already assigned one. */
  #requestId({ head, socket }: IncomingRequest): string {
    const sent = head.headers.one('x-request-id')
    if (sent !== undefined && /^[\w.-]{1,64}$/.test(sent)) {
      if (this.#options.site.trust(plainAddress(socket.remoteAddress ?? ''))) return sent
    }
    this.#count += 1
    return `${this.#idPrefix}-${this.#count.toString(36)}`
  }
}

/** Whether an error was only caused by a client disconnect. */
function isDisconnect(thrown: unknown, request: HttpRequest): boolean {
  if (!(thrown instanceof Error) || !request.isAbandoned) return thrown instanceof ClientDisconnected
  if (thrown instanceof ClientDisconnected || thrown.name === 'AbortError') return true
  return 'code' in thrown && /^(?:ECONNRESET|EPIPE|ERR_STREAM_)/.test(String(thrown.code))
}

function isEventStream(result: HttpResponse | undefined): boolean {
  return String(result?.headers['Content-Type'] ?? '').startsWith('text/event-stream')
}

/** Bytes of a body in memory. */
function bytesOf({ body }: HttpResponse): number {
  return typeof body === 'string' || Buffer.isBuffer(body) ? body.length : 0
}

/** Whether a response tells that a credential was refused, or nothing is there for it. */
function isRefused(status: number): boolean {
  return status >= 400 && status < 500 && status !== 429
}

/** Requests for resources with longer URLs have no key. */
const MAX_KEY_URL = 500

/** Equal for requests of one client for one resource. */
function keyOf(
  { method, url, headers }: RequestHead,
  resourceOf: ((url: string) => string) | undefined,
): string | undefined {
  const resource = resourceOf === undefined ? url : resourceOf(url)
  if (resource.length > MAX_KEY_URL) return undefined
  return `${method} ${resource} ${headers.one('authorization') ?? headers.one('seafile-repo-token') ?? ''}`
}
