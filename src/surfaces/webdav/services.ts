import type { LibraryCore } from '../../libraries/library/index.ts'
import type { Account, Accounts } from '../../people/accounts/index.ts'
import { routesFor } from '../../platform/http/index.ts'
import type { Access, LibraryNames } from '../../sharing/access/index.ts'
import type { Quotas } from '../../sharing/quotas/index.ts'

/** The services of the WebDAV routes. */
export interface WebdavServices {
  readonly access: Access
  readonly accounts: Accounts
  readonly core: LibraryCore
  readonly libraryNames: LibraryNames
  /** Unix seconds. */
  readonly now: () => number
  readonly quotas: Quotas
  /** The bytes that the store of the blocks can still take, whatever the quotas are. */
  readonly server: { storeRoom(): Promise<number> }
  /** In bytes; undefined means unlimited. */
  readonly transferLimits: { readonly upload: number | undefined }
}

/** Declares a route of WebDAV. */
export const route = routesFor<Account, WebdavServices>({ limit: 'transfer' })
