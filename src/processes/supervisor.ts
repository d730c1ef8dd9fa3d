import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { onLockCall } from './lock-client.ts'
import { LockTable } from './lock-table.ts'
import { DISK_FAILED, type SupervisorMessage, type WorkerMessage, type WorkerStart } from './messages.ts'

interface SupervisorOptions {
  /** The module that a worker runs. It calls `connectWorker`. */
  readonly entry: URL
  /** Passed to every worker. */
  readonly input: unknown
  readonly count: number
  /** The node that had the data folder before, and is dead. */
  readonly deadNodeId: string | undefined
  /** Of the first worker, by which a later server recognizes that it is dead. */
  readonly firstNodeId: string
  readonly logger: {
    warn(fields: object, message: string): void
    error(fields: object, message: string): void
  }
  /** Called once when nothing may be acknowledged any more. */
  readonly onFatal: () => void
  /** Replaces the delays before a worker is started again, in tests. */
  readonly minRestartMs?: number
}

/** Delays before a worker that died is started again: doubled each time, until one has lived for long enough. */
const MIN_RESTART_MS = 100
const MAX_RESTART_MS = 30_000
const STABLE_MS = 60_000
/** Connections that were sent to a worker and have not arrived. A busy worker gets no more than this ahead. */
const MAX_UNDERWAY = 4
/** A worker that has sent nothing for this long is asked for its metrics in vain. */
const COLLECT_MS = 2000

interface Worker {
  readonly number: number
  readonly nodeId: string
  readonly child: ChildProcess
  readonly startedAtMs: number
  isReady: boolean
  /** Connections that were sent and have not arrived, in this order. */
  readonly underway: Socket[]
  /** Its connections when it last reported them, and those sent since. */
  connections: number
  utilization: number
}

/** A worker could not start. It has reported the reason itself. */
export class WorkerStartError extends Error {
  override name = 'WorkerStartError'
  readonly exitCode: number

  constructor(exitCode: number) {
    super('A process of the server could not start.')
    this.exitCode = exitCode
  }
}

/**
 * Runs the workers of a server: starts them, listens for them and passes connections on, grants their locks, and starts those again that
 * died. It touches no data, so it has nothing to lose. When it dies, its workers end.
 */
export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #locks = new LockTable()
  readonly #workers = new Map<number, Worker>()
  readonly #waiting: Socket[] = []
  readonly #restarts = new Map<number, NodeJS.Timeout>()
  readonly #delays = new Map<number, number>()
  readonly #collections = new Map<string, (metrics: unknown) => void>()
  #server: Server | undefined
  #bound: Promise<AddressInfo> | undefined
  #collected = 0
  #isStopping = false

  constructor(options: SupervisorOptions) {
    this.#options = options
  }

  /** The process ids of the workers, by their numbers. */
  get pids(): ReadonlyMap<number, number | undefined> {
    return new Map([...this.#workers].map(([number, { child }]) => [number, child.pid]))
  }

  /**
   * Starts the first worker, then the others at once. Resolves to the report of the first one, when all have started. Rejects with a
   * `WorkerStartError`.
   */
  async start(): Promise<unknown> {
    const { firstNodeId, deadNodeId, count } = this.#options
    const report = await this.#startFirst(firstNodeId, deadNodeId)
    const others = Array.from({ length: count - 1 }, (_, index) => index + 2)
    await Promise.all(others.map((number) => this.#ready(this.#spawn(number, randomUUID(), undefined))))
    return report
  }

  /** Lets all workers finish what runs. Resolves when they have ended. */
  async stop(drainMs: number): Promise<void> {
    this.#isStopping = true
    for (const timer of this.#restarts.values()) clearTimeout(timer)
    const workers = [...this.#workers.values()]
    const ended = workers.filter(({ child }) => !isOver(child)).map(({ child }) => once(child, 'exit'))
    for (const worker of workers) send(worker, { kind: 'stop' })
    const timer = setTimeout(() => this.#stopListening(), drainMs)
    await Promise.all(ended)
    clearTimeout(timer)
    this.#stopListening()
  }

  /** Ends all workers at once. Nothing acknowledged is lost. */
  kill(): void {
    this.#isStopping = true
    for (const timer of this.#restarts.values()) clearTimeout(timer)
    for (const { child } of this.#workers.values()) child.kill('SIGKILL')
    this.#stopListening()
  }

  async #startFirst(nodeId: string, deadNodeId: string | undefined): Promise<unknown> {
    return this.#ready(this.#spawn(1, nodeId, deadNodeId))
  }

  /** Resolves to the report of a worker once it is ready. */
  async #ready({ child }: Worker): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    child.on('message', (message: WorkerMessage) => {
      if (message.kind === 'ready') resolve(message.report)
    })
    child.once('exit', (code) => reject(new WorkerStartError(code ?? 1)))
    return promise
  }

  #spawn(number: number, nodeId: string, deadNodeId: string | undefined): Worker {
    const { entry, input, count } = this.#options
    const isAlone = this.#workers.size === 0
    const child = fork(entry, [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    const worker: Worker = {
      number,
      nodeId,
      child,
      startedAtMs: performance.now(),
      isReady: false,
      underway: [],
      connections: 0,
      utilization: 0,
    }
    this.#workers.set(number, worker)
    child.on('message', (message: WorkerMessage) => this.#onMessage(worker, message))
    child.on('error', (error) =>
      this.#options.logger.error({ err: error, worker: number }, 'a process failed'),
    )
    child.once('exit', (code, signal) => this.#onExit(worker, code, signal))
    const start: WorkerStart = { number, count, nodeId, isAlone, deadNodeId, input }
    send(worker, { kind: 'start', start })
    return worker
  }

  #onMessage(worker: Worker, message: WorkerMessage): void {
    switch (message.kind) {
      case 'listen':
        void this.#listen(worker, message)
        break
      case 'ready':
        worker.isReady = true
        this.#dispatch()
        break
      case 'accepted':
        // The worker has a descriptor of its own.
        worker.underway.shift()?.destroy()
        this.#dispatch()
        break
      case 'lock':
      case 'unlock':
        onLockCall(this.#locks, worker, message, (grant) => send(worker, grant))
        break
      case 'load':
        worker.connections = message.connections + worker.underway.length
        worker.utilization = message.utilization
        break
      case 'collect-all':
        void this.#collect(worker, message.id)
        break
      case 'metrics':
        this.#collections.get(`${message.id} ${worker.number}`)?.(message.metrics)
        break
    }
  }

  #onExit(worker: Worker, code: number | null, signal: NodeJS.Signals | null): void {
    const { number, nodeId, isReady, startedAtMs } = worker
    this.#workers.delete(number)
    this.#locks.releaseAll(worker)
    for (const socket of worker.underway.splice(0)) socket.destroy()
    if (this.#isStopping) return
    if (signal === DISK_FAILED) {
      this.kill()
      this.#options.onFatal()
      return
    }
    // Its first start has a caller that is told.
    if (!isReady && !this.#delays.has(number)) return
    const { minRestartMs = MIN_RESTART_MS } = this.#options
    const isStable = performance.now() - startedAtMs > STABLE_MS
    const delayMs = isStable ? minRestartMs : (this.#delays.get(number) ?? minRestartMs)
    this.#delays.set(number, Math.min(2 * delayMs, MAX_RESTART_MS))
    this.#options.logger.error(
      { process: number, code, signal, delayMs },
      'a process died; it is started again',
    )
    this.#restartIn(delayMs, number, nodeId)
  }

  #restartIn(delayMs: number, number: number, deadNodeId: string): void {
    const timer = setTimeout(() => {
      const others = [...this.#workers.values()]
      // One that starts alone cleans up the data folder, so nobody joins it before it is ready.
      const isCleaning = others.length > 0 && !others.some(({ isReady }) => isReady)
      if (isCleaning) return this.#restartIn(MIN_RESTART_MS, number, deadNodeId)
      this.#restarts.delete(number)
      this.#spawn(number, randomUUID(), deadNodeId)
    }, delayMs)
    this.#restarts.set(number, timer)
  }

  /** The first worker that has started lets the supervisor listen. */
  async #listen(worker: Worker, where: { readonly host: string; readonly port: number }): Promise<void> {
    this.#bound ??= this.#bind(where)
    try {
      const { address, port } = await this.#bound
      send(worker, { kind: 'listening', address, port })
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
      send(worker, { kind: 'listen-failed', code })
    }
  }

  async #bind({ host, port }: { readonly host: string; readonly port: number }): Promise<AddressInfo> {
    // Nothing is read here: the connection is passed on as it is.
    const server = createServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true }, (socket) => {
      socket.on('error', () => {})
      this.#waiting.push(socket)
      this.#dispatch()
    })
    server.listen({ host, port })
    await once(server, 'listening')
    server.on('error', (error) => this.#options.logger.error({ err: error }, 'a connection was not accepted'))
    this.#server = server
    return server.address() as AddressInfo
  }

  /** Sends connections that wait to the workers that have fewest. */
  #dispatch(): void {
    while (this.#waiting.length > 0) {
      const worker = this.#leastBusy()
      if (worker === undefined) return
      const socket = this.#waiting.shift()
      if (socket === undefined) return
      worker.underway.push(socket)
      worker.connections += 1
      const message: SupervisorMessage = { kind: 'connection' }
      // Open here until it has arrived. A worker that dies before would otherwise leave a connection that nobody closes.
      worker.child.send(message, socket, { keepOpen: true }, () => {})
    }
  }

  #leastBusy(): Worker | undefined {
    let found: Worker | undefined
    for (const worker of this.#workers.values()) {
      if (!worker.isReady || worker.underway.length >= MAX_UNDERWAY || !worker.child.connected) continue
      if (found === undefined || worker.connections < found.connections) found = worker
    }
    return found
  }

  #stopListening(): void {
    this.#server?.close()
    for (const socket of this.#waiting.splice(0)) socket.destroy()
  }

  /** Collects the metrics of all workers for one of them. One that does not respond in time is left out. */
  async #collect(worker: Worker, id: number): Promise<void> {
    const collection = ++this.#collected
    const asked = [...this.#workers.values()].filter(({ isReady }) => isReady)
    const collected = await Promise.all(asked.map((one) => this.#collectOf(one, collection)))
    const metrics = collected.filter((one) => one !== undefined)
    send(worker, { kind: 'collected', id, metrics })
  }

  #collectOf(worker: Worker, id: number): Promise<unknown> {
    const { promise, resolve } = Promise.withResolvers<unknown>()
    const key = `${id} ${worker.number}`
    const timer = setTimeout(() => resolve(undefined), COLLECT_MS)
    this.#collections.set(key, resolve)
    send(worker, { kind: 'collect', id })
    return promise.finally(() => {
      clearTimeout(timer)
      this.#collections.delete(key)
    })
  }
}

function isOver({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

/** A worker that is gone gets nothing. */
function send({ child }: Worker, message: SupervisorMessage): void {
  if (child.connected) child.send(message, () => {})
}
