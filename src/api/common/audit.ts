import type { Link, LinkWish } from '../../access/index.ts'
import type { Audit, AuditNote, Doer } from '../../audit/index.ts'
import type { LibraryInfo } from '../../commits/index.ts'
import type { HttpRequest } from '../../http/index.ts'
import type { Account, AccountChanges, Group } from '../../identity/index.ts'
import type { ApiServices } from '../services.ts'

/** A call as far as the audit log is told of it. */
export interface AuditedCall {
  readonly user: Account
  readonly request: HttpRequest
}

/** What was done, without who did it. */
export type Deed = Omit<AuditNote, keyof Doer>

export function doerOf({ user, request }: AuditedCall): Doer {
  return { actor: user.email, address: request.address }
}

/** Puts down what a call does, in the transaction that does it. */
export function noting(
  { audit }: Pick<ApiServices, 'audit'>,
  call: AuditedCall,
  deed: Deed,
): ReturnType<Audit['noting']> {
  return audit.noting({ ...doerOf(call), ...deed })
}

/** The deed of doing something to a library. */
export function libraryDeed(
  action: Deed['action'],
  library: Pick<LibraryInfo, 'id' | 'name'>,
  detail: Record<string, unknown> = {},
): Deed {
  return { action, objectKind: 'library', objectId: library.id, detail: { name: library.name, ...detail } }
}

/** The deed of doing something to a group. */
export function groupDeed(
  action: Deed['action'],
  group: Pick<Group, 'key' | 'name'>,
  detail: Record<string, unknown> = {},
): Deed {
  return { action, objectKind: 'group', objectId: String(group.key), detail: { name: group.name, ...detail } }
}

/** The deed of making a link to something of a library. Its token is a secret. */
export function linkMade(
  { id, name }: Pick<LibraryInfo, 'id' | 'name'>,
  { kind, path, password, expiresAt }: LinkWish,
): Deed {
  const detail = { kind, library: id, name, password: Boolean(password), expires_at: expiresAt ?? null }
  return { action: 'link-made', objectKind: 'link', objectId: '', path, detail }
}

/** The deed of changing what a link allows, or until when. */
export function linkChanged({ kind, creator, libraryId, libraryName, path, active, expiresAt }: Link): Deed {
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

/** The deed of deleting a link of somebody's. Its token opens nothing any more. */
export function linkEnded(link: Link): Deed {
  const { kind, creator, libraryId, libraryName } = link
  const detail = { kind, creator, library: libraryId, name: libraryName }
  return { action: 'link-ended', objectKind: 'link', objectId: link.token, path: link.path, detail }
}

/** The deed of doing something to an account. */
export function accountDeed(action: Deed['action'], email: string, detail?: Record<string, unknown>): Deed {
  return { action, objectKind: 'account', objectId: email, detail }
}

/** The deed of unlinking a device of an account, or of having it wipe itself. */
export function deviceDeed(
  email: string,
  { platform, deviceId }: { platform: string; deviceId: string },
  wipe: boolean,
): Deed {
  const detail = { email, platform, ...(wipe && { wipe }) }
  return { action: 'device-unlinked', objectKind: 'device', objectId: deviceId, detail }
}

/** What of an account was changed, without a word about its secrets. */
export function changesShown(changes: AccountChanges): Record<string, unknown> {
  const { password, ...shown } = changes
  return { ...shown, ...(password !== undefined && { password: 'changed' }) }
}
