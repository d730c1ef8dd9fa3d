import { randomUUID } from 'node:crypto'
import type { TicketWish } from '../access/index.ts'
import { type DataKey, TempFileCipher } from '../content/index.ts'
import type { Library } from '../library/index.ts'
import type { Dirent } from '../objects/index.ts'
import { accountRequester, visitorRequester } from '../scheduling/index.ts'
import type { SpaceHold } from './archive-space.ts'

/** What an archive is to hold, and what it is to be called. */
export interface ArchiveWish {
  /** Entries of the library's tree, each at the top of the archive. */
  readonly roots: readonly Dirent[]
  /** The file name of the archive. */
  readonly name: string
  /** The link it is wanted by. */
  readonly link?: TicketWish['link']
}

type ArchiveFailure = 'size too large' | 'internal error'

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
  readonly cover: TempFileCipher | undefined
  /** Bytes. */
  readonly size: number
  /** Unix seconds. */
  readonly finishedAt: number
}

/** Whom an archive counts for: visitors of a link share what the link has, and are not its maker. */
export function requesterOf(library: Library, { link }: Pick<ArchiveWish, 'link'>): string {
  return link === undefined ? accountRequester(library.actor.key) : visitorRequester(String(link.key))
}

/** One archive from the request for it to the end of its tickets. */
export class ArchiveTask {
  /** Names its temporary files: a ticket is a secret, and folders are listed. */
  readonly id = randomUUID()
  readonly library: Library
  readonly wish: ArchiveWish
  /** The account or the link it counts for. */
  readonly requester: string
  /** The tickets it can be fetched with, and when each ends, in Unix seconds. Visitors of a link share one archive of the same. */
  readonly tickets = new Map<string, number>()
  /** The disk space it holds; none once its file is gone. */
  space: SpaceHold | undefined
  /** Whether somebody has fetched some of it. */
  isFetched = false
  /** What the library is encrypted with, held until the archive is packed; undefined for a plain one. */
  readonly key: DataKey | undefined
  /** What the archive is covered with: plaintext of an encrypted library must not outlive the process. */
  readonly cover: TempFileCipher | undefined
  readonly #lease: Disposable | undefined
  /** Settles when nothing works on it any more; it never rejects. */
  packing: Promise<void> | undefined
  total: number | undefined
  packed = 0
  failure: ArchiveFailure | undefined
  canceled = false
  finished: FinishedArchive | undefined
  readonly #abort = new AbortController()

  constructor(library: Library, wish: ArchiveWish, key: DataKey | undefined) {
    this.library = library
    this.wish = wish
    this.requester = requesterOf(library, wish)
    this.key = key
    this.cover = key && TempFileCipher.random()
    this.#lease = key?.lease()
  }

  /** Whether it waits or is packed. */
  get isUnfinished(): boolean {
    return this.finished === undefined && this.failure === undefined && !this.canceled
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
