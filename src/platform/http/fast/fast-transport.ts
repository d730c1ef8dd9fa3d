import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { ConnectionLimiter } from '../connection-limiter.ts'
import type { ConnectionSource, ListenOptions, Transport, TransportOptions } from '../transport.ts'
import { Connection } from './connection.ts'

/** How often connections are checked for slow clients, at least. */
const SWEEP_MS = 2000

/** HTTP/1.1 on plain connections with our own parser. */
export class FastTransport implements Transport {
  readonly scheme = 'http'
  readonly #server: Server
  readonly #connections = new Set<Connection>()
  readonly #limiter: ConnectionLimiter
  #sweep: NodeJS.Timeout | undefined
  #source: ConnectionSource | undefined

  constructor(options: TransportOptions) {
    this.#limiter = new ConnectionLimiter(options.limits)
    // Without half-open connections, Node would close the connection when the client ends its side.
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      if (this.#limiter.admit(socket, true)) this.#add(socket, options)
    })
    const everyMs = Math.min(SWEEP_MS, options.keepAliveMs, options.checkMs)
    this.#server.once('listening', () => {
      // A connection that cannot be accepted for want of descriptors or memory is lost; the server goes on.
      this.#server.on('error', (error) => options.onError(error))
      this.#sweep = setInterval(() => this.#sweepConnections(), everyMs).unref()
    })
    this.#server.once('close', () => clearInterval(this.#sweep))
  }

  async listen({ source, ...where }: ListenOptions): Promise<Pick<AddressInfo, 'address' | 'port'>> {
    if (source !== undefined) {
      this.#source = source
      const bound = await source.listen(where, (socket) => this.#server.emit('connection', socket))
      this.#server.emit('listening')
      return bound
    }
    this.#server.listen(where)
    await once(this.#server, 'listening')
    return this.#server.address() as AddressInfo
  }

  get connectionCount(): number {
    return this.#connections.size
  }

  async close(): Promise<void> {
    this.#source?.close?.()
    // A server that never listened reports an error here, and is closed all the same.
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
    await this.#limiter.empty()
  }

  closeIdle(): void {
    for (const connection of this.#connections) if (!connection.isAnswering) connection.destroy()
  }

  closeAll(): void {
    for (const connection of this.#connections) connection.destroy()
  }

  #add(socket: Socket, options: TransportOptions): void {
    const connection = new Connection(socket, options)
    this.#connections.add(connection)
    socket.once('close', () => this.#connections.delete(connection))
  }

  #sweepConnections(): void {
    const now = performance.now()
    for (const connection of this.#connections) connection.sweep(now)
  }
}
