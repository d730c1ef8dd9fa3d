import { fail } from '../errors.ts'
import { type Account, isAdmin } from '../identity/account.ts'
import type { LibraryCore } from '../library/core.ts'
import { getLibrary } from '../library/libraries.ts'
import { OwnedLibrary } from '../library/library.ts'
import type { LibraryInfo } from '../library/library-info.ts'
import { findDeletedLibrary } from '../library/library-store.ts'
import type { LibraryId } from '../objects/ids.ts'

/**
 * A library in the hands of an administrator, who may do to it what its owner may; its files are none of an
 * administrator's business. Throws library-not-found, permission-denied.
 */
export async function openAsAdministrator(
  core: LibraryCore,
  user: Account,
  id: LibraryId,
): Promise<OwnedLibrary> {
  checkAdministrator(user)
  return new OwnedLibrary(core, await getLibrary(core, id), user, { permission: 'rw', isAdmin: true })
}

/** A deleted library, whoever deleted it. Throws not-in-trash, permission-denied. */
export async function getDeletedAsAdministrator(
  core: LibraryCore,
  user: Account,
  id: LibraryId,
): Promise<LibraryInfo> {
  checkAdministrator(user)
  return (await findDeletedLibrary(core.db, id)) ?? fail({ code: 'not-in-trash', id })
}

function checkAdministrator(user: Account): void {
  if (!isAdmin(user) || user.scope !== undefined) fail({ code: 'permission-denied' })
}
