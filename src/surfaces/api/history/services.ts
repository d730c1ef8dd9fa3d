import type { LibraryCore } from '../../../libraries/library/index.ts'
import type { Account, Directory } from '../../../people/accounts/index.ts'
import { routesFor } from '../../../platform/http/index.ts'
import type { Access, Tickets } from '../../../sharing/access/index.ts'
import type { Quotas } from '../../../sharing/quotas/index.ts'

/** What the calls for the history of libraries and files use. */
export interface HistoryServices {
  readonly access: Access
  readonly core: LibraryCore
  readonly directory: Directory
  readonly quotas: Quotas
  readonly tickets: Tickets
}

/** Declares a call for the history of libraries and files. */
export const route = routesFor<Account, HistoryServices>()
