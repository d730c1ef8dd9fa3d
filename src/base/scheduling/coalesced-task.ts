/**
 * A task that runs once at a time. Calls during a run share one further run that begins after it, because the running one may already
 * have processed the data that they refer to.
 */
export class CoalescedTask {
  readonly #task: () => Promise<void>
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined

  constructor(task: () => Promise<void>) {
    this.#task = task
  }

  /** Resolves after a run that began after the call. */
  run(): Promise<void> {
    if (this.#running === undefined) return this.#start()
    this.#next ??= this.#running
      .catch(() => {})
      .then(() => {
        this.#next = undefined
        return this.#start()
      })
    return this.#next
  }

  /** Resolves when nothing is running or waiting. Errors are those of the callers of `run`. */
  async ended(): Promise<void> {
    for (let last = this.#next ?? this.#running; last !== undefined; last = this.#next ?? this.#running) {
      await last.catch(() => {})
    }
  }

  #start(): Promise<void> {
    this.#running = this.#task().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }
}
