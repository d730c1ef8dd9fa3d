import type { Tags } from '../../../derived/annotations/index.ts'
import type { LibraryCore } from '../../../libraries/library/index.ts'
import type { Account, Accounts, Directory } from '../../../people/accounts/index.ts'
import { routesFor } from '../../../platform/http/index.ts'
import type { Access, LibraryPasswords } from '../../../sharing/access/index.ts'
import type { Quotas } from '../../../sharing/quotas/index.ts'

/** What the calls for folders use. */
export interface FolderServices {
  readonly access: Access
  readonly accounts: Accounts
  readonly core: LibraryCore
  readonly directory: Directory
  readonly libraryPasswords: LibraryPasswords
  /** Part of the tags of listings. */
  readonly listingKey: string
  readonly quotas: Quotas
  readonly tags: Tags
}

/** What listings of folders use, also those that answer other calls. */
export type ListingServices = Pick<FolderServices, 'accounts' | 'core' | 'directory' | 'tags'>

/** Declares a call for folders. */
export const route = routesFor<Account, FolderServices>()
