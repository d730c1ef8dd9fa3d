import type { Photos } from '../../../derived/photos/index.ts'
import type { Account } from '../../../people/accounts/index.ts'
import { routesFor } from '../../../platform/http/index.ts'
import type { Access } from '../../../sharing/access/index.ts'

/** What the calls for photos use. */
export interface PhotoServices {
  readonly access: Access
  readonly photos: Photos
}

/** Declares a call for photos. */
export const route = routesFor<Account, PhotoServices>()
