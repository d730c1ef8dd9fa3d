import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** A message of the PostgreSQL protocol. The first one of a connection has the type `startup`. */
export interface ProtocolMessage {
  readonly from: 'client' | 'server'
  readonly type: string
  readonly body: Buffer
}

/**
 * `cut-before` closes the connection instead of forwarding the message, `cut-after` once it is forwarded. With `silence-before` and `silence-after` it stays
 * open, and nothing is forwarded any more in either direction.
 */
type Verdict = 'forward' | 'cut-before' | 'cut-after' | 'silence-before' | 'silence-after'

/** A proxy in front of PostgreSQL that can be out of reach or silent, closes connections on demand and counts round trips. */
export class PostgresProxy implements AsyncDisposable {
  readonly url: string
  /** How often a client sent something while nothing was outstanding on its connection. */
  roundTrips = 0
  /** Decides on each message. Connections are numbered. */
  judge: (message: ProtocolMessage, connection: number) => Verdict = () => 'forward'
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #connections = 0
  #state: 'open' | 'refusing' | 'silent' = 'open'

  private constructor(server: Server, target: URL) {
    this.#server = server
    const url = new URL(target)
    url.port = String((server.address() as AddressInfo).port)
    this.url = url.href
    server.on('connection', (client) => this.#accept(client, target))
  }

  static async start(target: string): Promise<PostgresProxy> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new PostgresProxy(server, new URL(target))
  }

  /** Closes all connections, and each new one at once. */
  refuse(): void {
    this.#state = 'refusing'
    this.cut()
  }

  /** Accepts connections and bytes, and forwards nothing, as a host behind a broken network. */
  silence(): void {
    this.#state = 'silent'
    for (const socket of this.#sockets) socket.pause()
  }

  /** Connections that were silenced are closed. */
  recover(): void {
    if (this.#state === 'silent') this.cut()
    this.#state = 'open'
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #accept(client: Socket, { hostname, port }: URL): void {
    this.#track(client)
    if (this.#state === 'refusing') return void client.destroy()
    if (this.#state === 'silent') return void client.pause()
    const upstream = this.#track(connect(Number(port), hostname))
    client.once('close', () => upstream.destroySoon())
    upstream.once('close', () => client.destroy())
    this.#connections += 1
    const connection = this.#connections
    let outstanding = 0
    // A batch is several messages; the round trip ends with the answer to its last one.
    let isOpen = false
    let isSilent = false
    const forward = (message: ProtocolMessage, to: Socket, bytes: Buffer) => {
      if (isSilent) return false
      if (message.from === 'server' && message.type === 'Z') outstanding -= 1
      // The server also says that it is ready at the end of the start.
      if (message.from === 'client' && ['S', 'Q', 'startup'].includes(message.type)) outstanding += 1
      const verdict = this.judge(message, connection)
      if (!verdict.endsWith('-before')) to.write(bytes)
      if (verdict === 'forward') return true
      isSilent = verdict.startsWith('silence')
      if (isSilent) return false
      // The server processes what it has received before it notices.
      upstream.end()
      client.destroy()
      return false
    }
    const fromClient = new MessageReader('client', (message, bytes) => {
      if (outstanding === 0 && message.type !== 'startup' && !'Xp'.includes(message.type) && !isOpen) {
        this.roundTrips += 1
        isOpen = true
      }
      return forward(message, upstream, bytes)
    })
    const fromServer = new MessageReader('server', (message, bytes) => {
      const goesOn = forward(message, client, bytes)
      if (outstanding === 0) isOpen = false
      return goesOn
    })
    client.on('data', (bytes: Buffer) => fromClient.push(bytes))
    upstream.on('data', (bytes: Buffer) => fromServer.push(bytes))
  }

  #track(socket: Socket): Socket {
    this.#sockets.add(socket)
    socket.setNoDelay(true)
    socket.once('close', () => this.#sockets.delete(socket))
    return socket.on('error', () => socket.destroy())
  }
}

/** Splits a stream into messages. */
class MessageReader {
  readonly #from: 'client' | 'server'
  readonly #take: (message: ProtocolMessage, bytes: Buffer) => boolean
  #pending: Buffer = Buffer.alloc(0)
  #isStarting: boolean
  #hasEnded = false

  constructor(from: 'client' | 'server', take: (message: ProtocolMessage, bytes: Buffer) => boolean) {
    this.#from = from
    this.#take = take
    this.#isStarting = from === 'client'
  }

  push(bytes: Buffer): void {
    this.#pending = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes])
    while (!this.#hasEnded) {
      const header = this.#isStarting ? 0 : 1
      if (this.#pending.length < header + 4) return
      const length = header + this.#pending.readInt32BE(header)
      if (this.#pending.length < length) return
      const message = this.#pending.subarray(0, length)
      this.#pending = this.#pending.subarray(length)
      const type = this.#isStarting ? 'startup' : String.fromCharCode(message.readUInt8(0))
      this.#isStarting = false
      if (!this.#take({ from: this.#from, type, body: message.subarray(header + 4) }, message))
        this.#hasEnded = true
    }
  }
}
