import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'

/** One connection, as far as we care. */
export interface Connection {
  /** Requests being answered; more than one only when a client pipelines. */
  pending: number
  newest: IncomingMessage | undefined
}

/**
 * The open connections of a server. Closes those whose client neither sends nor takes anything for a while, and
 * leaves alone those that wait for us, however long our work takes.
 */
export class Connections {
  readonly #connections = new Map<Socket, Connection>()
  readonly #idleMs: number

  constructor(idleMs: number) {
    this.#idleMs = idleMs
  }

  watch(server: Server): void {
    server.timeout = this.#idleMs
    server.on('connection', (socket) => {
      this.#connections.set(socket, { pending: 0, newest: undefined })
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
    return connection
  }

  end(connection: Connection | undefined): void {
    if (connection !== undefined) connection.pending -= 1
  }

  /** Closes every connection on which nothing is being answered. */
  closeUnused(): void {
    for (const [socket, connection] of this.#connections) if (connection.pending === 0) socket.destroy()
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
