import { once } from 'node:events'
import {
  createServer as createHttp1Server,
  type Server as Http1Server,
  type IncomingMessage,
} from 'node:http'
import { createServer as createHttp2Server, type Http2Server, type ServerHttp2Session } from 'node:http2'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, TLSSocket, type Server as TlsServer } from 'node:tls'
import { ConnectionLimiter } from '../connection-limiter.ts'
import { ProtocolError } from '../protocol-error.ts'
import {
  type ConnectionSource,
  KEEP_ALIVE_GRACE_MS,
  type ListenOptions,
  MAX_HEAD_BYTES,
  MAX_HEADER_FIELDS,
  type Transport,
  type TransportOptions,
} from '../transport.ts'
import { type CertificateFiles, loadCertificate, watchCertificate } from './certificate.ts'
import { Http1Connection, PausableMessage } from './http1-connection.ts'
import { Http2Connection, MAX_STREAMS } from './http2-connection.ts'
import { readHead } from './node-head.ts'
import { ResetLimiter } from './stream-resets.ts'

/** How often connections are checked for slow clients, at least. */
const SWEEP_MS = 2000
/** Bytes of one HTTP/2 request body that may be received ahead of its reader. */
const STREAM_WINDOW_BYTES = 256 * 1024
/** Invalid or empty frames after which an HTTP/2 connection is closed. */
const MAX_INVALID_FRAMES = 100

/**
 * HTTP with Node's own implementation: HTTP/1.1 on plain connections; with a certificate HTTPS, where clients may choose
 * HTTP/2.
 */
export class NodeTransport implements Transport {
  readonly scheme: 'http' | 'https'
  readonly #options: TransportOptions
  readonly #limiter: ConnectionLimiter
  readonly #resets: ResetLimiter
  readonly #listener: Server
  readonly #http1: Http1Server
  readonly #http2: Http2Server | undefined
  readonly #tls: TlsServer | undefined
  readonly #http1Connections = new Map<Socket, Http1Connection>()
  readonly #http2Connections = new Map<ServerHttp2Session, Http2Connection>()
  /** Connections whose TLS handshake is not complete, by the address and port of the client. */
  readonly #handshakes = new Map<string, Socket>()
  #sweep: NodeJS.Timeout | undefined
  #watch: Disposable | undefined
  #source: ConnectionSource | undefined

  /** Throws a `CertificateError` if the files cannot be used. */
  constructor(options: TransportOptions, certificate: CertificateFiles | undefined) {
    this.#options = options
    this.#limiter = new ConnectionLimiter(options.limits)
    this.#resets = new ResetLimiter(options.limits)
    this.scheme = certificate === undefined ? 'http' : 'https'
    this.#http1 = this.#createHttp1()
    if (certificate !== undefined) {
      this.#http2 = this.#createHttp2()
      this.#tls = this.#createTls(certificate)
    }
    // Without half-open connections, Node would close the connection when the client ends its side.
    this.#listener = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#accept(socket))
    this.#listener.once('listening', () => {
      // A connection that cannot be accepted for want of descriptors or memory is lost; the server goes on.
      this.#listener.on('error', (error) => options.onError(error))
      const everyMs = Math.min(SWEEP_MS, options.keepAliveMs, options.checkMs)
      this.#sweep = setInterval(() => this.#sweepConnections(), everyMs).unref()
    })
    this.#listener.once('close', () => clearInterval(this.#sweep))
  }

  async listen({ source, ...where }: ListenOptions): Promise<Pick<AddressInfo, 'address' | 'port'>> {
    if (source !== undefined) {
      this.#source = source
      const bound = await source.listen(where, (socket) => this.#listener.emit('connection', socket))
      this.#listener.emit('listening')
      return bound
    }
    this.#listener.listen(where)
    await once(this.#listener, 'listening')
    return this.#listener.address() as AddressInfo
  }

  get connectionCount(): number {
    return this.#limiter.count
  }

  async close(): Promise<void> {
    this.#source?.close?.()
    this.#watch?.[Symbol.dispose]()
    // A server that never listened reports an error here, and is closed all the same.
    await new Promise<void>((resolve) => this.#listener.close(() => resolve()))
    await this.#limiter.empty()
  }

  closeIdle(): void {
    for (const connection of this.#http1Connections.values())
      if (!connection.isAnswering) connection.destroy()
    for (const connection of this.#http2Connections.values()) {
      if (connection.isAnswering) connection.close()
      else connection.destroy()
    }
    for (const socket of this.#handshakes.values()) socket.destroy()
  }

  closeAll(): void {
    for (const connection of this.#http1Connections.values()) connection.destroy()
    for (const connection of this.#http2Connections.values()) connection.destroy()
    for (const socket of this.#handshakes.values()) socket.destroy()
  }

  #accept(socket: Socket): void {
    // Connections that came during the start have had their handshake.
    const isEncrypted = socket instanceof TLSSocket
    const tls = isEncrypted ? undefined : this.#tls
    if (!this.#limiter.admit(socket, tls === undefined)) return
    if (tls === undefined) this.#addHttp1(socket, isEncrypted)
    else {
      socket.on('error', () => {})
      const peer = peerOf(socket)
      this.#handshakes.set(peer, socket)
      socket.once('close', () => {
        if (this.#handshakes.get(peer) === socket) this.#handshakes.delete(peer)
      })
      tls.emit('connection', socket)
    }
  }

  #addHttp1(socket: Socket, isEncrypted: boolean): void {
    const connection = new Http1Connection(socket, isEncrypted, this.#options)
    this.#http1Connections.set(socket, connection)
    socket.once('close', () => this.#http1Connections.delete(socket))
    this.#http1.emit('connection', socket)
  }

  #createHttp1(): Http1Server {
    const { idleMs, keepAliveMs } = this.#options
    const server = createHttp1Server({
      IncomingMessage: PausableMessage,
      insecureHTTPParser: false,
      maxHeaderSize: MAX_HEAD_BYTES,
      keepAliveTimeout: keepAliveMs,
      keepAliveTimeoutBuffer: Math.min(KEEP_ALIVE_GRACE_MS, keepAliveMs),
      // Checked with the other fields, so that the error has our format.
      requireHostHeader: false,
      shouldUpgradeCallback: (request: IncomingMessage) => this.#acceptsUpgrade(request),
    })
    // Fields beyond this number would be dropped silently, so all are read, and too many are an error.
    server.maxHeadersCount = 0
    server.timeout = idleMs
    // Responses to pipelined requests are still sent after the client has ended its side.
    Object.assign(server, { httpAllowHalfOpen: true })
    const connectionOf = (socket: Socket) => this.#http1Connections.get(socket)
    const serve = (request: IncomingMessage, response: Parameters<Http1Connection['onRequest']>[1]) => {
      this.#guard(request.socket, () => connectionOf(request.socket)?.onRequest(request, response))
    }
    server.on('request', serve).on('checkContinue', serve).on('checkExpectation', serve)
    server.on('clientError', (error, socket) => connectionOf(socket as Socket)?.onClientError(error))
    server.on('timeout', (socket) => connectionOf(socket)?.onIdle())
    server.on('connect', (_request, socket) => connectionOf(socket as Socket)?.onConnect())
    server.on('upgrade', (request, socket, rest) => {
      this.#guard(socket as Socket, () => connectionOf(socket as Socket)?.onUpgrade(request, rest))
    })
    return server
  }

  /** An invalid head accepts nothing: it is served as a request, and refused there. An error here would be uncaught. */
  #acceptsUpgrade(request: IncomingMessage): boolean {
    if (request.httpVersion !== '1.1' || request.method !== 'GET') return false
    try {
      return this.#options.handler.acceptsUpgrade(readHead(request))
    } catch (error) {
      if (!(error instanceof ProtocolError)) this.#options.onError(error)
      return false
    }
  }

  #createHttp2(): Http2Server {
    const server = createHttp2Server({
      maxHeaderListPairs: MAX_HEADER_FIELDS,
      maxSessionInvalidFrames: MAX_INVALID_FRAMES,
      maxSessionRejectedStreams: MAX_STREAMS,
      settings: {
        maxConcurrentStreams: MAX_STREAMS,
        initialWindowSize: STREAM_WINDOW_BYTES,
        maxHeaderListSize: MAX_HEAD_BYTES,
        enablePush: false,
      },
    })
    server.on('sessionError', () => {})
    return server
  }

  #createTls(files: CertificateFiles): TlsServer {
    const server = createTlsServer({
      ...loadCertificate(files),
      ALPNProtocols: ['h2', 'http/1.1'],
      minVersion: 'TLSv1.2',
      handshakeTimeout: this.#options.headersMs,
      allowHalfOpen: true,
    })
    server.on('tlsClientError', (_error, socket) => socket.destroy())
    server.on('secureConnection', (socket) => this.#onSecure(socket))
    const onError = (error: unknown) => this.#options.onError(error)
    const { checkMs } = this.#options
    this.#watch = watchCertificate(files, (context) => server.setSecureContext(context), onError, checkMs)
    return server
  }

  #onSecure(socket: TLSSocket): void {
    this.#handshakes.delete(peerOf(socket))
    if (socket.alpnProtocol !== 'h2') {
      this.#addHttp1(socket, true)
      return
    }
    this.#http2?.once('session', (session) => {
      const resets = this.#resets.of(socket.remoteAddress)
      const connection = new Http2Connection(session, socket, this.#options, resets)
      this.#http2Connections.set(session, connection)
      session.once('close', () => {
        this.#http2Connections.delete(session)
        socket.destroy()
      })
    })
    this.#http2?.emit('connection', socket)
  }

  /** A bug costs its connection, and no other. */
  #guard(socket: Socket, run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#options.onError(error)
      socket.destroy()
    }
  }

  #sweepConnections(): void {
    const now = performance.now()
    for (const connection of this.#http1Connections.values()) connection.sweep(now)
    for (const connection of this.#http2Connections.values()) connection.sweep(now)
  }
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
