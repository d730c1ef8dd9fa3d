import type { LibraryCore } from '../../../libraries/library/index.ts'
import type { Account, Directory } from '../../../people/accounts/index.ts'
import { routesFor } from '../../../platform/http/index.ts'
import type { Access } from '../../../sharing/access/index.ts'
import type { Quotas } from '../../../sharing/quotas/index.ts'

/** What the calls for trashes use. */
export interface TrashServices {
  readonly access: Access
  readonly core: LibraryCore
  readonly directory: Directory
  readonly quotas: Quotas
}

/** Declares a call for trashes. */
export const route = routesFor<Account, TrashServices>()
