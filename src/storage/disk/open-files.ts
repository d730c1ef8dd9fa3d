import { fstatSync, type Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'

const MOST_OPEN = 64

interface OpenFile {
  readonly handle: FileHandle
  readers: number
  isCached: boolean
}

/** A file in use. Disposing it leaves it open for the next reader, for a while. */
export interface UsedFile extends AsyncDisposable {
  readonly handle: FileHandle
  readonly stats: Stats
}

/** Files read in many small parts are opened once. A file that was removed or replaced meanwhile is opened anew. */
export class OpenFiles {
  readonly #files = new Map<string, OpenFile>()

  /** Throws what opening throws. */
  async use(path: string): Promise<UsedFile> {
    const known = this.#files.get(path)
    if (known !== undefined) {
      // What is asked of an open file is in memory: this takes no longer than handing it to another thread.
      const stats = fstatSync(known.handle.fd)
      if (stats.nlink > 0) return this.#lend(path, known, stats)
      await this.#drop(path, known)
    }
    const handle = await open(path)
    const opened: OpenFile = { handle, readers: 0, isCached: !this.#files.has(path) }
    if (opened.isCached) this.#files.set(path, opened)
    return this.#lend(path, opened, fstatSync(handle.fd))
  }

  /** So that a file that is removed gives back its space. */
  async forget(path: string): Promise<void> {
    const known = this.#files.get(path)
    if (known !== undefined) await this.#drop(path, known)
  }

  async close(): Promise<void> {
    for (const [path, file] of this.#files) await this.#drop(path, file)
  }

  async #lend(path: string, file: OpenFile, stats: Stats): Promise<UsedFile> {
    file.readers += 1
    if (file.isCached) {
      // A Map lists its keys in the order they were set: setting again makes this the newest.
      this.#files.delete(path)
      this.#files.set(path, file)
    }
    if (this.#files.size > MOST_OPEN) await this.#dropOldest()
    return {
      handle: file.handle,
      stats,
      [Symbol.asyncDispose]: async () => {
        file.readers -= 1
        if (file.readers === 0 && !file.isCached) await file.handle.close()
      },
    }
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
