import type { Comments, Tags } from '../../../derived/annotations/index.ts'
import type { Account, Accounts, Directory } from '../../../people/accounts/index.ts'
import { routesFor } from '../../../platform/http/index.ts'
import type { Access } from '../../../sharing/access/index.ts'

/** What the calls for comments and tags use. */
export interface AnnotationServices {
  readonly access: Access
  readonly accounts: Accounts
  readonly comments: Comments
  readonly directory: Directory
  readonly tags: Tags
}

/** Declares a call for comments and tags. */
export const route = routesFor<Account, AnnotationServices>()
