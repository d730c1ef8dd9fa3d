import type { Dirent } from '../../../base/objects/index.ts'
import type { LibraryPath } from '../../../base/paths/index.ts'
import type { ArchiveProgress } from '../../../libraries/archives/index.ts'
import type { Library } from '../../../libraries/library/index.ts'
import type { ClientPush } from '../../../libraries/push/index.ts'
import type { Account } from '../../../people/accounts/index.ts'
import { routesFor } from '../../../platform/http/index.ts'
import type { Access, TicketOptions, Tickets } from '../../../sharing/access/index.ts'
import type { Quotas } from '../../../sharing/quotas/index.ts'

/** Resumable uploads. */
interface PartialUploads {
  /** How many bytes of a file are stored. */
  uploadedBytes(key: {
    libraryKey: number
    accountKey: number
    linkKey: number
    path: LibraryPath
  }): Promise<number>
}

/** What the calls for uploads and downloads use. */
export interface TransferServices {
  readonly access: Access
  readonly archives: Archives
  /** Unix seconds. */
  readonly now: () => number
  readonly partialUploads: PartialUploads
  readonly push: ClientPush
  /** The status when an upload link is refused because the owner is out of quota. */
  readonly quotaStatus: 443 | 500
  readonly quotas: Quotas
  readonly tickets: Tickets
}

/** Declares a call for uploads and downloads. */
export const route = routesFor<Account, TransferServices>()

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
