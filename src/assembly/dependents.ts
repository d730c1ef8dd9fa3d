import { accessRows, linkBinding } from '../access/index.ts'
import { activityRows } from '../activity/index.ts'
import { annotationBinding, annotationRows } from '../annotations/index.ts'
import { archiveRows } from '../archives/index.ts'
import { checkRows } from '../check/index.ts'
import { commitRows, type LibraryDependent, type PathBinding, positionRows } from '../commits/index.ts'
import { blockRows } from '../content/index.ts'
import { collectionRows } from '../gc/index.ts'
import { historyRows } from '../history/index.ts'
import {
  type AccountDependent,
  type ApiTokenDependent,
  type GroupDependent,
  libraryCredentials,
} from '../identity/index.ts'
import { jobRows } from '../jobs/index.ts'
import { deleteLibrariesOf, deleteRowsOfAccount, libraryBindings, libraryRows } from '../library/index.ts'
import { mailRows } from '../mail/index.ts'
import { photoRows } from '../photos/index.ts'
import { receivedRows } from '../push/index.ts'
import { objectRows } from '../tree/index.ts'
import { usageRows } from '../usage/index.ts'
import { viewBinding, viewRows } from '../views/index.ts'

/** Every module with rows that refer to libraries: positions of consumers, then the highest in the import order first. */
export const libraryDependents: readonly LibraryDependent[] = [
  positionRows,
  collectionRows,
  checkRows,
  photoRows,
  activityRows,
  annotationRows,
  jobRows,
  archiveRows,
  accessRows,
  usageRows,
  receivedRows,
  libraryRows,
  viewRows,
  historyRows,
  commitRows,
  blockRows,
  objectRows,
  libraryCredentials,
]

/** Every table with rows that are bound to paths of libraries. */
export const pathBindings: readonly PathBinding[] = [
  ...libraryBindings,
  viewBinding,
  linkBinding,
  annotationBinding,
]

/** Every module with rows that refer to accounts, highest in the import order first. */
export function accountDependents(now: () => number): readonly AccountDependent[] {
  return [
    activityRows,
    annotationRows,
    jobRows,
    accessRows,
    mailRows,
    {
      async onAccountRemoved(tx, { key }) {
        await deleteLibrariesOf(tx, key, { dependents: libraryDependents, now })
        await deleteRowsOfAccount(tx, key)
      },
    },
  ]
}

/** Every module with credentials derived from API tokens. */
export const apiTokenDependents: readonly ApiTokenDependent[] = [accessRows]

/** Every module with rows that refer to groups. */
export const groupDependents: readonly GroupDependent[] = [accessRows]
