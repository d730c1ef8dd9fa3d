import type { FairSemaphore } from '../../../base/scheduling/index.ts'
import type { Comments, Tags } from '../../../derived/annotations/index.ts'
import type { DocumentTexts, Thumbnails } from '../../../derived/previews/index.ts'
import type { LibraryCore } from '../../../libraries/library/index.ts'
import type { CopyMoveTasks } from '../../../maintenance/jobs/index.ts'
import type { Account, Accounts, Directory } from '../../../people/accounts/index.ts'
import { routesFor } from '../../../platform/http/index.ts'
import type { Access, Links, Tickets } from '../../../sharing/access/index.ts'
import type { Quotas } from '../../../sharing/quotas/index.ts'

/** What the calls for files use. */
export interface FileServices {
  readonly access: Access
  readonly accounts: Accounts
  /** Listings of zip archives, which are read in this process. */
  readonly archiveListings: FairSemaphore
  readonly comments: Comments
  readonly copyMoveTasks: CopyMoveTasks
  readonly core: LibraryCore
  readonly directory: Directory
  readonly documentTexts: DocumentTexts
  readonly links: Links
  readonly quotas: Quotas
  readonly tags: Tags
  readonly thumbnails: Thumbnails
  readonly tickets: Tickets
}

/** Declares a call for files. */
export const route = routesFor<Account, FileServices>()
