/**
 * Flushes folder entries to disk. Concurrent callers for one folder share a flush that started after they asked. At most two folders are
 * flushed at a time, so that flushes do not occupy the thread pool. After one failure all later flushes fail: the kernel reports a
 * write-back error once, so a later success would prove nothing.
 */
export class DirectorySync {
  readonly #syncDirectory: (folder: string) => Promise<void>
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>()
  #running = 0
  #failure: { error: unknown } | undefined

  constructor(syncDirectory: (folder: string) => Promise<void>) {
    this.#syncDirectory = syncDirectory
  }

  /** Resolves once all entries present at the time of the call would survive a power failure. */
  sync(folder: string): Promise<void> {
    let shared = this.#waiting.get(folder)
    if (shared === undefined) {
      shared = Promise.withResolvers()
      this.#waiting.set(folder, shared)
      this.#startNext()
    }
    return shared.promise
  }

  #startNext() {
    for (const [folder, shared] of this.#waiting) {
      if (this.#running === MAX_CONCURRENT) return
      this.#waiting.delete(folder)
      this.#running += 1
      this.#run(folder).then(shared.resolve, shared.reject)
    }
  }

  async #run(folder: string) {
    try {
      if (this.#failure !== undefined) throw this.#failure.error
      await this.#syncDirectory(folder)
    } catch (error) {
      this.#failure ??= { error }
      throw error
    } finally {
      this.#running -= 1
      this.#startNext()
    }
  }
}

const MAX_CONCURRENT = 2
