/**
 * Makes folder entries durable. Those who wait for one folder share a sync, provided it started
 * after they asked; a few folders are synced at a time, so that syncs do not take up the whole
 * thread pool. After a sync has failed nobody can say what is on the disk, so all later ones fail.
 */
export class FolderSyncs {
  readonly #syncFolder: (folder: string) => Promise<void>
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>()
  #running = 0
  #failure: { error: unknown } | undefined

  constructor(syncFolder: (folder: string) => Promise<void>) {
    this.#syncFolder = syncFolder
  }

  /** Resolves once all that was in the folder at the time of the call would survive a power cut. */
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
      if (this.#running === CONCURRENT_SYNCS) return
      this.#waiting.delete(folder)
      this.#running += 1
      this.#run(folder).then(shared.resolve, shared.reject)
    }
  }

  async #run(folder: string) {
    try {
      if (this.#failure !== undefined) throw this.#failure.error
      await this.#syncFolder(folder)
    } catch (error) {
      this.#failure ??= { error }
      throw error
    } finally {
      this.#running -= 1
      this.#startNext()
    }
  }
}

const CONCURRENT_SYNCS = 2
