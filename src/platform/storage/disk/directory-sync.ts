import { FolderFlushError } from './folder-handles.ts'

/**
 * Flushes folder entries to disk. Concurrent callers for one folder share a flush that started after they asked. At most two folders are
 * flushed at a time, so that flushes do not occupy the thread pool. After one failed flush all later ones fail: the kernel reports a
 * write-back error once, so a later success would prove nothing. An error before the flush, such as a lack of descriptors, fails only its
 * callers.
 */
export class DirectorySync {
  readonly #syncDirectory: (folder: string) => Promise<void>
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>()
  readonly #onFatal: (error: Error) => void
  #running = 0
  #failure: FolderFlushError | undefined

  /** `syncDirectory` throws FolderFlushError for a failed flush, and `onFatal` is called with the first. */
  constructor(syncDirectory: (folder: string) => Promise<void>, onFatal: (error: Error) => void) {
    this.#syncDirectory = syncDirectory
    this.#onFatal = onFatal
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
      if (this.#failure !== undefined) throw this.#failure
      await this.#syncDirectory(folder)
    } catch (error) {
      if (error instanceof FolderFlushError && this.#failure === undefined) {
        this.#failure = error
        this.#onFatal(error)
      }
      throw error
    } finally {
      this.#running -= 1
      this.#startNext()
    }
  }
}

const MAX_CONCURRENT = 2
