import type { Access, Quotas } from '../access/index.ts'
import { routesFor } from '../http/index.ts'
import type { Account, Accounts, SyncTokens } from '../identity/index.ts'
import type { LibraryCore } from '../library/index.ts'
import type { ClientPush } from '../push/index.ts'
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
