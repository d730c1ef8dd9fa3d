import { FairSemaphore, type FairSemaphoreOptions } from '../../base/scheduling/index.ts'
import {
  SealUnavailable,
  type WorkerJob,
  type WorkerOutcome,
  WorkerProcess,
  type WorkerSetup,
} from './worker-process.ts'

/** The server is stopping, so the job was not done. */
export class WorkersClosed extends Error {
  override readonly name = 'WorkersClosed'
}

/** `slots` is the number of processes. */
interface WorkerPoolOptions<Result> extends FairSemaphoreOptions, WorkerSetup<Result> {
  /** How long an idle worker lives; default 30 s. */
  readonly idleMs?: number
}

/** Whose turn a job takes, and which worker may do it. */
interface JobPlace {
  /** The requester, for fair scheduling. */
  readonly key: string
  /** A worker only gets jobs of one origin in its life: what took it over sees the files of one account, and no others. */
  readonly origin: string
}

/**
 * Pool of worker processes, started on demand, replaced when they die, shared fairly between keys. Once jobs of several origins
 * arrived, one worker more is started ahead, so that a new origin does not wait for a start.
 */
export class WorkerPool<Task, Result> {
  readonly #options: WorkerPoolOptions<Result>
  readonly #semaphore: FairSemaphore
  /** The origin of the jobs of each process; undefined until its first one. */
  readonly #origins = new Map<WorkerProcess<Task, Result>, string | undefined>()
  /** Least recently used first. */
  readonly #idle = new Map<WorkerProcess<Task, Result>, NodeJS.Timeout>()
  readonly #endings = new Set<Promise<void>>()
  #closedBy: Error | undefined

  constructor(options: WorkerPoolOptions<Result>) {
    this.#options = options
    this.#semaphore = new FairSemaphore(options)
  }

  /**
   * Runs the job in a worker, in the fair order of `key`. Throws Busy, WorkersClosed, the reason of the signal, errors of
   * `job.read`, and worker errors that the input did not cause.
   */
  run({ key, origin }: JobPlace, job: WorkerJob<Task>, signal?: AbortSignal): Promise<WorkerOutcome<Result>> {
    const attempt = async () => {
      const worker = this.#take(origin)
      try {
        return await worker.run(job, signal)
      } finally {
        this.#return(worker)
      }
    }
    const work = () =>
      // The next worker is started without what failed.
      attempt().catch((error) => (error instanceof SealUnavailable ? attempt() : Promise.reject(error)))
    return this.#semaphore.run(key, work, signal)
  }

  /** Kills all workers. Running, waiting and later jobs reject with WorkersClosed. */
  async close(): Promise<void> {
    const closed = new WorkersClosed('The server is stopping.')
    this.#closedBy = closed
    this.#semaphore.close(closed)
    for (const worker of this.#origins.keys()) this.#end(worker, closed)
    await Promise.all(this.#endings)
  }

  /** A worker of this origin, or one without, or a new one, for which the idle worker of another origin has to end. */
  #take(origin: string): WorkerProcess<Task, Result> {
    if (this.#closedBy) throw this.#closedBy
    for (const worker of this.#idle.keys()) if (!worker.isAlive) this.#end(worker)
    const idleOf = (wanted: string | undefined) =>
      this.#idle.keys().find((worker) => this.#origins.get(worker) === wanted)
    let worker = idleOf(origin)
    if (worker === undefined) {
      const used = this.#origins.values().filter((found) => found !== undefined)
      const oldest = this.#idle.keys().find((idle) => this.#origins.get(idle) !== undefined)
      if (oldest !== undefined && [...used].length >= this.#options.slots) this.#end(oldest)
      worker = idleOf(undefined) ?? new WorkerProcess<Task, Result>(this.#options)
    }
    clearTimeout(this.#idle.get(worker))
    this.#idle.delete(worker)
    this.#origins.set(worker, origin)
    return worker
  }

  #return(worker: WorkerProcess<Task, Result>): void {
    if (!worker.isAlive) this.#end(worker)
    else if (this.#origins.has(worker)) this.#keep(worker)
    // A file of a third account is likely to follow those of two.
    const origins = new Set(this.#origins.values())
    if (this.#closedBy || origins.has(undefined) || origins.size < 2) return
    const spare = new WorkerProcess<Task, Result>(this.#options)
    this.#origins.set(spare, undefined)
    this.#keep(spare)
  }

  #keep(worker: WorkerProcess<Task, Result>): void {
    const { idleMs = 30_000 } = this.#options
    worker.rest()
    this.#idle.set(worker, setTimeout(() => this.#end(worker), idleMs).unref())
  }

  #end(worker: WorkerProcess<Task, Result>, error?: Error): void {
    clearTimeout(this.#idle.get(worker))
    this.#idle.delete(worker)
    if (!this.#origins.delete(worker)) return
    const ending = worker.kill(error).finally(() => this.#endings.delete(ending))
    this.#endings.add(ending)
  }
}
