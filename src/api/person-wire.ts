import { type Account, contactEmailOf, displayName } from '../identity/account.ts'
import type { Group } from '../identity/group.ts'
import type { Member } from '../identity/group-store.ts'
import { avatarUrl } from './account-wire.ts'

/** A user as others may see them. */
export function userItem(account: Account, baseUrl: string) {
  return {
    email: account.email,
    name: displayName(account),
    contact_email: contactEmailOf(account),
    avatar_url: avatarUrl(baseUrl, account),
  }
}

/** A member of a group. */
export function memberItem(group: Group, { account, isAdmin }: Member, baseUrl: string) {
  const isOwner = group.ownerKey === account.key
  return {
    group_id: group.key,
    ...userItem(account, baseUrl),
    login_id: account.loginId,
    is_admin: isAdmin,
    role: isOwner ? 'Owner' : isAdmin ? 'Admin' : 'Member',
  }
}
