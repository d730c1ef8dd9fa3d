import { accessRows } from '../access/index.ts'
import { activityRows } from '../activity/index.ts'
import {
  type AccountDependent,
  type ApiTokenDependent,
  type GroupDependent,
  libraryCredentials,
} from '../identity/index.ts'
import { jobRows } from '../jobs/index.ts'
import {
  contentRows,
  deleteLibrariesOf,
  deleteRowsOfAccount,
  historyRows,
  type LibraryDependent,
  libraryRows,
  objectRows,
  viewRows,
} from '../library/index.ts'
import { usageRows } from '../usage/index.ts'

/** Every module with rows that refer to libraries, highest in the import order first. */
export const libraryDependents: readonly LibraryDependent[] = [
  activityRows,
  jobRows,
  accessRows,
  usageRows,
  viewRows,
  historyRows,
  contentRows,
  objectRows,
  libraryRows,
  libraryCredentials,
]

/** Every module with rows that refer to accounts, highest in the import order first. */
export function accountDependents(now: () => number): readonly AccountDependent[] {
  return [
    activityRows,
    accessRows,
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
