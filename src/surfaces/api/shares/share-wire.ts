import { personOf } from '../../../people/accounts/index.ts'
import { isShareExpired, type Share, type SharedLibrary } from '../../../sharing/access/index.ts'
import { avatarUrl } from '../accounts/account-wire.ts'
import { type Parties, personIn } from '../common/parties.ts'
import { isoTime } from '../common/wire-formats.ts'
import type { OlderShare } from './shares.schema.ts'

/** A share in `shared_items`; undefined if the recipient is gone, or is everyone. */
export function sharedItem(share: Share, parties: Parties, baseUrl: string, now: number) {
  const grant = { permission: share.permission, is_admin: share.isAdmin, ...expiryFields(share, now) }
  if (share.grantee === 'group') {
    const group = parties.groups.get(share.granteeKey)
    return group && { share_type: 'group', group_info: { id: group.key, name: group.name }, ...grant }
  }
  const account = share.grantee === 'user' ? parties.accounts.get(share.granteeKey) : undefined
  if (account === undefined) return undefined
  const person = personOf(account)
  return {
    share_type: 'user',
    user_info: {
      name: person.email,
      nickname: person.name,
      contact_email: person.contactEmail,
      avatar_url: avatarUrl(baseUrl, person),
    },
    ...grant,
  }
}

/** The expiry of a share. Absent if it has none, as existing clients know it. */
export function expiryFields(share: Share, now: number) {
  if (share.expiresAt === undefined) return {}
  return { expire_date: isoTime(share.expiresAt), is_expired: isShareExpired(share, now) }
}

export const shareTypes = { user: 'personal', group: 'group', everyone: 'public' } as const

/** The recipient of a share, in the listings of `/api/v2.1/`. */
export function recipientFields(share: Share, parties: Parties) {
  if (share.grantee === 'group') {
    return { group_id: share.granteeKey, group_name: parties.groups.get(share.granteeKey)?.name ?? '' }
  }
  if (share.grantee === 'everyone') return {}
  const person = personIn(parties, share.granteeKey)
  return { user_name: person.name, user_email: person.email, contact_email: person.contactEmail }
}

/** A share in the listings of `/api2/`; `user` is the other party. */
export function shareRecord(shared: SharedLibrary, user: string): OlderShare {
  const { info } = shared
  return {
    repo_id: info.id,
    repo_name: info.name,
    repo_desc: info.description,
    permission: shared.permission,
    share_type: shareTypes[shared.grantee],
    user,
    group_id: shared.grantee === 'group' ? shared.granteeKey : 0,
    last_modified: info.updatedAt,
    size: info.size,
    encrypted: info.encryption !== undefined,
    is_virtual: info.sub !== undefined,
    origin_repo_id: info.sub?.origin.id ?? null,
    origin_path: info.sub?.path ?? null,
    is_admin: shared.isAdmin,
  }
}
