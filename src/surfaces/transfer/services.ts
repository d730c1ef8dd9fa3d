import type { LibraryPath } from '../../base/paths/index.ts'
import type { LibraryCore } from '../../libraries/library/index.ts'
import type { ClientPush } from '../../libraries/push/index.ts'
import type { LibraryInfo } from '../../libraries/registry/index.ts'
import type { Account } from '../../people/accounts/index.ts'
import type { Transaction } from '../../platform/database/index.ts'
import { routesFor } from '../../platform/http/index.ts'
import type { Access, Links, Tickets, TicketUse } from '../../sharing/access/index.ts'
import type { Quotas } from '../../sharing/quotas/index.ts'
import type { Archives } from './archive-tasks.ts'
import type { IndexedUploads } from './idx-progress.ts'
import type { PartialUploads } from './resumable.ts'

/** The services of the routes under /seafhttp/. */
export interface TransferServices {
  readonly access: Access
  readonly archives: Archives
  readonly core: LibraryCore
  readonly indexedUploads: IndexedUploads
  readonly links: Links
  /** Unix seconds. */
  readonly now: () => number
  /** Notifies the creator of a link of an upload, in the transaction of the upload. */
  readonly onLinkUpload: (tx: Transaction, upload: LinkUpload) => Promise<void>
  readonly partialUploads: PartialUploads
  readonly push: ClientPush
  readonly quotas: Quotas
  readonly tickets: Tickets
  readonly transferLimits: TransferLimits
}

interface LinkUpload {
  readonly makerKey: number
  readonly library: LibraryInfo
  /** The visitor, if the link asks who they are. */
  readonly sender: TicketUse['sender']
  readonly items: readonly { readonly path: LibraryPath; readonly isDir: boolean }[]
}

/** In bytes; undefined means unlimited. */
interface TransferLimits {
  readonly upload: number | undefined
  readonly archive: number | undefined
}

/** Declares a route of the upload and download server. */
export const route = routesFor<Account, TransferServices>({ limit: 'transfer' })
