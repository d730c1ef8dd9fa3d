/**
 * Runs jobs side by side, a few at a time. Those who wait for one take turns, so a hundred jobs of one
 * asker hold up another's single job by one job at most.
 */
export class FairQueue {
  readonly #workers: number
  readonly #onError: (error: unknown) => void
  // In the order in which the askers are to have their turn.
  readonly #waiting = new Map<number, (() => Promise<void>)[]>()
  readonly #running = new Set<Promise<void>>()

  constructor(workers: number, onError: (error: unknown) => void) {
    this.#workers = workers
    this.#onError = onError
  }

  add(asker: number, job: () => Promise<void>): void {
    const jobs = this.#waiting.get(asker)
    if (jobs === undefined) this.#waiting.set(asker, [job])
    else jobs.push(job)
    this.#fill()
  }

  /** Forgets what waits; resolves when nothing runs. */
  async stop(): Promise<void> {
    this.#waiting.clear()
    await Promise.all(this.#running)
  }

  #fill(): void {
    while (this.#running.size < this.#workers) {
      const job = this.#next()
      if (job === undefined) return
      const run = job()
        .catch(this.#onError)
        .finally(() => {
          this.#running.delete(run)
          this.#fill()
        })
      this.#running.add(run)
    }
  }

  #next(): (() => Promise<void>) | undefined {
    const [turn] = this.#waiting
    if (turn === undefined) return undefined
    const [asker, jobs] = turn
    const job = jobs.shift()
    this.#waiting.delete(asker)
    if (jobs.length > 0) this.#waiting.set(asker, jobs)
    return job
  }
}
