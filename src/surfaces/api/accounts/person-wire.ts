import {
  type Account,
  contactEmailOf,
  displayName,
  type Group,
  type Member,
} from '../../../people/accounts/index.ts'
import type { GroupMember } from '../groups/groups.schema.ts'
import { avatarUrl } from './account-wire.ts'
import type { Person } from './accounts.schema.ts'

/** A user as others may see them. */
export function userItem(account: Account, baseUrl: string, avatarSize?: number): Person {
  return {
    email: account.email,
    name: displayName(account),
    contact_email: contactEmailOf(account),
    avatar_url: avatarUrl(baseUrl, account, avatarSize),
  }
}

/** A member of a group. */
export function memberItem(
  group: Group,
  { account, isAdmin }: Member,
  baseUrl: string,
  avatarSize?: number,
): GroupMember {
  const isOwner = group.ownerKey === account.key
  return {
    group_id: group.key,
    ...userItem(account, baseUrl, avatarSize),
    login_id: account.loginId,
    is_admin: isAdmin,
    role: isOwner ? 'Owner' : isAdmin ? 'Admin' : 'Member',
  }
}
