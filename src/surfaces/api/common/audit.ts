import type { ActivityService, AddedCredential } from '../../../derived/activity/index.ts'
import type { TransactionHook } from '../../../libraries/commits/index.ts'
import {
  type Account,
  type AccountChangeHook,
  type AccountChanges,
  auditActor,
} from '../../../people/accounts/index.ts'
import type { Audit, AuditedAction } from '../../../people/audit/index.ts'
import type { HttpRequest } from '../../../platform/http/index.ts'

/** The part of a request that the audit log records. */
export interface AuditedCall {
  readonly user: Account
  readonly request: HttpRequest
}

/** A service that writes the audit log. */
interface AuditServices {
  readonly audit: Audit
}

/** Returns a function that writes the audit entry of an action in the transaction of the action. */
export function auditAction(
  { audit }: AuditServices,
  call: AuditedCall,
  action: AuditedAction,
): TransactionHook {
  return (tx) => audit.record(tx, auditActor(call.user, call.request), action)
}

/** As auditAction, for a credential that outlives the session it is made in: the caller is notified, too. */
export function auditCredential(
  services: AuditServices & { readonly activity: ActivityService },
  call: AuditedCall,
  action: AuditedAction,
  added: Omit<AddedCredential, 'address'>,
): TransactionHook {
  const record = auditAction(services, call, action)
  return async (tx) => {
    await record(tx)
    await services.activity.credentials.ofAdded(tx, call.user, { ...added, address: call.request.address })
  }
}

/** As auditAction, for a change of an account. A request that changes nothing writes no entry. */
export function auditAccountChange(
  services: AuditServices,
  call: AuditedCall,
  action: AuditedAction,
): AccountChangeHook {
  const record = auditAction(services, call, action)
  return async (tx, _account, isChanged) => {
    if (isChanged) await record(tx)
  }
}

/** The unlinking of a device, or the request to wipe it. */
export function deviceAction(
  email: string,
  { platform, deviceId }: { platform: string; deviceId: string },
  wipe: boolean,
): AuditedAction {
  const detail = { email, platform, ...(wipe && { wipe }) }
  return { action: 'device-unlinked', objectKind: 'device', objectId: deviceId, detail }
}

/** The changed fields of an account, without secrets. */
export function auditableChanges(changes: AccountChanges): Record<string, unknown> {
  const { password, ...shown } = changes
  return { ...shown, ...(password !== undefined && { password: 'changed' }) }
}
