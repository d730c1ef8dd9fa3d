import type { TicketWish } from '../../access/index.ts'
import type { Library } from '../../library/index.ts'
import type { Dirent } from '../../objects/index.ts'

/** Makes archives outside of a request. The transfer surface has them; the web API starts and watches them. */
export interface Archives {
  /** Starts an archive of entries of the library's tree as it was opened; gives its ticket. Throws password-needed. */
  start(
    library: Library,
    wish: { roots: readonly Dirent[]; name: string; link?: TicketWish['link'] },
  ): Promise<string>
  /** The archive of a ticket, as long as that is valid. */
  find(ticket: string): Promise<{ readonly progress: ArchiveProgress } | undefined>
  /** An unknown ticket is no error. */
  cancel(ticket: string): Promise<void>
}

/** In files. The archive can be fetched once `zipped` equals `total`. */
export interface ArchiveProgress {
  readonly zipped: number
  readonly total: number
  /** Why there will be no archive. */
  readonly failure: string | undefined
  readonly canceled: boolean
}
