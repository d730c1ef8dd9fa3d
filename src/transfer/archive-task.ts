import { randomUUID } from 'node:crypto'
import type { TicketOptions } from '../access/index.ts'
import { type DataKey, TempFileCipher } from '../content/index.ts'
import type { Library } from '../library/index.ts'
import type { Dirent } from '../objects/index.ts'
import { accountRequester, visitorRequester } from '../scheduling/index.ts'
import type { SpaceHold } from './archive-space.ts'

/** The content and the name of a requested archive. */
export interface ArchiveRequest {
  /** Entries of the library's tree, each at the top of the archive. */
  readonly roots: readonly Dirent[]
  /** The file name of the archive. */
  readonly name: string
  /** The link it was requested through. */
  readonly link?: TicketOptions['link']
}

type ArchiveFailure = 'size too large' | 'internal error'

/** The progress of an archive, with the names that clients poll. */
interface ArchiveProgress {
  readonly zipped: number
  readonly total: number
  readonly failure: ArchiveFailure | undefined
  readonly canceled: boolean
}

/** A finished archive. */
export interface FinishedArchive {
  readonly id: string
  readonly name: string
  readonly path: string
  /** The cipher of the file. */
  readonly cover: TempFileCipher | undefined
  /** Bytes. */
  readonly size: number
  /** Unix seconds. */
  readonly finishedAt: number
}

/** The requester that an archive counts for: the account, or the link for its visitors. */
export function requesterOf(library: Library, { link }: Pick<ArchiveRequest, 'link'>): string {
  return link === undefined ? accountRequester(library.actor.key) : visitorRequester(String(link.key))
}

/** One archive, from the request to the expiry of its tickets. */
export class ArchiveTask {
  /** Names the temporary files. Not the ticket, which is a secret. */
  readonly id = randomUUID()
  readonly library: Library
  readonly request: ArchiveRequest
  /** The account or the link it counts for. */
  readonly requester: string
  /** The tickets and their expiry in Unix seconds. Visitors of a link share equal archives. */
  readonly tickets = new Map<string, number>()
  /** The reserved disk space; none once the file is removed. */
  space: SpaceHold | undefined
  /** Whether a download has started. */
  isFetched = false
  /** The key of an encrypted library, held until the archive is packed; undefined for a plain one. */
  readonly key: DataKey | undefined
  /** The cipher of the archive file: plaintext of an encrypted library must not outlive the process. */
  readonly cover: TempFileCipher | undefined
  readonly #lease: Disposable | undefined
  /** Settles when packing has stopped; never rejects. */
  packing: Promise<void> | undefined
  total: number | undefined
  packed = 0
  failure: ArchiveFailure | undefined
  canceled = false
  finished: FinishedArchive | undefined
  readonly #abort = new AbortController()

  constructor(library: Library, request: ArchiveRequest, key: DataKey | undefined) {
    this.library = library
    this.request = request
    this.requester = requesterOf(library, request)
    this.key = key
    this.cover = key && TempFileCipher.random()
    this.#lease = key?.lease()
  }

  /** Whether it is queued or being packed. */
  get isUnfinished(): boolean {
    return this.finished === undefined && this.failure === undefined && !this.canceled
  }

  /** Drops the library's key. Called when nothing more will be read. */
  releaseKey(): void {
    this.#lease?.[Symbol.dispose]()
  }

  /** Aborted when the archive is canceled. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** Resolves when packing has stopped. */
  async stop(): Promise<void> {
    this.finished = undefined
    this.#abort.abort()
    await this.packing
  }

  /**
   * `zipped` equals `total` exactly when the archive can be downloaded: until all files are counted it is 0 of 1,
   * and the last file counts when the archive is complete.
   */
  get progress(): ArchiveProgress {
    const { failure, canceled, total = 0 } = this
    if (this.finished !== undefined) return { zipped: total, total, failure, canceled }
    if (total === 0) return { zipped: 0, total: 1, failure, canceled }
    return { zipped: Math.min(this.packed, total - 1), total, failure, canceled }
  }
}
