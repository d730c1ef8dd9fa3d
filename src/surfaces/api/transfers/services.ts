import type { LibraryPath } from '../../../base/paths/index.ts'
import type { LibraryCore } from '../../../libraries/library/index.ts'
import type { ClientPush } from '../../../libraries/push/index.ts'
import type { Account } from '../../../people/accounts/index.ts'
import { routesFor } from '../../../platform/http/index.ts'
import type { Access, Tickets } from '../../../sharing/access/index.ts'
import type { Quotas } from '../../../sharing/quotas/index.ts'
import type { Archives } from './archives.ts'

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
  readonly core: LibraryCore
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
