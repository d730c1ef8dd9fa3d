import { setTimeout as wait } from 'node:timers/promises'

/** The last run of a maintenance job. */
interface MaintenanceReport {
  readonly name: string
  /** Unix seconds. */
  readonly endedAt: number
  readonly durationMs: number
  readonly failed: boolean
}

/** The last run of each maintenance job since the process started. */
export class MaintenanceLog {
  readonly #now: () => number
  readonly #reports = new Map<string, MaintenanceReport>()

  /** Unix seconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  note(name: string, { durationMs, failed }: Pick<MaintenanceReport, 'durationMs' | 'failed'>): void {
    this.#reports.set(name, { name, endedAt: this.#now(), durationMs, failed })
  }

  /** In the order of their first runs. */
  list(): MaintenanceReport[] {
    return [...this.#reports.values()]
  }
}

/** A periodic job that is idempotent and may be interrupted at any time. */
export interface MaintenanceJob {
  readonly name: string
  /** Reads all data. It starts a minute after the process, so that returning clients are served first. */
  readonly isLong?: boolean
  /** Concerns files of this node. Other jobs are done by one node for all. */
  readonly isLocal?: boolean
  /** The signal is aborted when the process stops. */
  run(signal: AbortSignal): Promise<unknown>
}

const HOUR_MS = 3_600_000
const LONG_AFTER_MS = 60_000

/**
 * Runs the jobs at the start, long ones a minute later, and then every hour, one after another. A failure is reported and
 * the job runs again in the next round. Of several nodes, the one that holds the lease runs the jobs that are not local.
 */
export class Maintenance implements AsyncDisposable {
  readonly #jobs: readonly MaintenanceJob[]
  readonly #onError: (job: string, error: unknown) => void
  readonly #log: MaintenanceLog
  readonly #hold: () => Promise<boolean>
  readonly #timer: NodeJS.Timeout
  readonly #stopping = new AbortController()
  readonly #longFrom = performance.now() + LONG_AFTER_MS
  #running: Promise<void>

  constructor(
    jobs: readonly MaintenanceJob[],
    parts: {
      readonly log: MaintenanceLog
      /** Takes or keeps the lease. False if another node has it. */
      readonly hold: () => Promise<boolean>
      readonly onError: (job: string, error: unknown) => void
    },
  ) {
    this.#jobs = jobs
    this.#log = parts.log
    this.#hold = parts.hold
    this.#onError = parts.onError
    this.#running = this.#runAll()
    this.#timer = setInterval(() => {
      this.#running = this.#running.then(() => this.#runAll())
    }, HOUR_MS).unref()
  }

  /** Resolves when the round under way is done. */
  settled(): Promise<void> {
    return this.#running
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    clearInterval(this.#timer)
    await this.#running
  }

  async #runAll(): Promise<void> {
    for (const job of this.#jobs) {
      if (job.isLong) await this.#untilLong()
      if (this.#stopping.signal.aborted) return
      await this.#run(job)
    }
  }

  async #untilLong(): Promise<void> {
    const leftMs = this.#longFrom - performance.now()
    const { signal } = this.#stopping
    if (leftMs > 0 && !signal.aborted) await wait(leftMs, undefined, { signal, ref: false }).catch(() => {})
  }

  async #run(job: MaintenanceJob): Promise<void> {
    const began = performance.now()
    let failed = false
    try {
      if (!job.isLocal && !(await this.#hold())) return
      await job.run(this.#stopping.signal)
    } catch (error) {
      failed = true
      this.#onError(job.name, error)
    }
    this.#log.note(job.name, { durationMs: Math.round(performance.now() - began), failed })
  }
}
