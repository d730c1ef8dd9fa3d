import { FairSemaphore } from '../../base/scheduling/index.ts'

/**
 * Runs background jobs, a few concurrently. Accounts take turns, so a hundred jobs of one account delay a
 * single job of another by at most one job. Jobs may take hours, so one account never has all slots.
 */
export class FairQueue {
  readonly #semaphore: FairSemaphore
  readonly #onError: (error: unknown) => void
  readonly #runs = new Set<Promise<void>>()

  constructor(slots: number, onError: (error: unknown) => void) {
    this.#semaphore = new FairSemaphore({ slots, perKey: Math.ceil(slots / 2) })
    this.#onError = onError
  }

  add(account: number, job: () => Promise<void>): void {
    const run = this.#semaphore
      .run(String(account), () => job().catch(this.#onError))
      .catch(() => {}) // Only `stop` rejects a waiting job.
      .finally(() => this.#runs.delete(run))
    this.#runs.add(run)
  }

  /** Drops waiting jobs and accepts no more. Resolves when no job runs. */
  async stop(): Promise<void> {
    this.#semaphore.close(new Error('The server is stopping.'))
    await Promise.all(this.#runs)
  }
}
