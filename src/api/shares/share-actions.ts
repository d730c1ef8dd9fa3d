import type { Recipient, ShareWish } from '../../access/index.ts'
import { inOrigin, type LibraryInfo, originOf, type SubLibrary } from '../../commits/index.ts'
import { DomainError, fail } from '../../errors.ts'
import type { Group } from '../../identity/index.ts'
import type { AdministeredLibrary, AlsoOfLibrary, Library } from '../../library/index.ts'
import { ROOT } from '../../objects/index.ts'
import { type AuditedCall, type Deed, libraryDeed, noting } from '../common/audit.ts'
import type { ApiServices } from '../services.ts'

// What the calls about shares do, each put down in the audit log with what it does.

type Ended = Omit<ShareWish, 'permission'>

/** Throws as Shares.share. */
export function share(
  services: ApiServices,
  call: AuditedCall,
  library: AdministeredLibrary,
  wish: ShareWish,
): Promise<SubLibrary | undefined> {
  const also = noting(services, call, shareDeed('share-made', library.info, wish))
  return services.shares.share(library, call.user, wish, also)
}

/** False if there is no such share. */
export function changeShare(
  services: ApiServices,
  call: AuditedCall,
  library: AdministeredLibrary,
  wish: ShareWish,
): Promise<boolean> {
  const also = noting(services, call, shareDeed('share-changed', library.info, wish))
  return services.shares.change(library, wish, also)
}

/** Sharing a library again changes what the share gives. */
export async function shareOrChange(
  services: ApiServices,
  call: AuditedCall,
  library: AdministeredLibrary,
  wish: ShareWish,
): Promise<void> {
  try {
    await share(services, call, library, wish)
  } catch (error) {
    if (!(error instanceof DomainError) || error.fault.code !== 'already-shared') throw error
    if (!(await changeShare(services, call, library, wish))) fail({ code: 'permission-denied' })
  }
}

/** False if there is no such share. */
export function endShare(
  services: ApiServices,
  call: AuditedCall,
  library: AdministeredLibrary,
  wish: Ended,
): Promise<boolean> {
  const also = noting(services, call, shareDeed('share-ended', library.info, wish))
  return services.shares.revoke(library, wish, also)
}

/** Ends what the caller was given personally. */
export function leaveShare(services: ApiServices, call: AuditedCall, library: Library): Promise<boolean> {
  const recipient = { to: 'user', account: call.user } as const
  const also = noting(services, call, shareDeed('share-ended', library.info, { path: ROOT, recipient }))
  return services.shares.leave(library, also)
}

export function endShareWithGroup(
  services: ApiServices,
  call: AuditedCall,
  library: Library,
  group: Group,
): Promise<boolean> {
  const wish = { path: ROOT, recipient: { to: 'group', group } } as const
  const also = noting(services, call, shareDeed('share-ended', library.info, wish))
  return services.shares.revokeFromGroup(library, group, also)
}

export function endShareWithEveryone(
  services: ApiServices,
  call: AuditedCall,
  library: Library,
): Promise<boolean> {
  const wish = { path: ROOT, recipient: { to: 'everyone' } } as const
  const also = noting(services, call, shareDeed('share-ended', library.info, wish))
  return services.shares.unpublish(library, also)
}

/** Shares a library in the transaction that makes it, and puts both down. */
export function sharingNew(
  services: ApiServices,
  call: AuditedCall,
  { recipient, permission }: Omit<ShareWish, 'path'>,
): AlsoOfLibrary {
  return async (tx, made) => {
    await services.shares.shareNew(tx, made, call.user, recipient, permission)
    await noting(services, call, libraryDeed('library-made', made))(tx)
    const deed = shareDeed('share-made', made, { path: ROOT, recipient, permission })
    await noting(services, call, deed)(tx)
  }
}

/** A share is put down with the library that has the content, whatever it was reached through. */
function shareDeed(
  action: 'share-made' | 'share-changed' | 'share-ended',
  library: LibraryInfo,
  { path, recipient, permission }: Ended & Partial<ShareWish>,
): Deed {
  const detail = { ...recipientDetail(recipient), ...(permission && { permission }) }
  return { ...libraryDeed(action, originOf(library), detail), path: inOrigin(library, path) }
}

function recipientDetail(recipient: Recipient): Record<string, unknown> {
  if (recipient.to === 'user') return { to: 'user', email: recipient.account.email }
  if (recipient.to === 'everyone') return { to: 'everyone' }
  return { to: 'group', group: recipient.group.key, groupName: recipient.group.name }
}
