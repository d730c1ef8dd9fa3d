import type { ActivityService } from '../../../derived/activity/index.ts'
import type { LibraryCore } from '../../../libraries/library/index.ts'
import type { Statistics, Usage } from '../../../libraries/usage/index.ts'
import type { Account, Accounts, Directory, Groups } from '../../../people/accounts/index.ts'
import type { SyncTokens } from '../../../people/credentials/index.ts'
import { routesFor } from '../../../platform/http/index.ts'
import type { Access, LibraryPasswords, Shares } from '../../../sharing/access/index.ts'
import type { Quotas } from '../../../sharing/quotas/index.ts'

/** What the calls for libraries use. */
export interface LibraryServices {
  readonly access: Access
  readonly accounts: Accounts
  readonly activity: ActivityService
  readonly core: LibraryCore
  readonly directory: Directory
  readonly groups: Groups
  readonly libraryPasswords: LibraryPasswords
  /** Unix seconds. */
  readonly now: () => number
  readonly quotas: Quotas
  readonly shares: Shares
  readonly statistics: Statistics
  readonly syncTokens: SyncTokens
  readonly usage: Usage
}

/** Declares a call for libraries. */
export const route = routesFor<Account, LibraryServices>()
