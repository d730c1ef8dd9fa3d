/**
 * Group commit: concurrent callers share one flush. A failed flush cannot be repaired by a retry, because the kernel drops the pages and
 * reports the error once. So a failure is final.
 */
export class GroupSync {
  readonly #sync: () => Promise<void>
  readonly #onFatal: (error: Error) => void
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined
  #failure: Error | undefined

  constructor(sync: () => Promise<void>, onFatal: (error: Error) => void) {
    this.#sync = sync
    this.#onFatal = onFatal
  }

  /** Resolves after a flush that started after this call. */
  flush(): Promise<void> {
    this.throwIfFailed()
    if (this.#next) return this.#next
    if (!this.#running) return this.#start()
    this.#next = this.#running.then(() => this.#start())
    return this.#next
  }

  throwIfFailed(): void {
    if (this.#failure) throw new Error('Writing stopped because the disk failed.', { cause: this.#failure })
  }

  /** Records a final disk failure and reports it with `onFatal`. */
  fail(message: string, cause: unknown): Error {
    if (this.#failure) return this.#failure
    this.#failure = new Error(message, { cause })
    this.#onFatal(this.#failure)
    return this.#failure
  }

  #start(): Promise<void> {
    this.#next = undefined
    this.#running = this.#run()
    return this.#running
  }

  async #run(): Promise<void> {
    try {
      await this.#sync()
    } catch (cause) {
      throw this.fail('The database could not be synced to disk.', cause)
    } finally {
      this.#running = undefined
    }
    this.throwIfFailed()
  }
}
