import type { Account, Group, Membership } from '../../../people/accounts/index.ts'
import { type AuditedCall, auditAction, groupAction } from '../common/audit.ts'
import type { ApiServices } from '../services.ts'

// Changes of groups, each with its audit entry.

/** Throws as Groups.create. */
export function makeGroup(
  services: ApiServices,
  call: AuditedCall,
  name: string,
  owner = call.user,
): Promise<Group> {
  const detail = owner.key === call.user.key ? {} : { owner: owner.email }
  return services.groups.create(owner, name, (tx, group) =>
    auditAction(services, call, groupAction('group-made', group, detail))(tx),
  )
}

export function renameGroup(
  services: ApiServices,
  call: AuditedCall,
  membership: Membership,
  name: string,
): Promise<Group> {
  const also = auditAction(services, call, groupAction('group-changed', membership.group, { to: name }))
  return services.groups.rename(membership, name, also)
}

export function handOverGroup(
  services: ApiServices,
  call: AuditedCall,
  membership: Membership,
  to: Account,
): Promise<Group> {
  const also = auditAction(
    services,
    call,
    groupAction('group-changed', membership.group, { owner: to.email }),
  )
  return services.groups.transfer(membership, to, also)
}

export function deleteGroup(services: ApiServices, call: AuditedCall, membership: Membership): Promise<void> {
  const also = auditAction(services, call, groupAction('group-deleted', membership.group))
  return services.groups.delete(membership, also)
}

/** False if the account is a member already. */
export function addMember(
  services: ApiServices,
  call: AuditedCall,
  membership: Membership,
  account: Account,
): Promise<boolean> {
  return services.groups.add(
    membership,
    account,
    ofMember(services, call, membership, { added: account.email }),
  )
}

export function setMemberAdmin(
  services: ApiServices,
  call: AuditedCall,
  membership: Membership,
  account: Account,
  isAdmin: boolean,
): Promise<void> {
  const also = ofMember(services, call, membership, { member: account.email, isAdmin })
  return services.groups.setAdmin(membership, account, isAdmin, also)
}

/** False if the account was not a member. Throws permission-denied. */
export function removeMember(
  services: ApiServices,
  call: AuditedCall,
  membership: Membership,
  account: Account,
): Promise<boolean> {
  const also = ofMember(services, call, membership, { removed: account.email })
  return services.groups.remove(membership, account, also)
}

function ofMember(
  services: ApiServices,
  call: AuditedCall,
  { group }: Membership,
  detail: Record<string, unknown>,
) {
  return auditAction(services, call, groupAction('group-members-changed', group, detail))
}
