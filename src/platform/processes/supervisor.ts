import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { ConnectionDispatcher, type Receiver } from './connection-dispatcher.ts'
import { EndedMetrics } from './ended-metrics.ts'
import { onLockCall } from './lock-client.ts'
import { LockTable } from './lock-table.ts'
import { DISK_FAILED, type SupervisorMessage, type WorkerMessage, type WorkerStart } from './messages.ts'

interface SupervisorOptions {
  /** The module that a worker runs. It calls `connectWorker`. */
  readonly entry: URL
  /** Passed to every worker. */
  readonly input: unknown
  /** Of processes. */
  readonly count: number
  /** The node that had the data folder before, and is dead. */
  readonly deadNodeId: string | undefined
  /** Of the first worker, by which a later server recognizes that it is dead. */
  readonly firstNodeId: string
  readonly logger: {
    info(fields: object, message: string): void
    warn(fields: object, message: string): void
    error(fields: object, message: string): void
  }
  /** Called once when nothing may be acknowledged any more. */
  readonly onFatal: () => void
  /** Replace limits, in tests. */
  readonly minRestartMs?: number
  readonly maxSilentTicks?: number
  readonly maxWaiting?: number
}

/** Delays before a worker that died is started again: doubled each time, until one has lived for long enough. */
const MIN_RESTART_MS = 100
const MAX_RESTART_MS = 30_000
const STABLE_MS = 60_000
/** How often silent workers are looked for. Each reports its connections as often. */
const TICK_MS = 1000
/**
 * A worker that has reported nothing for so many ticks is killed. Fewer seconds than a writer waits for a lock, which the worker may have. Ticks instead of
 * seconds, because a supervisor that was stopped itself has not read the reports.
 */
const MAX_SILENT_TICKS = 20
/** A worker that has sent nothing for this long is asked for its metrics in vain. */
const COLLECT_MS = 2000

interface Worker extends Receiver {
  readonly number: number
  readonly nodeId: string
  readonly startedAtMs: number
  /** It accepts connections, which it may hold until it is ready. */
  isListening: boolean
  isReady: boolean
  /** Ticks since its last report. */
  silentTicks: number
  /** When they were last collected. */
  metrics: unknown
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
  readonly #dispatcher: ConnectionDispatcher
  readonly #restarts = new Map<number, NodeJS.Timeout>()
  readonly #delays = new Map<number, number>()
  readonly #endedMetrics = new EndedMetrics()
  readonly #collections = new Map<string, (metrics: unknown) => void>()
  #timer: NodeJS.Timeout | undefined
  #bound: Promise<AddressInfo> | undefined
  #collected = 0
  #isStopping = false

  constructor(options: SupervisorOptions) {
    this.#options = options
    this.#dispatcher = new ConnectionDispatcher({
      receivers: () => this.#receivers(),
      onError: (error) => options.logger.error({ err: error }, 'a connection was not accepted'),
      maxWaiting: options.maxWaiting,
    })
  }

  /** The process ids of the workers, by their numbers. */
  get pids(): ReadonlyMap<number, number | undefined> {
    return new Map([...this.#workers].map(([number, { child }]) => [number, child.pid]))
  }

  /**
   * Starts the first worker, then the others at once. Resolves to the report of the first one, when all have started. Rejects with a `WorkerStartError`.
   */
  async start(): Promise<unknown> {
    const { firstNodeId, deadNodeId, count } = this.#options
    const report = await this.#ready(this.#spawn(1, firstNodeId, deadNodeId))
    const others = Array.from({ length: count - 1 }, (_, index) => index + 2)
    await Promise.all(others.map((number) => this.#ready(this.#spawn(number, randomUUID(), undefined))))
    this.#timer = setInterval(() => this.#tick(), TICK_MS)
    return report
  }

  /** Lets all workers finish what runs. Resolves when they have ended. */
  async stop(drainMs: number): Promise<void> {
    this.#end()
    const workers = [...this.#workers.values()]
    const ended = workers.filter(({ child }) => !isOver(child)).map(({ child }) => once(child, 'exit'))
    for (const worker of workers) send(worker, { kind: 'stop' })
    const timer = setTimeout(() => this.#dispatcher.stop(), drainMs)
    await Promise.all(ended)
    clearTimeout(timer)
    this.#dispatcher.stop()
  }

  /** Ends all workers at once. Nothing acknowledged is lost. */
  kill(): void {
    this.#end()
    for (const { child } of this.#workers.values()) child.kill('SIGKILL')
    this.#dispatcher.stop()
  }

  /** Starts nothing any more. */
  #end(): void {
    this.#isStopping = true
    clearInterval(this.#timer)
    for (const timer of this.#restarts.values()) clearTimeout(timer)
  }

  /** The workers that get connections. While none is ready, one that starts says so to its clients, or lets them wait. */
  #receivers(): Worker[] {
    const workers = [...this.#workers.values()]
    const ready = workers.filter(({ isReady }) => isReady)
    return ready.length > 0 ? ready : workers.filter(({ isListening }) => isListening)
  }

  #tick(): void {
    const { maxSilentTicks = MAX_SILENT_TICKS, logger } = this.#options
    for (const worker of this.#workers.values()) {
      // A start may take long, and reports nothing.
      if (!worker.isReady || ++worker.silentTicks <= maxSilentTicks) continue
      logger.error({ process: worker.number }, 'a process does not respond any more; it is killed')
      worker.child.kill('SIGKILL')
    }
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
      isListening: false,
      isReady: false,
      underway: [],
      connections: 0,
      silentTicks: 0,
      metrics: undefined,
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
    // Sent before it died. Its locks have been released, so that none may be granted to it any more.
    if (isOver(worker.child) && message.kind !== 'accepted') return
    switch (message.kind) {
      case 'listen':
        void this.#listen(worker, message)
        break
      case 'ready':
        worker.isReady = true
        this.#dispatcher.dispatch()
        break
      case 'accepted':
        this.#dispatcher.onAccepted(worker)
        break
      case 'lock':
      case 'unlock':
        onLockCall(this.#locks, worker, message, (grant) => send(worker, grant))
        break
      case 'alive':
        worker.connections = message.connections + worker.underway.length
        worker.silentTicks = 0
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
    const { number, nodeId, child, isReady, startedAtMs } = worker
    this.#workers.delete(number)
    this.#locks.releaseAll(worker)
    if (worker.metrics !== undefined) this.#endedMetrics.add(worker.metrics)
    // Its last messages are still to be read.
    if (child.connected) child.once('disconnect', () => this.#dispatcher.takeBack(worker))
    else this.#dispatcher.takeBack(worker)
    if (this.#isStopping) return
    if (signal === DISK_FAILED) {
      this.kill()
      this.#options.onFatal()
      return
    }
    // The first start of the server has a caller that is told.
    if (!isReady && this.#timer === undefined) return
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
      // The first worker deletes leftovers in the data folder. Others start once it is ready, because it would delete their files.
      const isCleaning = others.length > 0 && !others.some(({ isReady }) => isReady)
      if (isCleaning) return this.#restartIn(MIN_RESTART_MS, number, deadNodeId)
      this.#restarts.delete(number)
      this.#spawn(number, randomUUID(), deadNodeId)
    }, delayMs)
    this.#restarts.set(number, timer)
  }

  /** The first worker that can accept connections lets the supervisor listen. */
  async #listen(worker: Worker, where: { readonly host: string; readonly port: number }): Promise<void> {
    this.#bound ??= this.#dispatcher.listen(where)
    try {
      const { address, port } = await this.#bound
      send(worker, { kind: 'listening', address, port })
      worker.isListening = true
      this.#dispatcher.dispatch()
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
      send(worker, { kind: 'listen-failed', code })
    }
  }

  /**
   * Collects the metrics of all workers for one of them. Of one that does not respond in time, and of those that have ended, the last ones count, so that no
   * counter falls.
   */
  async #collect(worker: Worker, id: number): Promise<void> {
    const collection = ++this.#collected
    const asked = [...this.#workers.values()].filter(({ isReady }) => isReady)
    await Promise.all(
      asked.map(async (one) => {
        one.metrics = (await this.#collectOf(one, collection)) ?? one.metrics
      }),
    )
    const running = [...this.#workers.values()].flatMap(({ metrics }) =>
      metrics === undefined ? [] : [metrics],
    )
    send(worker, { kind: 'collected', id, metrics: [...running, this.#endedMetrics.metrics] })
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
