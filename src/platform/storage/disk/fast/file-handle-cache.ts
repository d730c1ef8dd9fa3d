import { close, closeSync, fstatSync, open, type Stats } from 'node:fs'

const MAX_OPEN = 64

interface OpenFile {
  readonly fd: number
  readers: number
  isCached: boolean
}

/** A file borrowed from the cache. Disposing returns it. */
export class BorrowedFile implements Disposable {
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
 * LRU cache of open files, for blocks read in ranges. A file that was removed or replaced is opened again. Uses callbacks: the promise API
 * of Node takes twice the time on the event loop.
 */
export class FileHandleCache implements AsyncDisposable {
  readonly #files = new Map<string, OpenFile>()
  #closing = 0
  #closed: PromiseWithResolvers<void> | undefined

  /** Throws the error of `open`. */
  async borrow(path: string): Promise<BorrowedFile> {
    const known = this.borrowOpen(path)
    if (known !== undefined) return known
    this.evict(path)
    const fd = await openFile(path)
    const opened: OpenFile = { fd, readers: 0, isCached: !this.#files.has(path) }
    if (opened.isCached) this.#files.set(path, opened)
    const used = this.#lend(path, opened)
    if (this.#files.size > MAX_OPEN) this.#evictOldest()
    return used
  }

  /** As `borrow`, for a file read once from start to end: it does not enter the cache. */
  async borrowOnce(path: string): Promise<BorrowedFile> {
    return (
      this.borrowOpen(path) ?? this.#lend(path, { fd: await openFile(path), readers: 0, isCached: false })
    )
  }

  /** As `borrow`, for a cached file; undefined if it is not cached, or was removed or replaced. */
  borrowOpen(path: string): BorrowedFile | undefined {
    const known = this.#files.get(path)
    if (known === undefined) return undefined
    // Synchronous: the inode of an open file is in memory, so the call is as fast as queueing one in the thread pool.
    const stats = fstatSync(known.fd)
    return stats.nlink > 0 ? this.#lend(path, known, stats) : undefined
  }

  /** For a removed file, so that its disk space is freed. */
  evict(path: string): void {
    const known = this.#files.get(path)
    if (known !== undefined) this.#remove(path, known)
  }

  /** Resolves when all files that are not borrowed are closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const [path, file] of this.#files) this.#remove(path, file)
    if (this.#closing === 0) return
    this.#closed ??= Promise.withResolvers()
    await this.#closed.promise
  }

  #lend(path: string, file: OpenFile, stats = fstatSync(file.fd)): BorrowedFile {
    if (file.isCached) {
      // A Map iterates in insertion order: inserting again makes this entry the most recently used.
      this.#files.delete(path)
      this.#files.set(path, file)
    }
    file.readers += 1
    return new BorrowedFile(file.fd, stats, () => {
      file.readers -= 1
      if (file.readers === 0 && !file.isCached) this.#close(file.fd)
    })
  }

  #evictOldest(): void {
    for (const [path, file] of this.#files) {
      this.#remove(path, file)
      return
    }
  }

  /** If it is borrowed, its last reader closes it. */
  #remove(path: string, file: OpenFile): void {
    file.isCached = false
    this.#files.delete(path)
    if (file.readers === 0) this.#close(file.fd)
  }

  /** Closing is fast and synchronous, except for a removed file: the kernel frees its space then, so it is closed in the thread pool. */
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
