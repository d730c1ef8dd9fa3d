import { FairSemaphore, type FairSemaphoreOptions } from '../scheduling/index.ts'
import type { WorkerLimits } from './runtime/index.ts'
import type { WorkerProgram } from './sandbox.ts'
import { type WorkerJob, type WorkerOutcome, WorkerProcess } from './worker-process.ts'

/** The server is stopping, so the job was not done. */
export class WorkersClosed extends Error {
  override readonly name = 'WorkersClosed'
}

/** `slots` is the number of processes. */
interface WorkerPoolOptions extends FairSemaphoreOptions {
  readonly program: WorkerProgram
  readonly limits: WorkerLimits
  /** How long an idle worker lives; default 30 s. */
  readonly idleMs?: number
}

/** Pool of worker processes, started on demand, replaced when they die, shared fairly between keys. */
export class WorkerPool<Task, Result> {
  readonly #options: WorkerPoolOptions
  readonly #semaphore: FairSemaphore
  readonly #workers = new Set<WorkerProcess<Task, Result>>()
  readonly #idle = new Map<WorkerProcess<Task, Result>, NodeJS.Timeout>()
  readonly #endings = new Set<Promise<void>>()

  constructor(options: WorkerPoolOptions) {
    this.#options = options
    this.#semaphore = new FairSemaphore(options)
  }

  /**
   * Runs the job in a worker, in the fair order of `key`. Throws Busy, WorkersClosed, the reason of the signal, errors of
   * `job.read`, and worker errors that the input did not cause.
   */
  run(key: string, job: WorkerJob<Task>, signal?: AbortSignal): Promise<WorkerOutcome<Result>> {
    const work = async () => {
      const worker = this.#take()
      try {
        return await worker.run(job, signal)
      } finally {
        this.#return(worker)
      }
    }
    return this.#semaphore.run(key, work, signal)
  }

  /** Kills all workers. Running, waiting and later jobs reject with WorkersClosed. */
  async close(): Promise<void> {
    const closed = new WorkersClosed('The server is stopping.')
    this.#semaphore.close(closed)
    for (const worker of this.#workers) this.#end(worker, closed)
    await Promise.all(this.#endings)
  }

  #take(): WorkerProcess<Task, Result> {
    for (const [worker, timer] of this.#idle) {
      clearTimeout(timer)
      this.#idle.delete(worker)
      if (worker.isAlive) return worker
      this.#end(worker)
    }
    const { program, limits } = this.#options
    const worker = new WorkerProcess<Task, Result>(program, limits)
    this.#workers.add(worker)
    return worker
  }

  #return(worker: WorkerProcess<Task, Result>): void {
    if (!worker.isAlive) return this.#end(worker)
    const { idleMs = 30_000 } = this.#options
    this.#idle.set(worker, setTimeout(() => this.#end(worker), idleMs).unref())
  }

  #end(worker: WorkerProcess<Task, Result>, error?: Error): void {
    clearTimeout(this.#idle.get(worker))
    this.#idle.delete(worker)
    if (!this.#workers.delete(worker)) return
    const ending = worker.kill(error).finally(() => this.#endings.delete(ending))
    this.#endings.add(ending)
  }
}
