import type { Tags } from '../../../derived/annotations/index.ts'
import type { LibraryCore } from '../../../libraries/library/index.ts'
import type { CopyMoveTasks } from '../../../maintenance/jobs/index.ts'
import type { Account, Accounts, Directory } from '../../../people/accounts/index.ts'
import { routesFor } from '../../../platform/http/index.ts'
import type { Access } from '../../../sharing/access/index.ts'
import type { Quotas } from '../../../sharing/quotas/index.ts'

/** What the calls for copies, moves and deletions of many items use. */
export interface BatchServices {
  readonly access: Access
  readonly accounts: Accounts
  readonly copyMoveTasks: CopyMoveTasks
  readonly core: LibraryCore
  readonly directory: Directory
  readonly quotas: Quotas
  readonly tags: Tags
}

/** Declares a call for copies, moves and deletions of many items. */
export const route = routesFor<Account, BatchServices>()
