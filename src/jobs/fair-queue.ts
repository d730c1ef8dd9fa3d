import { FairSemaphore } from '../scheduling/index.ts'

/**
 * Runs jobs nobody waits for, a few at a time. Accounts take turns, so a hundred jobs of one delay another's single job by
 * one job at most.
 */
export class FairQueue {
  readonly #semaphore: FairSemaphore
  readonly #onError: (error: unknown) => void
  readonly #runs = new Set<Promise<void>>()

  constructor(slots: number, onError: (error: unknown) => void) {
    this.#semaphore = new FairSemaphore({ slots })
    this.#onError = onError
  }

  add(account: number, job: () => Promise<void>): void {
    const run = this.#semaphore
      .run(String(account), () => job().catch(this.#onError))
      .catch(() => {}) // Only `stop` ends what waits.
      .finally(() => this.#runs.delete(run))
    this.#runs.add(run)
  }

  /** Drops what waits and takes nothing more; resolves when nothing runs. */
  async stop(): Promise<void> {
    this.#semaphore.close(new Error('The server is stopping.'))
    await Promise.all(this.#runs)
  }
}
