import { fail } from '../../../base/errors.ts'
import type { LibraryId } from '../../../base/objects/index.ts'
import { auditActor } from '../../../people/accounts/index.ts'
import type { AuditedCall } from '../common/audit.ts'
import type { GroupServices } from './services.ts'

/**
 * Ends the share of a library with a group. Allowed for the owner and administrators of the group, and for those who manage the library's
 * shares. False if it is not shared with the group. Throws group-not-found, library-not-found, permission-denied.
 */
export async function unshareFromGroup(
  services: GroupServices,
  call: AuditedCall,
  groupId: number,
  id: LibraryId,
): Promise<boolean> {
  const { access, groups } = services
  const { user } = call
  const group = (await groups.find(groupId)) ?? fail({ code: 'group-not-found', id: groupId })
  if (!(await access.exists(id))) fail({ code: 'library-not-found', id })
  const library = await access.open(user, id)
  if (!library.isAdmin) await groups.administered(user, groupId)
  return services.shares.revokeFromGroup(library, group, auditActor(user, call.request))
}
