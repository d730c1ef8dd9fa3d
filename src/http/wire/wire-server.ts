import { createServer, type Server, type Socket } from 'node:net'
import { Connection, type ConnectionRules } from './connection.ts'

/** How often connections are looked through for clients that keep us waiting, at least. */
const SWEEP_MS = 2000

/** Listens, and keeps what is said on its connections apart from what is made of it. */
export class WireServer {
  readonly net: Server
  readonly #connections = new Set<Connection>()
  #sweep: NodeJS.Timeout | undefined
  #empty: PromiseWithResolvers<void> | undefined

  /** `checkMs` is how often it looks whether a client takes too long. */
  constructor(rules: ConnectionRules, checkMs: number) {
    // Without half-open connections, Node would answer the end of what a client says before we can.
    this.net = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#add(socket, rules))
    const everyMs = Math.min(SWEEP_MS, rules.keepAliveMs, checkMs)
    this.net.once('listening', () => {
      this.#sweep = setInterval(() => this.#sweepConnections(), everyMs).unref()
    })
    this.net.once('close', () => clearInterval(this.#sweep))
  }

  /** Takes no more connections; resolves when the last one is gone, and all that was told of it. */
  async close(): Promise<void> {
    // One that never listened says so, and is closed all the same.
    const closed = new Promise<void>((resolve) => this.net.close(() => resolve()))
    await closed
    if (this.#connections.size === 0) return
    this.#empty ??= Promise.withResolvers()
    await this.#empty.promise
  }

  /** Closes every connection on which nothing is being answered. */
  closeUnused(): void {
    for (const connection of this.#connections) if (!connection.isAnswering) connection.destroy()
  }

  closeAll(): void {
    for (const connection of this.#connections) connection.destroy()
  }

  #add(socket: Socket, rules: ConnectionRules): void {
    const connection = new Connection(socket, rules)
    this.#connections.add(connection)
    socket.once('close', () => {
      this.#connections.delete(connection)
      if (this.#connections.size === 0) this.#empty?.resolve()
    })
  }

  #sweepConnections(): void {
    const now = performance.now()
    for (const connection of this.#connections) connection.sweep(now)
  }
}
