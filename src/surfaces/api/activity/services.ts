import type { ActivityService } from '../../../derived/activity/index.ts'
import type { Account, Directory } from '../../../people/accounts/index.ts'
import type { ApiTokens } from '../../../people/credentials/index.ts'
import { routesFor } from '../../../platform/http/index.ts'
import type { Access } from '../../../sharing/access/index.ts'

/** What the calls for activities, notifications and webhooks use. */
export interface ActivityServices {
  readonly access: Access
  readonly activity: ActivityService
  readonly apiTokens: ApiTokens
  readonly directory: Directory
}

/** Declares a call for activities, notifications and webhooks. */
export const route = routesFor<Account, ActivityServices>()
