import { randomUUID } from 'node:crypto'
import { Cover } from '../library/cover.ts'
import type { DataKey } from '../library/data-key.ts'
import type { Library } from '../library/library.ts'
import type { Dirent } from '../objects/dirent.ts'

/** What an archive is to hold, and what it is to be called. */
export interface ArchiveWish {
  /** Entries of the library's tree, each at the top of the archive. */
  readonly roots: readonly Dirent[]
  /** The file name of the archive. */
  readonly name: string
}

export type ArchiveFailure = 'size too large' | 'internal error'

/** How far an archive is; the names are those of the counters clients poll. */
export interface ArchiveProgress {
  readonly zipped: number
  readonly total: number
  readonly failure: ArchiveFailure | undefined
  readonly canceled: boolean
}

/** An archive that can be fetched. */
export interface FinishedArchive {
  readonly id: string
  readonly name: string
  readonly path: string
  /** What the file is covered with. */
  readonly cover: Cover | undefined
  /** Bytes. */
  readonly size: number
  /** Unix seconds. */
  readonly finishedAt: number
}

/** One archive from the request for it to the end of its ticket. */
export class ArchiveTask {
  /** Names its temporary files: a ticket is a secret, and folders are listed. */
  readonly id = randomUUID()
  readonly library: Library
  readonly wish: ArchiveWish
  /** Unix seconds. */
  readonly expiresAt: number
  /** What the library is encrypted with, held until the archive is packed; undefined for a plain one. */
  readonly key: DataKey | undefined
  /** What the archive is covered with: plaintext of an encrypted library must not outlive the process. */
  readonly cover: Cover | undefined
  readonly #lease: Disposable | undefined
  /** Settles when nothing works on it any more; it never rejects. */
  packing: Promise<void> | undefined
  total: number | undefined
  packed = 0
  failure: ArchiveFailure | undefined
  canceled = false
  finished: FinishedArchive | undefined
  /** Called with each step; `progress` then says how far it is. */
  onProgress: (state: 'queued' | 'running' | 'successful' | 'failed' | 'canceled') => void = () => {}
  readonly #abort = new AbortController()

  constructor(library: Library, wish: ArchiveWish, expiresAt: number, key: DataKey | undefined) {
    this.library = library
    this.wish = wish
    this.expiresAt = expiresAt
    this.key = key
    this.cover = key && Cover.random()
    this.#lease = key?.lease()
  }

  /** Lets go of the library's key. To be called when nothing will be read any more. */
  releaseKey(): void {
    this.#lease?.[Symbol.dispose]()
  }

  /** Aborted when nobody wants the archive any more. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** Resolves when nothing works on it any more. */
  async stop(): Promise<void> {
    this.finished = undefined
    this.#abort.abort()
    await this.packing
  }

  /**
   * `zipped` equals `total` exactly when the archive can be fetched: until all is counted it is 0 of 1,
   * and the last file counts when the archive is complete.
   */
  get progress(): ArchiveProgress {
    const { failure, canceled, total = 0 } = this
    if (this.finished !== undefined) return { zipped: total, total, failure, canceled }
    if (total === 0) return { zipped: 0, total: 1, failure, canceled }
    return { zipped: Math.min(this.packed, total - 1), total, failure, canceled }
  }
}
