import { createServer, type Server, type Socket } from 'node:net'
import { addressKey, plainAddress } from '../client-address.ts'
import { ProtocolError } from '../protocol-error.ts'
import { Connection, type ConnectionRules } from './connection.ts'

/** How often connections are looked through for clients that keep us waiting, at least. */
const SWEEP_MS = 2000

/** How many connections are accepted. */
export interface ConnectionLimits {
  readonly connections: number
  /** Of one IPv4 address, or one IPv6 /64. */
  readonly connectionsPerAddress: number
  /** Refused connections that are being answered; further ones are closed without an answer. */
  readonly refusals: number
  /** Addresses that only the limit of all connections holds for, such as proxies. */
  isExempt(address: string): boolean
}

/** A refused connection is open for so long that its client can read the answer. */
const REFUSAL_MS = 2000
/** Seconds after which a refused client may try again. */
const RETRY_SECONDS = 10

/** Listens, and keeps what is said on its connections apart from what is made of it. */
export class FastTransport {
  readonly net: Server
  readonly #connections = new Set<Connection>()
  readonly #limits: ConnectionLimits
  readonly #perAddress = new Map<string, number>()
  #refusals = 0
  #sweep: NodeJS.Timeout | undefined
  #empty: PromiseWithResolvers<void> | undefined

  /** `checkMs` is how often it looks whether a client takes too long. */
  constructor(rules: ConnectionRules, limits: ConnectionLimits, checkMs: number) {
    this.#limits = limits
    // Without half-open connections, Node would answer the end of what a client says before we can.
    this.net = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#accept(socket, rules))
    const everyMs = Math.min(SWEEP_MS, rules.keepAliveMs, checkMs)
    this.net.once('listening', () => {
      // A connection that cannot be accepted, for want of a descriptor or of memory, is lost; the server goes on.
      this.net.on('error', (error) => rules.onError(error))
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

  /** Open connections, those of other protocols included. */
  get count(): number {
    return this.#connections.size
  }

  #accept(socket: Socket, rules: ConnectionRules): void {
    const address = plainAddress(socket.remoteAddress ?? '')
    const key = this.#limits.isExempt(address) ? undefined : addressKey(address)
    const open = key === undefined ? 0 : (this.#perAddress.get(key) ?? 0)
    if (open >= this.#limits.connectionsPerAddress) this.#refuse(socket, 429)
    else if (this.#connections.size >= this.#limits.connections) this.#refuse(socket, 503)
    else this.#add(socket, rules, key)
  }

  #add(socket: Socket, rules: ConnectionRules, key: string | undefined): void {
    const connection = new Connection(socket, rules)
    this.#connections.add(connection)
    if (key !== undefined) this.#perAddress.set(key, (this.#perAddress.get(key) ?? 0) + 1)
    socket.once('close', () => {
      this.#connections.delete(connection)
      if (key !== undefined) this.#countDown(key)
      if (this.#connections.size === 0) this.#empty?.resolve()
    })
  }

  #countDown(key: string): void {
    const left = (this.#perAddress.get(key) ?? 0) - 1
    if (left > 0) this.#perAddress.set(key, left)
    else this.#perAddress.delete(key)
  }

  /** Answers whatever the client asks, without reading it. */
  #refuse(socket: Socket, status: number): void {
    socket.on('error', () => {})
    if (this.#refusals >= this.#limits.refusals) {
      socket.destroy()
      return
    }
    this.#refusals += 1
    const timer = setTimeout(() => socket.destroy(), REFUSAL_MS).unref()
    socket
      .once('end', () => socket.destroy())
      .once('close', () => {
        clearTimeout(timer)
        this.#refusals -= 1
      })
    socket.resume()
    socket.end(new ProtocolError(status, RETRY_SECONDS).text, 'latin1')
  }

  #sweepConnections(): void {
    const now = performance.now()
    for (const connection of this.#connections) connection.sweep(now)
  }
}
