import { fail } from '../../base/errors.ts'
import type { LibraryId } from '../../base/objects/index.ts'
import { OwnedLibrary } from '../../libraries/library/for-access.ts'
import { getLibrary, type LibraryCore, libraryTrash } from '../../libraries/library/index.ts'
import type { LibraryInfo } from '../../libraries/registry/index.ts'
import { type Account, type Groups, isAdmin, type Membership } from '../../people/accounts/index.ts'
import type { SharedLibrary } from './shared-libraries.ts'

/**
 * A library opened for an administrator, who may manage it like its owner but not read its files. Throws
 * library-not-found, permission-denied.
 */
async function openAsAdministrator(core: LibraryCore, user: Account, id: LibraryId): Promise<OwnedLibrary> {
  checkAdministrator(user)
  return new OwnedLibrary(core, await getLibrary(core, id), user, { permission: 'rw', isAdmin: true })
}

/** A deleted library of any owner. Throws not-in-trash, permission-denied. */
async function getDeletedAsAdministrator(
  core: LibraryCore,
  user: Account,
  id: LibraryId,
): Promise<LibraryInfo> {
  checkAdministrator(user)
  return libraryTrash.get(core, id)
}

/**
 * A group opened for an administrator, who may manage it like its owner. Throws group-not-found,
 * permission-denied.
 */
async function groupAsAdministrator(groups: Groups, user: Account, key: number): Promise<Membership> {
  checkAdministrator(user)
  const group = (await groups.find(key)) ?? fail({ code: 'group-not-found', id: key })
  return { group, accountKey: user.key, isAdmin: true, actsAsOwner: true }
}

/** A shared item, opened for an administrator who revokes the share. Throws permission-denied. */
function sharedAsAdministrator(core: LibraryCore, user: Account, { info }: SharedLibrary): OwnedLibrary {
  checkAdministrator(user)
  return new OwnedLibrary(core, info, user, { permission: 'rw', isAdmin: true })
}

export function checkAdministrator(user: Account): void {
  if (!isAdmin(user) || user.scope !== undefined) fail({ code: 'permission-denied' })
}

/** What an administrator opens of others. */
export const asAdministrator = {
  getDeleted: getDeletedAsAdministrator,
  getGroup: groupAsAdministrator,
  open: openAsAdministrator,
  openShared: sharedAsAdministrator,
}
