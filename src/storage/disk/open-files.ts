import { close, closeSync, fstatSync, open, type Stats } from 'node:fs'

const MOST_OPEN = 64

interface OpenFile {
  readonly fd: number
  readers: number
  isCached: boolean
}

/** A file in use. Disposing it leaves it open for the next reader, for a while. */
export class UsedFile implements Disposable {
  readonly fd: number
  readonly stats: Stats
  readonly #done: () => void

  constructor(fd: number, stats: Stats, done: () => void) {
    this.fd = fd
    this.stats = stats
    this.#done = done
  }

  [Symbol.dispose](): void {
    this.#done()
  }
}

/**
 * Files that were read in parts lately stay open. A file that was removed or replaced meanwhile is opened anew. By callback: the
 * promises of handles take the event loop twice as long.
 */
export class OpenFiles implements AsyncDisposable {
  readonly #files = new Map<string, OpenFile>()
  #closing = 0
  #closed: PromiseWithResolvers<void> | undefined

  /** Throws what opening throws. */
  async use(path: string): Promise<UsedFile> {
    const known = this.find(path)
    if (known !== undefined) return known
    this.forget(path)
    const fd = await openFile(path)
    const opened: OpenFile = { fd, readers: 0, isCached: !this.#files.has(path) }
    if (opened.isCached) this.#files.set(path, opened)
    const used = this.#lend(path, opened)
    if (this.#files.size > MOST_OPEN) this.#dropOldest()
    return used
  }

  /** As use, for a file that is read once from its beginning to its end: it does not stay open. */
  async useOnce(path: string): Promise<UsedFile> {
    return this.find(path) ?? this.#lend(path, { fd: await openFile(path), readers: 0, isCached: false })
  }

  /** As use, for a file that is open already; undefined if it is not, or was removed or replaced. */
  find(path: string): UsedFile | undefined {
    const known = this.#files.get(path)
    if (known === undefined) return undefined
    // What is asked of an open file is in memory: this takes no longer than handing it to another thread.
    const stats = fstatSync(known.fd)
    return stats.nlink > 0 ? this.#lend(path, known, stats) : undefined
  }

  /** So that a file that is removed gives back its space. */
  forget(path: string): void {
    const known = this.#files.get(path)
    if (known !== undefined) this.#drop(path, known)
  }

  /** Resolves when all that nobody uses is closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const [path, file] of this.#files) this.#drop(path, file)
    if (this.#closing === 0) return
    this.#closed ??= Promise.withResolvers()
    await this.#closed.promise
  }

  #lend(path: string, file: OpenFile, stats = fstatSync(file.fd)): UsedFile {
    if (file.isCached) {
      // A Map lists its keys in the order they were set: setting again makes this the newest.
      this.#files.delete(path)
      this.#files.set(path, file)
    }
    file.readers += 1
    return new UsedFile(file.fd, stats, () => {
      file.readers -= 1
      if (file.readers === 0 && !file.isCached) this.#close(file.fd)
    })
  }

  #dropOldest(): void {
    for (const [path, file] of this.#files) {
      this.#drop(path, file)
      return
    }
  }

  /** Its last reader closes it. */
  #drop(path: string, file: OpenFile): void {
    file.isCached = false
    this.#files.delete(path)
    if (file.readers === 0) this.#close(file.fd)
  }

  /** What only was read is closed in no time, unless it was removed and its space is now given back: nobody waits for that. */
  #close(fd: number): void {
    if (fstatSync(fd).nlink > 0) return closeSync(fd)
    this.#closing += 1
    close(fd, () => {
      this.#closing -= 1
      if (this.#closing === 0) this.#closed?.resolve()
    })
  }
}

function openFile(path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    open(path, 'r', (error, fd) => (error === null ? resolve(fd) : reject(error)))
  })
}
