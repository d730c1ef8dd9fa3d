import { starredLibraries } from '../../../libraries/attributes/index.ts'
import {
  type Account,
  type Group,
  type Member,
  type Person,
  personOf,
  unknownPerson,
} from '../../../people/accounts/index.ts'
import type { SharedLibrary } from '../../../sharing/access/index.ts'
import { userItem } from '../accounts/account-wire.ts'
import { partiesOf, personIn } from '../common/parties.ts'
import { formatSize, isoTime, relativeTime } from '../common/wire-formats.ts'
import { modifierFields, ownerFields } from '../libraries/library-wire.ts'
import type { BriefGroup, GroupMember } from './groups.schema.ts'
import type { GroupServices } from './services.ts'

/** Groups as `/api/v2.1/` shows them: one query for their owners, one for their administrators. */
export async function groupsToWire({ accounts, groups }: GroupServices, list: readonly Group[]) {
  const owners = await accounts.findManyByKey(list.map(({ ownerKey }) => ownerKey))
  const admins = await groups.adminsOf(list)
  return list.map((group) => ({
    ...briefGroup(group, owners),
    admins: admins.get(group.key) ?? [],
    group_quota_usage: 0,
  }))
}

export async function groupToWire(services: GroupServices, group: Group) {
  const [shown] = await groupsToWire(services, [group])
  return shown
}

/** Groups that the caller can share with. */
export async function briefGroups({ accounts }: GroupServices, list: readonly Group[]) {
  const owners = await accounts.findManyByKey(list.map(({ ownerKey }) => ownerKey))
  return list.map((group) => briefGroup(group, owners))
}

export function briefGroup(group: Group, owners: ReadonlyMap<number, Account>): BriefGroup {
  return {
    id: group.key,
    parent_group_id: 0,
    name: group.name,
    owner: owners.get(group.ownerKey)?.email ?? '',
    created_at: isoTime(group.createdAt),
  }
}

/** A library shared with a group, with the people it names. */
interface GroupLibrary {
  readonly shared: SharedLibrary
  readonly owner: Person
  readonly sharer: Person
  readonly modifier: Person
  readonly starred: boolean
}

/** One query each for owners, modifiers and stars. */
export async function groupLibraries(
  services: Pick<GroupServices, 'accounts' | 'core' | 'directory' | 'groups'>,
  user: Account,
  list: readonly SharedLibrary[],
): Promise<GroupLibrary[]> {
  const [parties, people, stars] = await Promise.all([
    partiesOf(
      services,
      list,
      list.map(({ info }) => info.ownerKey),
    ),
    services.directory.people(list.map(({ info }) => info.modifier)),
    starredLibraries(services.core, user),
  ])
  return list.map((shared) => {
    const { info } = shared
    const account = parties.accounts.get(info.ownerKey)
    return {
      shared,
      owner: account === undefined ? unknownPerson('') : personOf(account),
      sharer: personIn(parties, shared.grantedBy),
      modifier: people.get(info.modifier) ?? unknownPerson(info.modifier),
      starred: stars.has(info.id),
    }
  })
}

/** In `groups/?with_repos=1`. */
export function groupRepo({ shared, owner, starred }: GroupLibrary, now: number) {
  const { info } = shared
  return {
    id: info.id,
    repo_id: info.id,
    name: info.name,
    repo_name: info.name,
    size: info.size,
    size_formatted: formatSize(info.size),
    mtime: info.updatedAt,
    mtime_relative: relativeTime(info.updatedAt, now),
    last_modified: isoTime(info.updatedAt),
    encrypted: info.encryption !== undefined,
    permission: shared.permission,
    owner: owner.email,
    ...ownerFields(owner),
    is_admin: shared.isAdmin,
    starred,
    monitored: false,
    status: info.status,
    archive_status: null,
  }
}

/** In `groups/<id>/libraries/`. */
export function groupLibraryItem({ shared, owner, modifier, starred }: GroupLibrary) {
  const { info } = shared
  return {
    repo_id: info.id,
    repo_name: info.name,
    mtime: isoTime(info.updatedAt),
    last_modified: isoTime(info.updatedAt),
    permission: shared.permission,
    size: info.size,
    encrypted: info.encryption !== undefined,
    is_admin: shared.isAdmin,
    ...ownerFields(owner),
    ...modifierFields(modifier, info),
    starred,
    monitored: false,
  }
}

/** In `/api2/groups/<id>/repos/`. */
export function groupRepoV2({ shared, owner, sharer, modifier }: GroupLibrary, user: Account, now: number) {
  const { info } = shared
  return {
    id: info.id,
    name: info.name,
    desc: info.description,
    size: info.size,
    size_formatted: formatSize(info.size),
    mtime: info.updatedAt,
    mtime_relative: relativeTime(info.updatedAt, now),
    encrypted: info.encryption !== undefined,
    permission: shared.permission,
    owner: owner.email,
    owner_nickname: owner.name,
    owner_name: owner.name,
    share_from_me: sharer.email === user.email,
    ...modifierFields(modifier, info),
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
