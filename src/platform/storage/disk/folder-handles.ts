import { closeSync, fsync, openSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { codeOf } from './disk-errors.ts'

/** A folder could not be flushed. What was named in it may be lost, and a later success would prove nothing. */
export class FolderFlushError extends Error {
  constructor(folder: string, cause: unknown) {
    super(`The folder ${folder} could not be flushed to disk (${codeOf(cause)}).`, { cause })
    this.name = 'FolderFlushError'
  }
}

interface OpenFolder {
  readonly fd: number
  users: number
}

/** Where the file system cannot flush folders, as on some network file systems, a flush does nothing. */
const UNSUPPORTED: ReadonlySet<string> = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP'])
/** There is no descriptor left, in the process or in the system. */
const OUT_OF_DESCRIPTORS: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE'])
const RETRIES = 20
const RETRY_MS = 100

/**
 * Flushes folders, and keeps them open between flushes, so that a flush needs no descriptor: there may be none left while many clients are
 * connected.
 */
export class FolderHandles implements Disposable {
  readonly #maxOpen: number
  /** The least recently used first. */
  readonly #open = new Map<string, OpenFolder>()

  constructor(maxOpen: number) {
    this.#maxOpen = maxOpen
  }

  /** Opens folders ahead, up to the limit. Throws the error of `open`. */
  openAll(folders: readonly string[]): void {
    for (const folder of folders.slice(0, this.#maxOpen)) this.#open.set(folder, openFolder(folder))
  }

  /** Throws FolderFlushError if the flush failed, and the error of `open` if it never began. */
  async sync(folder: string): Promise<void> {
    const opened = await this.#borrow(folder)
    try {
      await flush(opened.fd, folder)
    } finally {
      this.#return(opened)
    }
  }

  [Symbol.dispose](): void {
    for (const { fd } of this.#open.values()) closeSync(fd)
    this.#open.clear()
  }

  /** Waits 2 s for a free descriptor. */
  async #borrow(folder: string): Promise<OpenFolder> {
    for (let retry = 0; ; retry += 1) {
      try {
        return this.#take(folder)
      } catch (error) {
        if (retry === RETRIES || !OUT_OF_DESCRIPTORS.has(codeOf(error))) throw error
      }
      await delay(RETRY_MS)
    }
  }

  #take(folder: string): OpenFolder {
    const opened = this.#open.get(folder) ?? openFolder(folder)
    // To the end: the most recently used.
    this.#open.delete(folder)
    this.#open.set(folder, opened)
    opened.users += 1
    return opened
  }

  #return(returned: OpenFolder): void {
    returned.users -= 1
    for (const [folder, { fd, users }] of this.#open) {
      if (this.#open.size <= this.#maxOpen) return
      if (users > 0) continue
      this.#open.delete(folder)
      closeSync(fd)
    }
  }
}

// Synchronous: the folder was just changed and is in memory, so it needs no thread pool.
function openFolder(folder: string): OpenFolder {
  return { fd: openSync(folder, 'r'), users: 0 }
}

function flush(fd: number, folder: string): Promise<void> {
  return new Promise((resolve, reject) => {
    fsync(fd, (error) => {
      if (error === null || UNSUPPORTED.has(codeOf(error))) resolve()
      else reject(new FolderFlushError(folder, error))
    })
  })
}
