import type { LibraryCore } from '../../../libraries/library/index.ts'
import type { Account } from '../../../people/accounts/index.ts'
import { routesFor } from '../../../platform/http/index.ts'
import type { Access } from '../../../sharing/access/index.ts'

/** What the calls for starred items use. */
export interface StarServices {
  readonly access: Access
  readonly core: LibraryCore
  /** Unix seconds. */
  readonly now: () => number
}

/** Declares a call for starred items. */
export const route = routesFor<Account, StarServices>()
