import type { LibraryCore } from '../../../libraries/library/index.ts'
import type { Account, Directory } from '../../../people/accounts/index.ts'
import { routesFor } from '../../../platform/http/index.ts'
import type { Access, LinkMails, Links, Tickets } from '../../../sharing/access/index.ts'
import type { Quotas } from '../../../sharing/quotas/index.ts'
import type { Archives } from '../transfers/services.ts'

/** What the calls for links use. */
export interface LinkServices {
  readonly access: Access
  readonly archives: Archives
  readonly core: LibraryCore
  readonly directory: Directory
  readonly linkMails: LinkMails
  readonly links: Links
  /** Unix seconds. */
  readonly now: () => number
  readonly quotas: Quotas
  readonly tickets: Tickets
}

/** Declares a call for links. */
export const route = routesFor<Account, LinkServices>()
