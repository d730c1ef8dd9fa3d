import type { LibraryPath } from '../../base/paths/index.ts'
import { inOrigin, type LibraryInfo, originOf } from '../../libraries/registry/index.ts'
import { type AuditedAction, libraryAction } from '../../people/audit/index.ts'
import type { Link, LinkOptions } from './link.ts'

/** A share in an audited action. */
interface AuditedShare {
  readonly path: LibraryPath
  readonly recipient:
    | { readonly to: 'user'; readonly account: { readonly email: string } }
    | { readonly to: 'group'; readonly group: { readonly key: number; readonly name: string } }
    | { readonly to: 'everyone' }
  readonly permission?: string
  readonly expiresAt?: number | null | undefined
}

/** Shares are audited with the origin library, also if they were changed through a view. */
export function shareAction(
  action: 'share-made' | 'share-changed' | 'share-ended',
  library: LibraryInfo,
  { path, recipient, permission, expiresAt }: AuditedShare,
): AuditedAction {
  const detail = {
    ...recipientDetail(recipient),
    ...(permission && { permission }),
    ...(expiresAt !== undefined && { expiresAt }),
  }
  return { ...libraryAction(action, originOf(library), detail), path: inOrigin(library, path) }
}

function recipientDetail(recipient: AuditedShare['recipient']): Record<string, unknown> {
  if (recipient.to === 'user') return { to: 'user', email: recipient.account.email }
  if (recipient.to === 'everyone') return { to: 'everyone' }
  return { to: 'group', group: recipient.group.key, groupName: recipient.group.name }
}

/** The creation of a link. Its token is a secret and is not recorded. */
export function linkCreated(
  { id, name }: Pick<LibraryInfo, 'id' | 'name'>,
  { kind, path, password, expiresAt }: LinkOptions,
): AuditedAction {
  const detail = { kind, library: id, name, password: Boolean(password), expires_at: expiresAt ?? null }
  return { action: 'link-made', objectKind: 'link', objectId: '', path, detail }
}

/** A change of the rights or the expiry of a link. */
export function linkChanged(link: Link): AuditedAction {
  const { kind, creator, libraryId, libraryName, path, active, expiresAt } = link
  const detail = {
    kind,
    creator,
    library: libraryId,
    name: libraryName,
    active,
    expires_at: expiresAt ?? null,
  }
  return { action: 'link-changed', objectKind: 'link', objectId: '', path, detail }
}

/** The deletion of a link. Its token is recorded, because it is no longer valid. */
export function linkDeleted(link: Link): AuditedAction {
  const { kind, creator, libraryId, libraryName } = link
  const detail = { kind, creator, library: libraryId, name: libraryName }
  return { action: 'link-ended', objectKind: 'link', objectId: link.token, path: link.path, detail }
}
