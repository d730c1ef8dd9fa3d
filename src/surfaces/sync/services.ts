import type { LibraryCore } from '../../libraries/library/index.ts'
import type { ClientPush } from '../../libraries/push/index.ts'
import type { Account, Accounts } from '../../people/accounts/index.ts'
import type { SyncTokens } from '../../people/credentials/index.ts'
import { routesFor } from '../../platform/http/index.ts'
import type { Access } from '../../sharing/access/index.ts'
import type { Quotas } from '../../sharing/quotas/index.ts'
import type { NotificationTokens } from './notification-tokens.ts'
import type { SyncAccess } from './sync-access.ts'

/** The services of the sync routes. */
export interface SyncServices {
  readonly access: Access
  readonly accounts: Accounts
  readonly core: LibraryCore
  readonly notificationTokens: NotificationTokens
  /** Unix seconds. */
  readonly now: () => number
  readonly push: ClientPush
  readonly quotas: Quotas
  readonly syncAccess: SyncAccess
  readonly syncTokens: SyncTokens
}

/** Declares a route of the sync protocol. */
export const route = routesFor<Account, SyncServices>({ limit: 'transfer' })
