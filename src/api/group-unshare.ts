import { fail } from '../errors.ts'
import type { Account } from '../identity/account.ts'
import type { LibraryId } from '../objects/ids.ts'
import type { ApiServices } from './services.ts'

/**
 * Ends the share of a library with a group: for administrators of the group, its owner, and those who manage its
 * shares. False if it is not shared with the group. Throws group-not-found, library-not-found, permission-denied.
 */
export async function unshareFromGroup(
  { access, groups, shares }: ApiServices,
  user: Account,
  groupId: number,
  id: LibraryId,
): Promise<boolean> {
  const group = (await groups.find(groupId)) ?? fail({ code: 'group-not-found', id: groupId })
  if (!(await access.exists(id))) fail({ code: 'library-not-found', id })
  const library = await access.open(user, id)
  if (!library.isAdmin) await groups.administered(user, groupId)
  return shares.revokeFromGroup(library, group)
}
