import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'

/** One connection, as far as we care. */
export interface Connection {
  /** Requests being answered; more than one only when a client pipelines. */
  pending: number
  newest: IncomingMessage | undefined
  /** When its last answer was sent, on the clock of `performance`; undefined before that and while one is owed. */
  waitingSince: number | undefined
}

export interface ConnectionLimits {
  /** Without a byte moving, while we wait for the client. */
  readonly idleMs: number
  /** Between two requests. */
  readonly keepAliveMs: number
}

// Clients are told a little less than we wait, so that they do not call as we hang up.
const KEPT_LONGER_MS = 1000
const SWEEP_MS = 2000

/**
 * The open connections of a server. Closes those whose client neither sends nor takes anything for a while, and
 * leaves alone those that wait for us, however long our work takes.
 */
export class Connections {
  readonly #connections = new Map<Socket, Connection>()
  readonly #idleMs: number
  readonly #keepAliveMs: number

  constructor({ idleMs, keepAliveMs }: ConnectionLimits) {
    this.#idleMs = idleMs
    this.#keepAliveMs = keepAliveMs
  }

  watch(server: Server): void {
    server.timeout = this.#idleMs
    // Its own watch over this begins and ends a timer for each request, which costs as much as finding the route.
    server.keepAliveTimeout = 0
    server.once('listening', () => {
      const sweep = setInterval(() => this.#closeWaiting(), Math.min(SWEEP_MS, this.#keepAliveMs)).unref()
      server.once('close', () => clearInterval(sweep))
    })
    server.on('connection', (socket) => {
      this.#connections.set(socket, { pending: 0, newest: undefined, waitingSince: undefined })
      socket.once('close', () => this.#connections.delete(socket))
    })
    server.on('timeout', (socket) => this.#onIdle(socket))
  }

  /** Whether an answer is owed or on its way. */
  isAnswering(socket: Socket): boolean {
    return (this.#connections.get(socket)?.pending ?? 0) > 0
  }

  /** Counts a request in; `end` counts it out when its answer is sent or its client is gone. */
  begin(incoming: IncomingMessage): Connection | undefined {
    const connection = this.#connections.get(incoming.socket)
    if (connection === undefined) return undefined
    connection.pending += 1
    connection.newest = incoming
    connection.waitingSince = undefined
    return connection
  }

  /** `now` is on the clock of `performance`. */
  end(connection: Connection | undefined, now: number): void {
    if (connection === undefined) return
    connection.pending -= 1
    if (connection.pending === 0) connection.waitingSince = now
  }

  /** It speaks another protocol from now on, and asks for nothing more. */
  handOver(socket: Socket): void {
    const connection = this.#connections.get(socket)
    if (connection !== undefined) connection.waitingSince = undefined
  }

  /** What clients are told of how long a connection is kept for their next request. */
  get keepAlive(): string {
    return `timeout=${Math.floor(this.#keepAliveMs / 1000)}`
  }

  /** Closes every connection on which nothing is being answered. */
  closeUnused(): void {
    for (const [socket, connection] of this.#connections) if (connection.pending === 0) socket.destroy()
  }

  #closeWaiting(): void {
    const since = performance.now() - this.#keepAliveMs - Math.min(KEPT_LONGER_MS, this.#keepAliveMs)
    for (const [socket, { waitingSince }] of this.#connections) {
      if (waitingSince !== undefined && waitingSince < since) socket.destroy()
    }
  }

  #onIdle(socket: Socket): void {
    const connection = this.#connections.get(socket)
    if (connection === undefined || connection.pending === 0 || isStalled(socket, connection))
      socket.destroy()
    else socket.setTimeout(this.#idleMs)
  }
}

/** Whether it is the client we wait for: it owes us bytes we would read now, or does not take ours. */
function isStalled(socket: Socket, { newest }: Connection): boolean {
  if (socket.writableLength > 0) return true
  return newest !== undefined && !newest.complete && newest.readableLength === 0
}
