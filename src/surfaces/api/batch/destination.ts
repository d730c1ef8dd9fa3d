import { fail } from '../../../base/errors.ts'
import { parseLibraryId } from '../../../base/objects/index.ts'
import type { LibraryPath } from '../../../base/paths/index.ts'
import type { Library } from '../../../libraries/library/index.ts'
import type { Account } from '../../../people/accounts/index.ts'
import { withFaultMessages } from '../common/fault-messages.ts'
import type { SentPath } from '../common/readers.ts'
import { folderAt } from '../common/resolve-path.ts'
import { apiFaults } from '../faults.ts'
import type { BatchServices } from './services.ts'

/** The target of a move or copy. */
export interface Destination {
  readonly library: Library
  readonly path: LibraryPath
}

/** Throws library-not-found with the id in its message, permission-denied, path-not-found. */
export async function openDestination(
  { access }: Pick<BatchServices, 'access'>,
  user: Account,
  sentId: string,
  folder: SentPath,
): Promise<Destination> {
  const library = await withFaultMessages({ 'library-not-found': apiFaults['library-not-found'] }, () => {
    const id = parseLibraryId(sentId)
    return id === undefined ? fail({ code: 'library-not-found', id: sentId }) : access.open(user, id)
  })
  const { path } = await folderAt(library, folder)
  return { library, path }
}
