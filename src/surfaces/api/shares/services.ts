import type { LibraryCore } from '../../../libraries/library/index.ts'
import type { Account, Accounts, Directory, Groups } from '../../../people/accounts/index.ts'
import type { SyncTokens } from '../../../people/credentials/index.ts'
import { routesFor } from '../../../platform/http/index.ts'
import type { Access, Links, Shares } from '../../../sharing/access/index.ts'

/** What the calls for shares use. */
export interface ShareServices {
  readonly access: Access
  readonly accounts: Accounts
  readonly core: LibraryCore
  readonly directory: Directory
  readonly groups: Groups
  readonly links: Links
  /** Unix seconds. */
  readonly now: () => number
  readonly shares: Shares
  readonly syncTokens: SyncTokens
}

/** Declares a call for shares. */
export const route = routesFor<Account, ShareServices>()
