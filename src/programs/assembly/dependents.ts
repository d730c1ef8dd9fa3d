import { activityRows } from '../../derived/activity/index.ts'
import { annotationBinding, annotationRows } from '../../derived/annotations/index.ts'
import { photoDateBinding, photoRows } from '../../derived/photos/index.ts'
import { archiveRows } from '../../libraries/archives/index.ts'
import { attributeBindings, attributeRows } from '../../libraries/attributes/index.ts'
import { commitRows } from '../../libraries/commits/index.ts'
import { positionRows } from '../../libraries/consumers/index.ts'
import { blockRows } from '../../libraries/content/index.ts'
import { historyRows } from '../../libraries/history/index.ts'
import { deleteLibrariesOf, lockBinding, lockRows } from '../../libraries/library/index.ts'
import { receivedRows } from '../../libraries/push/index.ts'
import {
  type LibraryDependent,
  libraryRenames,
  libraryRows,
  type PathBinding,
} from '../../libraries/registry/index.ts'
import { objectRows } from '../../libraries/tree/index.ts'
import { usageRows } from '../../libraries/usage/index.ts'
import { viewBinding, viewRelation, viewRows } from '../../libraries/views/index.ts'
import { checkRows } from '../../maintenance/check/index.ts'
import { collectionRows } from '../../maintenance/gc/index.ts'
import { jobRows } from '../../maintenance/jobs/index.ts'
import type { AccountDependent, GroupDependent } from '../../people/accounts/index.ts'
import { type ApiTokenDependent, libraryCredentials } from '../../people/credentials/index.ts'
import { mailRows } from '../../people/mail/index.ts'
import { accessRows, linkBinding } from '../../sharing/access/index.ts'
import { quotaRows } from '../../sharing/quotas/index.ts'

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
  quotaRows,
  usageRows,
  receivedRows,
  lockRows,
  attributeRows,
  viewRows,
  historyRows,
  commitRows,
  libraryRenames,
  blockRows,
  objectRows,
  libraryCredentials,
]

/** Every table with rows that are bound to paths of libraries. */
export const pathBindings: readonly PathBinding[] = [
  lockBinding,
  ...attributeBindings,
  viewBinding,
  linkBinding,
  annotationBinding,
  photoDateBinding,
]

/** Every module with rows that refer to accounts, highest in the import order first. */
export function accountDependents(now: () => number): readonly AccountDependent[] {
  return [
    activityRows,
    annotationRows,
    jobRows,
    accessRows,
    quotaRows,
    mailRows,
    {
      async onAccountRemoved(tx, { key }) {
        await deleteLibrariesOf(tx, key, { dependents: libraryDependents, now })
        await lockRows.deleteOfAccount(tx, key)
        await attributeRows.deleteOfAccount(tx, key)
      },
    },
  ]
}

/** Every module with credentials derived from API tokens. */
export const apiTokenDependents: readonly ApiTokenDependent[] = [accessRows]

/** Every module with rows that refer to groups. */
export const groupDependents: readonly GroupDependent[] = [accessRows]

/** The relations of libraries that `credentials` joins to find the library of a token in the statement that finds the token. */
export const libraryRelations = {
  libraryRelation: libraryRows.relation,
  viewRelation,
}
