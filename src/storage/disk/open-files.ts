import { fstatSync, type Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'

const MOST_OPEN = 64

interface OpenFile {
  readonly handle: FileHandle
  readers: number
  isCached: boolean
}

/** A file in use. Disposing it leaves it open for the next reader, for a while. */
export class UsedFile implements AsyncDisposable {
  readonly stats: Stats
  readonly #file: OpenFile

  constructor(file: OpenFile, stats: Stats) {
    this.#file = file
    this.stats = stats
    file.readers += 1
  }

  get handle(): FileHandle {
    return this.#file.handle
  }

  /** As disposing it, with nothing to wait for where nothing is closed. */
  release(): Promise<void> | undefined {
    const file = this.#file
    file.readers -= 1
    return file.readers === 0 && !file.isCached ? file.handle.close() : undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release()
  }
}

/** Files read in many small parts are opened once. A file that was removed or replaced meanwhile is opened anew. */
export class OpenFiles {
  readonly #files = new Map<string, OpenFile>()

  /** Throws what opening throws. */
  async use(path: string): Promise<UsedFile> {
    const known = this.find(path)
    if (known !== undefined) return known
    await this.forget(path)
    const handle = await open(path)
    const opened: OpenFile = { handle, readers: 0, isCached: !this.#files.has(path) }
    if (opened.isCached) this.#files.set(path, opened)
    const used = this.#lend(path, opened, fstatSync(handle.fd))
    if (this.#files.size > MOST_OPEN) await this.#dropOldest()
    return used
  }

  /** As use, for a file that is open already; undefined if it is not, or was removed or replaced. */
  find(path: string): UsedFile | undefined {
    const known = this.#files.get(path)
    if (known === undefined) return undefined
    // What is asked of an open file is in memory: this takes no longer than handing it to another thread.
    const stats = fstatSync(known.handle.fd)
    return stats.nlink > 0 ? this.#lend(path, known, stats) : undefined
  }

  /** So that a file that is removed gives back its space. */
  async forget(path: string): Promise<void> {
    const known = this.#files.get(path)
    if (known !== undefined) await this.#drop(path, known)
  }

  async close(): Promise<void> {
    for (const [path, file] of this.#files) await this.#drop(path, file)
  }

  #lend(path: string, file: OpenFile, stats: Stats): UsedFile {
    if (file.isCached) {
      // A Map lists its keys in the order they were set: setting again makes this the newest.
      this.#files.delete(path)
      this.#files.set(path, file)
    }
    return new UsedFile(file, stats)
  }

  async #dropOldest(): Promise<void> {
    for (const [path, file] of this.#files) {
      await this.#drop(path, file)
      return
    }
  }

  /** Its last reader closes it. */
  async #drop(path: string, file: OpenFile): Promise<void> {
    if (!file.isCached) return
    file.isCached = false
    this.#files.delete(path)
    if (file.readers === 0) await file.handle.close()
  }
}
