import type { LibraryCore } from '../../../libraries/library/index.ts'
import type { Account, Accounts, Directory, Groups } from '../../../people/accounts/index.ts'
import { routesFor } from '../../../platform/http/index.ts'
import type { Access, Shares } from '../../../sharing/access/index.ts'

/** What the calls for groups use. */
export interface GroupServices {
  readonly access: Access
  readonly accounts: Accounts
  readonly core: LibraryCore
  readonly directory: Directory
  readonly groups: Groups
  /** Unix seconds. */
  readonly now: () => number
  readonly shares: Shares
}

/** What calls that find or add members use, also those of administrators. */
export type MemberServices = Pick<GroupServices, 'accounts' | 'groups'>

/** Declares a call for groups. */
export const route = routesFor<Account, GroupServices>()
