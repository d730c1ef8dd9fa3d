import type { Access } from '../access/access.ts'
import type { Quotas } from '../access/quota.ts'
import { routesFor } from '../http/route.ts'
import type { Account } from '../identity/account.ts'
import type { Accounts } from '../identity/accounts.ts'
import type { SyncTokens } from '../identity/sync-tokens.ts'
import type { LibraryCore } from '../library/core.ts'
import type { SyncDoor } from './door.ts'
import type { NotificationTokens } from './notification-tokens.ts'

/** What the routes of the sync protocol work with. */
export interface SyncServices {
  readonly access: Access
  readonly accounts: Accounts
  readonly core: LibraryCore
  readonly notificationTokens: NotificationTokens
  /** Unix seconds. */
  readonly now: () => number
  readonly quotas: Quotas
  readonly syncDoor: SyncDoor
  readonly syncTokens: SyncTokens
}

/** Declares a route of the sync protocol. */
export const route = routesFor<Account, SyncServices>()
