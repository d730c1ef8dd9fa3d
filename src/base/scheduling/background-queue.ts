/** How often a queue whose next item is overdue tries again. An overdue item is one that another process leased, or that failed. */
const MIN_PAUSE_SECONDS = 1

export interface BackgroundQueueOptions {
  /** Processes a batch of due items and returns their number. 0 ends the run. */
  readonly processBatch: () => Promise<number>
  /** Seconds until the next item is due, `undefined` if there is none. */
  readonly secondsUntilDue: () => Promise<number | undefined>
  /** The longest pause while items wait. */
  readonly maxPauseSeconds: number
  readonly onError: (error: unknown) => void
}

/**
 * Works through items of a table in the background, in one run at a time. A run ends when nothing is due, and a timer starts the next one
 * when something is. A run that fails ends too: a persistent error costs one attempt per pause.
 */
export class BackgroundQueue {
  readonly #options: BackgroundQueueOptions
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined
  #wokenAgain = false
  #timer: NodeJS.Timeout | undefined

  constructor(options: BackgroundQueueOptions) {
    this.#options = options
  }

  /** Aborts when the queue is stopped. */
  get signal(): AbortSignal {
    return this.#stopping.signal
  }

  /** Called when items may have been queued. */
  wake(): void {
    if (this.signal.aborted) return
    this.#wokenAgain = true
    // In a microtask, so that a call from within the run finds it running.
    this.#running ??= Promise.resolve()
      .then(() => this.#run())
      .finally(() => {
        this.#running = undefined
        if (this.#wokenAgain) this.wake()
      })
  }

  /** Resolves once nothing is due. */
  async settled(): Promise<void> {
    this.wake()
    while (this.#running !== undefined) await this.#running
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the server is stopping'))
    this.#wokenAgain = false
    clearTimeout(this.#timer)
    await this.#running
  }

  async #run(): Promise<void> {
    try {
      do {
        this.#wokenAgain = false
        while (!this.signal.aborted && (await this.#options.processBatch()) > 0);
      } while (this.#wokenAgain && !this.signal.aborted)
    } catch (error) {
      this.#wokenAgain = false
      if (!this.signal.aborted) this.#options.onError(error)
    }
    await this.#schedule()
  }

  /** Schedules a run for when the next item is due. */
  async #schedule(): Promise<void> {
    clearTimeout(this.#timer)
    if (this.signal.aborted) return
    const { secondsUntilDue, maxPauseSeconds } = this.#options
    // Without an answer, the longest pause: the items still wait when the database is back.
    const due = await secondsUntilDue().catch(() => maxPauseSeconds)
    if (due === undefined || this.signal.aborted) return
    const seconds = Math.min(Math.max(due, MIN_PAUSE_SECONDS), maxPauseSeconds)
    this.#timer = setTimeout(() => this.wake(), seconds * 1000).unref()
  }
}
