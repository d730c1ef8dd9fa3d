import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { ProcessLocks } from '../database/index.ts'
import { LockClient } from './lock-client.ts'
import { DISK_FAILED, type SupervisorMessage, type WorkerMessage, type WorkerStart } from './messages.ts'

/** How often a worker tells the supervisor that its event loop runs. */
const REPORT_MS = 1000

/** A worker as its own process sees it. */
interface WorkerProcess {
  readonly start: WorkerStart
  readonly locks: ProcessLocks
  /** The supervisor listens, and passes connections on to `accept`. Rejects with an error that has the code of the system. */
  listen(
    where: { readonly host: string; readonly port: number },
    accept: (socket: Socket) => void,
  ): Promise<{ address: string; port: number }>
  /** Everything is open. The report is passed to the caller of the supervisor. */
  ready(report: unknown): void
  /** `metrics` are those of this process. Returns a function that collects those of all processes. */
  shareMetrics(metrics: () => Promise<unknown>): () => Promise<readonly unknown[]>
  /** Tells the supervisor regularly how many connections this process has. One that does not is killed. */
  reportConnections(connections: () => number): void
  /** Resolves when the supervisor lets this process stop. */
  readonly stopped: Promise<void>
  /** Ends this process, and with it all others, after a disk failure. */
  failAll(): void
}

/** Connects a process that the supervisor has forked. It ends at once when the supervisor dies. */
export async function connectWorker(): Promise<WorkerProcess> {
  // The supervisor decides what a signal means. A terminal or a service manager sends it to all processes.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
  process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))
  const [first] = (await once(process, 'message')) as [SupervisorMessage]
  if (first.kind !== 'start') throw new Error('The supervisor did not begin with the start.')
  return new Channel(first.start)
}

class Channel implements WorkerProcess {
  readonly start: WorkerStart
  readonly locks: LockClient
  readonly #stopped = Promise.withResolvers<void>()
  readonly #collecting = new Map<number, (metrics: readonly unknown[]) => void>()
  #accept: ((socket: Socket) => void) | undefined
  #listening: PromiseWithResolvers<{ address: string; port: number }> | undefined
  #metrics: (() => Promise<unknown>) | undefined
  #lastId = 0

  constructor(start: WorkerStart) {
    this.start = start
    this.locks = new LockClient(send)
    process.on('message', (message: SupervisorMessage, handle: unknown) =>
      this.#onMessage(message, handle as Socket | undefined),
    )
  }

  get stopped(): Promise<void> {
    return this.#stopped.promise
  }

  listen(
    where: { readonly host: string; readonly port: number },
    accept: (socket: Socket) => void,
  ): Promise<{ address: string; port: number }> {
    this.#accept = accept
    this.#listening = Promise.withResolvers()
    send({ kind: 'listen', ...where })
    return this.#listening.promise
  }

  ready(report: unknown): void {
    send({ kind: 'ready', report })
  }

  shareMetrics(metrics: () => Promise<unknown>): () => Promise<readonly unknown[]> {
    this.#metrics = metrics
    return () => {
      const id = ++this.#lastId
      const { promise, resolve } = Promise.withResolvers<readonly unknown[]>()
      this.#collecting.set(id, resolve)
      send({ kind: 'collect-all', id })
      return promise
    }
  }

  reportConnections(connections: () => number): void {
    setInterval(() => send({ kind: 'alive', connections: connections() }), REPORT_MS).unref()
  }

  failAll(): void {
    process.kill(process.pid, DISK_FAILED)
  }

  #onMessage(message: SupervisorMessage, socket: Socket | undefined): void {
    switch (message.kind) {
      case 'connection':
        // Before anything is read: a connection that was not accepted is sent to another process.
        send({ kind: 'accepted' })
        // The client may be gone already.
        if (socket !== undefined) this.#add(socket)
        break
      case 'granted':
        this.locks.onGrant(message)
        break
      case 'listening':
        this.#listening?.resolve({ address: message.address, port: message.port })
        break
      case 'listen-failed':
        this.#listening?.reject(
          Object.assign(new Error('The supervisor cannot listen.'), { code: message.code }),
        )
        break
      case 'collect':
        void this.#collect(message.id)
        break
      case 'collected':
        this.#collecting.get(message.id)?.(message.metrics)
        this.#collecting.delete(message.id)
        break
      case 'stop':
        this.#stopped.resolve()
        break
      case 'start':
        break
    }
  }

  #add(socket: Socket): void {
    // As for connections that a transport accepts itself: responses are still sent after the client has ended its side.
    socket.allowHalfOpen = true
    if (this.#accept === undefined) socket.destroy()
    else this.#accept(socket)
  }

  async #collect(id: number): Promise<void> {
    const metrics = await this.#metrics?.().catch(() => undefined)
    send({ kind: 'metrics', id, metrics })
  }
}

/** Nothing is sent when the supervisor is gone: this process is about to end. */
function send(message: WorkerMessage): void {
  if (process.connected) process.send?.(message, undefined, {}, () => {})
}
