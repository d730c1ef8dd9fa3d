import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls'
import { ListenError } from './listen.ts'
import { type CertificateFiles, loadCertificate } from './node/certificate.ts'
import { type ConnectionSource, RETRY_SECONDS } from './transport.ts'

/** Connections that wait for the end of the start. Those beyond are closed. */
const MAX_WAITING = 1000
/** Longer than a start takes without a step of the schema, and less than the time limits of proxies. */
const MAX_WAIT_MS = 30_000
/** For a TLS handshake. */
const HANDSHAKE_MS = 10_000
/** A request line is known after as many bytes, or is none of a probe. */
const MAX_LINE_BYTES = 1024

const PROBE = /^GET \/(healthz|readyz)(?:\?\S*)? HTTP\/1\.[01]\r?\n/

/** A connection that was accepted before the server could serve it. */
interface Waiting {
  /** Read to find out whether it is a probe. */
  bytes: Buffer
  readonly onReadable: () => void
  /** The client has ended its side before it sent a request line. */
  readonly onEnd: () => void
  readonly timer: NodeJS.Timeout
}

interface StartingPortOptions {
  /** Replaces the limit, in tests. */
  readonly maxWaitMs?: number
  readonly certificate?: CertificateFiles | undefined
  /** Listens for this process. Default: the process listens itself. */
  readonly source?: ConnectionSource | undefined
}

/**
 * Listens while the server starts: answers `/readyz` with `starting` and `/healthz` with 200. Other requests wait for the end of the start, so that a restart
 * fails none, and are answered with 503 if it takes too long. Then all connections are passed on.
 */
export class StartingPort implements ConnectionSource, AsyncDisposable {
  readonly #source: ConnectionSource
  readonly #waiting = new Map<Socket, Waiting>()
  /** Connections below TLS, until they are closed. */
  readonly #handshakes = new Set<Socket>()
  readonly #maxWaitMs: number
  readonly #tls: TlsServer | undefined
  #accept: ((socket: Socket) => void) | undefined
  #address: Pick<AddressInfo, 'address' | 'port'> = { address: '', port: 0 }

  private constructor({ maxWaitMs = MAX_WAIT_MS, certificate, source }: StartingPortOptions) {
    this.#maxWaitMs = maxWaitMs
    this.#tls = certificate && this.#createTls(certificate)
    this.#source = source ?? new Listener()
  }

  #onConnection(socket: Socket): void {
    if (this.#accept !== undefined) this.#accept(socket)
    else if (this.#tls === undefined) this.#hold(socket)
    else this.#shakeHands(socket, this.#tls)
  }

  /** Only HTTP/1.1: a client that prefers HTTP/2 uses it with its next connection. */
  #createTls(certificate: CertificateFiles): TlsServer {
    const server = createTlsServer({
      ...loadCertificate(certificate),
      ALPNProtocols: ['http/1.1'],
      minVersion: 'TLSv1.2',
      handshakeTimeout: HANDSHAKE_MS,
      allowHalfOpen: true,
    })
    server.on('tlsClientError', (_error, socket) => socket.destroy())
    server.on('secureConnection', (socket) => {
      // The start may have ended during the handshake.
      if (this.#accept === undefined) this.#hold(socket)
      else this.#accept(socket)
    })
    return server
  }

  #shakeHands(socket: Socket, tls: TlsServer): void {
    if (this.#handshakes.size >= MAX_WAITING) {
      socket.destroy()
      return
    }
    this.#handshakes.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => this.#handshakes.delete(socket))
    tls.emit('connection', socket)
  }

  /** With a certificate it serves HTTPS. Rejects with a `ListenError` or a `CertificateError`. */
  static async open(
    where: { readonly host: string; readonly port: number },
    options: StartingPortOptions = {},
  ): Promise<StartingPort> {
    const port = new StartingPort(options)
    try {
      port.#address = await port.#source.listen(where, (socket) => port.#onConnection(socket))
    } catch (error) {
      throw new ListenError(where.host, where.port, error)
    }
    return port
  }

  get address(): Pick<AddressInfo, 'address' | 'port'> {
    return this.#address
  }

  /** The start is over: `accept` gets the waiting connections, and all later ones. */
  async listen(
    _where: unknown,
    accept: (socket: Socket) => void,
  ): Promise<Pick<AddressInfo, 'address' | 'port'>> {
    this.#accept = accept
    for (const [socket, waiting] of this.#waiting) {
      this.#release(socket, waiting)
      if (waiting.bytes.length > 0) socket.unshift(waiting.bytes)
      if (!socket.destroyed) accept(socket)
    }
    return this.address
  }

  close(): void {
    this.#source.close?.()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close()
    for (const socket of this.#waiting.keys()) socket.destroy()
    for (const socket of this.#handshakes) socket.destroy()
  }

  #hold(socket: Socket): void {
    if (this.#waiting.size >= MAX_WAITING) {
      socket.destroy()
      return
    }
    const onReadable = () => this.#read(socket)
    const onEnd = () => void socket.destroy()
    const timer = setTimeout(() => this.#answer(socket, TOO_LONG), this.#maxWaitMs).unref()
    this.#waiting.set(socket, { bytes: Buffer.alloc(0), onReadable, onEnd, timer })
    socket.on('error', () => {})
    socket.once('close', () => {
      clearTimeout(timer)
      this.#waiting.delete(socket)
    })
    socket.on('readable', onReadable).on('end', onEnd)
  }

  #read(socket: Socket): void {
    const waiting = this.#waiting.get(socket)
    if (waiting === undefined) return
    const chunk = socket.read() as Buffer | null
    if (chunk === null) return
    waiting.bytes = Buffer.concat([waiting.bytes, chunk])
    const line = waiting.bytes.toString('latin1', 0, MAX_LINE_BYTES)
    if (!line.includes('\n') && waiting.bytes.length < MAX_LINE_BYTES) return
    const [, probe] = PROBE.exec(line) ?? []
    if (probe === 'healthz') this.#answer(socket, ALIVE)
    else if (probe === 'readyz') this.#answer(socket, STARTING)
    // What follows stays unread, so that the client is held back.
    else socket.off('readable', waiting.onReadable)
  }

  #answer(socket: Socket, response: string): void {
    const waiting = this.#waiting.get(socket)
    if (waiting === undefined) return
    this.#release(socket, waiting)
    // Unread bytes would make the system reset the connection, and the client could miss the response.
    socket.resume()
    socket.end(response)
    socket.setTimeout(LINGER_MS, () => socket.destroy())
    socket.once('end', () => socket.destroy())
  }

  #release(socket: Socket, { onReadable, onEnd, timer }: Waiting): void {
    clearTimeout(timer)
    socket.off('readable', onReadable).off('end', onEnd)
    this.#waiting.delete(socket)
  }
}

/** The process listens itself. */
class Listener implements ConnectionSource {
  // Without half-open connections, Node would close the connection when the client ends its side.
  readonly #server = createServer({ allowHalfOpen: true, noDelay: true })

  async listen(
    where: { readonly host: string; readonly port: number },
    accept: (socket: Socket) => void,
  ): Promise<AddressInfo> {
    this.#server.on('connection', accept)
    this.#server.listen(where)
    await once(this.#server, 'listening')
    // A connection that cannot be accepted for want of descriptors or memory is lost; the server goes on.
    this.#server.on('error', () => {})
    return this.#server.address() as AddressInfo
  }

  close(): void {
    this.#server.close()
  }
}

const LINGER_MS = 2000

function responseOf(status: string, body: object, more = ''): string {
  const text = JSON.stringify(body)
  return `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${text.length}\r\nCache-Control: no-store\r\nConnection: close\r\n${more}\r\n${text}`
}

const REASON = 'The server is starting.'
const ALIVE = responseOf('200 OK', { status: 'ok' })
const STARTING = responseOf('503 Service Unavailable', { status: 'starting', reason: REASON })
const TOO_LONG = responseOf(
  '503 Service Unavailable',
  { error_msg: REASON },
  `Retry-After: ${RETRY_SECONDS}\r\n`,
)
