import { DomainError } from '../../../base/errors.ts'
import {
  type Account,
  auditActor,
  displayName,
  type Group,
  type Member,
  type Membership,
  parseEmail,
} from '../../../people/accounts/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import type { AuditedCall } from '../common/audit.ts'
import { apiFaults } from '../faults.ts'
import { memberItem } from './group-wire.ts'
import type { MemberServices } from './services.ts'

export const MAX_PER_REQUEST = 1000

/** Adds accounts one by one and returns the result of each. E-mails are in lower case. */
export async function addMembers(
  services: MemberServices,
  call: AuditedCall,
  membership: Membership,
  emails: readonly string[],
) {
  const { group } = membership
  const known = await services.accounts.findMany(emails)
  const failed: object[] = []
  const success: object[] = []
  for (const email of emails) {
    const account = known.get(email)
    if (account === undefined) {
      failed.push({ email, email_name: email, error_msg: `User ${email} not found.` })
      continue
    }
    const problem = await tryToAdd(services, call, membership, account)
    if (problem === undefined) {
      success.push(memberItem(group, { account, isAdmin: false }, call.request.baseUrl))
    } else {
      failed.push({ email, email_name: displayName(account), error_msg: problem })
    }
  }
  return { failed, success }
}

/** The error message; undefined on success. */
async function tryToAdd(
  services: MemberServices,
  call: AuditedCall,
  membership: Membership,
  account: Account,
): Promise<string | undefined> {
  try {
    return (await services.groups.add(membership, account, auditActor(call.user, call.request)))
      ? undefined
      : alreadyMember(account)
  } catch (error) {
    if (!(error instanceof DomainError) || error.fault.code !== 'limit-reached') throw error
    return apiFaults['limit-reached'](error.fault)[1]
  }
}

/** A member by e-mail. Rejects accounts that are no members with 400. */
export async function getMember(
  { accounts, groups }: MemberServices,
  group: Group,
  sent: string,
): Promise<Member> {
  const email = parseEmail(sent)
  const account = email === undefined ? undefined : await accounts.find(email)
  const member = account && (await groups.member(group, account))
  if (member === undefined) throw errorMessage(400, `Email ${sent} invalid.`)
  return member
}

/** Whether a member is to be an administrator, in any case. Rejects other texts with 400. */
export function parseIsAdmin(sent: string | undefined): boolean {
  const text = sent?.toLowerCase()
  if (text !== 'true' && text !== 'false') throw errorMessage(400, 'is_admin invalid.')
  return text === 'true'
}

/** Makes a member a group administrator or a regular member. The owner stays an administrator. Rejects accounts that are no members with 400. */
export async function setMemberAdmin(
  services: MemberServices,
  { user, request }: AuditedCall,
  membership: Membership,
  { email, wanted }: { email: string; wanted: boolean },
) {
  const { group } = membership
  const { account } = await getMember(services, group, email)
  const isAdmin = wanted || account.key === group.ownerKey
  await services.groups.setAdmin(membership, account, isAdmin, auditActor(user, request))
  return memberItem(group, { account, isAdmin }, request.baseUrl)
}

/** Removes a member, or somebody who has not accepted the membership yet. Rejects other accounts with 400. */
export async function removeByEmail(
  services: MemberServices,
  call: AuditedCall,
  membership: Membership,
  sent: string,
): Promise<void> {
  const email = parseEmail(sent)
  const account = email === undefined ? undefined : await services.accounts.find(email)
  const isRemoved =
    account && (await services.groups.remove(membership, account, auditActor(call.user, call.request)))
  if (isRemoved !== true) throw errorMessage(400, `Email ${sent} invalid.`)
}

export function alreadyMember(account: Account): string {
  return `User ${displayName(account)} is already a group member.`
}
