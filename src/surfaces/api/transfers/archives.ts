import type { Dirent } from '../../../base/objects/index.ts'
import type { Library } from '../../../libraries/library/index.ts'
import type { TicketOptions } from '../../../sharing/access/index.ts'

/** Archives packed in the background. Implemented by the transfer surface, started and polled by the web API. */
export interface Archives {
  /** Starts an archive of entries of the library's tree and returns its ticket. Throws password-needed. */
  start(
    library: Library,
    options: { roots: readonly Dirent[]; name: string; link?: TicketOptions['link'] },
  ): Promise<string>
  /** The archive of a valid ticket. */
  find(ticket: string): Promise<{ readonly progress: ArchiveProgress } | undefined>
  /** Idempotent: an unknown ticket is no error. */
  cancel(ticket: string): Promise<void>
}

/** In files. The archive can be downloaded once `zipped` equals `total`. */
export interface ArchiveProgress {
  readonly zipped: number
  readonly total: number
  /** Why packing failed. */
  readonly failure: string | undefined
  readonly canceled: boolean
}
