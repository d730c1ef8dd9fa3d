import { DomainError, fail } from '../../../base/errors.ts'
import { ROOT } from '../../../base/objects/index.ts'
import { inOrigin, type LibraryInfo, originOf, type SubLibrary } from '../../../libraries/commits/index.ts'
import type { AdministeredLibrary, AlsoOfLibrary, Library } from '../../../libraries/library/index.ts'
import type { Group } from '../../../people/accounts/index.ts'
import { type AuditedAction, libraryAction } from '../../../people/audit/index.ts'
import type { Recipient, ShareOptions } from '../../../sharing/access/index.ts'
import { type AuditedCall, auditAction } from '../common/audit.ts'
import type { ApiServices } from '../services.ts'

// Changes of shares, each with its audit entry.

type EndedShare = Pick<ShareOptions, 'path' | 'recipient'>

/** Throws as Shares.share. */
export function share(
  services: ApiServices,
  call: AuditedCall,
  library: AdministeredLibrary,
  options: ShareOptions,
): Promise<SubLibrary | undefined> {
  const also = auditAction(services, call, shareAction('share-made', library.info, options))
  return services.shares.share(library, call.user, options, also)
}

/** False if there is no such share. */
export function changeShare(
  services: ApiServices,
  call: AuditedCall,
  library: AdministeredLibrary,
  options: ShareOptions,
): Promise<boolean> {
  const also = auditAction(services, call, shareAction('share-changed', library.info, options))
  return services.shares.change(library, options, also)
}

/** Sharing a library again changes the permission of the share. */
export async function shareOrChange(
  services: ApiServices,
  call: AuditedCall,
  library: AdministeredLibrary,
  options: ShareOptions,
): Promise<void> {
  try {
    await share(services, call, library, options)
  } catch (error) {
    if (!(error instanceof DomainError) || error.fault.code !== 'already-shared') throw error
    if (!(await changeShare(services, call, library, options))) fail({ code: 'permission-denied' })
  }
}

/** False if there is no such share. */
export function endShare(
  services: ApiServices,
  call: AuditedCall,
  library: AdministeredLibrary,
  options: EndedShare,
): Promise<boolean> {
  const also = auditAction(services, call, shareAction('share-ended', library.info, options))
  return services.shares.revoke(library, options, also)
}

/** Ends the caller's personal share. */
export function leaveShare(services: ApiServices, call: AuditedCall, library: Library): Promise<boolean> {
  const recipient = { to: 'user', account: call.user } as const
  const also = auditAction(
    services,
    call,
    shareAction('share-ended', library.info, { path: ROOT, recipient }),
  )
  return services.shares.leave(library, also)
}

export function endShareWithGroup(
  services: ApiServices,
  call: AuditedCall,
  library: Library,
  group: Group,
): Promise<boolean> {
  const options = { path: ROOT, recipient: { to: 'group', group } } as const
  const also = auditAction(services, call, shareAction('share-ended', library.info, options))
  return services.shares.revokeFromGroup(library, group, also)
}

export function endShareWithEveryone(
  services: ApiServices,
  call: AuditedCall,
  library: Library,
): Promise<boolean> {
  const options = { path: ROOT, recipient: { to: 'everyone' } } as const
  const also = auditAction(services, call, shareAction('share-ended', library.info, options))
  return services.shares.unpublish(library, also)
}

/** Shares a library in the transaction that creates it. */
export function sharingNew(
  services: ApiServices,
  call: AuditedCall,
  { recipient, permission }: Omit<ShareOptions, 'path'>,
): AlsoOfLibrary {
  return async (tx, made) => {
    await services.shares.shareNew(tx, made, call.user, recipient, permission)
    const action = shareAction('share-made', made, { path: ROOT, recipient, permission })
    await auditAction(services, call, action)(tx)
  }
}

/** Shares are audited with the origin library, also if they were changed through a view. */
function shareAction(
  action: 'share-made' | 'share-changed' | 'share-ended',
  library: LibraryInfo,
  { path, recipient, permission, expiresAt }: EndedShare & Partial<ShareOptions>,
): AuditedAction {
  const detail = {
    ...recipientDetail(recipient),
    ...(permission && { permission }),
    ...(expiresAt !== undefined && { expiresAt }),
  }
  return { ...libraryAction(action, originOf(library), detail), path: inOrigin(library, path) }
}

function recipientDetail(recipient: Recipient): Record<string, unknown> {
  if (recipient.to === 'user') return { to: 'user', email: recipient.account.email }
  if (recipient.to === 'everyone') return { to: 'everyone' }
  return { to: 'group', group: recipient.group.key, groupName: recipient.group.name }
}
