import { archiveStatements } from './archives.ts'
import { batchStatements } from './batch.ts'
import { blockStatements } from './blocks.ts'
import { deprecatedStatements } from './deprecated.ts'
import { errorStatements } from './errors.ts'
import { fileRecordStatements } from './file-records.ts'
import { fileStatements } from './files.ts'
import { historyRecordStatements } from './history-records.ts'
import { libraryStatements } from './libraries.ts'
import { libraryCreationStatements } from './library-creation.ts'
import { libraryRecordStatements } from './library-records.ts'
import { conventionStatements, sharedLinkRecordStatements, smallRecordStatements } from './other-records.ts'
import {
  authenticationStatements,
  limitStatements,
  requestStatements,
  versionStatements,
} from './requests.ts'
import { resumableStatements } from './resumable.ts'
import { searchRecordStatements, searchStatements } from './search.ts'
import type { Statement } from './statement.ts'
import { stateStatements } from './states.ts'
import { taskRecordStatements } from './task-records.ts'
import { uploadStatements } from './uploads.ts'

/** Every statement of the documented API, in the order of its sections. */
export const statements: readonly Statement[] = [
  ...conventionStatements,
  ...libraryRecordStatements,
  ...fileRecordStatements,
  ...taskRecordStatements,
  ...historyRecordStatements,
  ...searchRecordStatements,
  ...sharedLinkRecordStatements,
  ...smallRecordStatements,
  ...stateStatements,
  ...requestStatements,
  ...libraryStatements,
  ...libraryCreationStatements,
  ...fileStatements,
  ...batchStatements,
  ...archiveStatements,
  ...uploadStatements,
  ...resumableStatements,
  ...blockStatements,
  ...searchStatements,
  ...deprecatedStatements,
  ...authenticationStatements,
  ...errorStatements,
  ...limitStatements,
  ...versionStatements,
]
