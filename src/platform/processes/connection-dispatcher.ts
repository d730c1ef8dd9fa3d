import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { SupervisorMessage } from './messages.ts'

/** Connections that were sent to a process and have not arrived. A busy process gets no more than this ahead. */
const MAX_UNDERWAY = 4
/** Connections that wait because every process is busy or starting. Each takes a descriptor. */
const MAX_WAITING = 4096

/** A process that receives connections. */
export interface Receiver {
  readonly child: ChildProcess
  /** Connections that were sent and have not arrived, in this order. */
  readonly underway: Socket[]
  /** Its connections when it last reported them, and those sent since. */
  connections: number
}

interface DispatcherOptions {
  /** The processes that accept connections now. */
  readonly receivers: () => Iterable<Receiver>
  readonly onError: (error: Error) => void
  /** Replaces the limit of waiting connections, in tests. */
  readonly maxWaiting?: number | undefined
}

/** Listens for all processes, and passes each connection on to the one that has fewest. Nothing is read or written here. */
export class ConnectionDispatcher {
  readonly #options: DispatcherOptions
  readonly #waiting: Socket[] = []
  #server: Server | undefined
  #isStopped = false

  constructor(options: DispatcherOptions) {
    this.#options = options
  }

  /** Rejects with the error of the system. */
  async listen(where: { readonly host: string; readonly port: number }): Promise<AddressInfo> {
    const server = createServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true }, (socket) => {
      socket.on('error', () => {})
      this.#waiting.push(socket)
      this.dispatch()
      this.#closeExcess()
    })
    server.listen(where)
    await once(server, 'listening')
    server.on('error', this.#options.onError)
    this.#server = server
    return server.address() as AddressInfo
  }

  /** Sends connections that wait, as far as a process can receive one. */
  dispatch(): void {
    while (this.#waiting.length > 0) {
      const receiver = this.#leastBusy()
      if (receiver === undefined) return
      const socket = this.#waiting.shift()
      if (socket === undefined) return
      receiver.underway.push(socket)
      receiver.connections += 1
      const message: SupervisorMessage = { kind: 'connection' }
      // Open here until it has arrived, so that it can be sent to another process if this one dies before.
      receiver.child.send(message, socket, { keepOpen: true }, () => {})
    }
  }

  /** The first connection underway has arrived. The process has a descriptor of its own. */
  onAccepted(receiver: Receiver): void {
    receiver.underway.shift()?.destroy()
    this.dispatch()
  }

  /** Sends connections that a process did not accept to others. All messages of the process must have been read. */
  takeBack(receiver: Receiver): void {
    const sockets = receiver.underway.splice(0)
    if (this.#isStopped) for (const socket of sockets) socket.destroy()
    else this.#waiting.unshift(...sockets)
    this.dispatch()
    this.#closeExcess()
  }

  stop(): void {
    this.#isStopped = true
    this.#server?.close()
    for (const socket of this.#waiting.splice(0)) socket.destroy()
  }

  #leastBusy(): Receiver | undefined {
    let found: Receiver | undefined
    for (const receiver of this.#options.receivers()) {
      if (receiver.underway.length >= MAX_UNDERWAY || !receiver.child.connected) continue
      if (found === undefined || receiver.connections < found.connections) found = receiver
    }
    return found
  }

  /** Closes the connections beyond the limit, the latest first: those before have waited longer. */
  #closeExcess(): void {
    const { maxWaiting = MAX_WAITING } = this.#options
    for (const socket of this.#waiting.splice(maxWaiting)) socket.destroy()
  }
}
