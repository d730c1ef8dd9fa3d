import { accountSchemas } from './accounts/accounts.schema.ts'
import { activitySchemas } from './activity/activity.schema.ts'
import { adminAccountSchemas } from './admin/accounts.schema.ts'
import { adminGroupSchemas } from './admin/groups.schema.ts'
import { adminLibrarySchemas } from './admin/libraries.schema.ts'
import { adminServerSchemas } from './admin/server.schema.ts'
import { annotationSchemas } from './annotations/annotations.schema.ts'
import { batchSchemas } from './batch/batch.schema.ts'
import { fileSchemas } from './files/files.schema.ts'
import { folderSchemas } from './folders/folders.schema.ts'
import { groupSchemas } from './groups/groups.schema.ts'
import { fileHistorySchemas } from './history/file-history.schema.ts'
import { libraryHistorySchemas } from './history/library-history.schema.ts'
import { librarySchemas } from './libraries/libraries.schema.ts'
import { usageSchemas } from './libraries/usage.schema.ts'
import { libraryTokenSchemas } from './library-tokens/library-tokens.schema.ts'
import { linkVisitSchemas } from './links/link-visits.schema.ts'
import { linkSchemas } from './links/links.schema.ts'
import { ownLinkSchemas } from './links/own-links.schema.ts'
import { photoSchemas } from './photos/photos.schema.ts'
import { searchSchemas } from './search/search.schema.ts'
import { serverSchemas } from './server/server.schema.ts'
import { shareSchemas } from './shares/shares.schema.ts'
import { starSchemas } from './stars/stars.schema.ts'
import { transferLinkSchemas } from './transfers/transfers.schema.ts'
import { libraryTrashSchemas } from './trash/library-trash.schema.ts'

/** The descriptions of the web API. The server does not load this file: only the generator of the description does. */
export const apiSchemas = [
  ...serverSchemas,
  ...accountSchemas,
  ...librarySchemas,
  ...usageSchemas,
  ...libraryHistorySchemas,
  ...fileHistorySchemas,
  ...folderSchemas,
  ...libraryTrashSchemas,
  ...fileSchemas,
  ...batchSchemas,
  ...transferLinkSchemas,
  ...searchSchemas,
  ...linkSchemas,
  ...ownLinkSchemas,
  ...linkVisitSchemas,
  ...shareSchemas,
  ...starSchemas,
  ...annotationSchemas,
  ...activitySchemas,
  ...groupSchemas,
  ...libraryTokenSchemas,
  ...photoSchemas,
  ...adminAccountSchemas,
  ...adminGroupSchemas,
  ...adminLibrarySchemas,
  ...adminServerSchemas,
]
