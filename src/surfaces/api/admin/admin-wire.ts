import type { ListedLibrary } from '../../../libraries/library/index.ts'
import {
  displayName,
  emailAsShown,
  type Group,
  type Person,
  unknownPerson,
} from '../../../people/accounts/index.ts'
import type { AuditEntry } from '../../../people/audit/index.ts'
import type { Link } from '../../../sharing/access/index.ts'
import { formatSize, isoTime } from '../common/wire-formats.ts'
import { briefGroup } from '../groups/group-wire.ts'
import { placeToWire } from '../links/link-wire.ts'
import type { AdminLibrary, PageInfo } from './admin.schema.ts'
import type { AdminGroup } from './groups.schema.ts'
import type { AdminDeletedLibrary, AdminLink } from './libraries.schema.ts'
import type { AuditLogEntry } from './server.schema.ts'
import type { AdministrationServices } from './services.ts'

/** Libraries as administrators see them. */
export async function adminLibrariesToWire(
  { directory }: Pick<AdministrationServices, 'directory'>,
  libraries: readonly ListedLibrary[],
) {
  const people = await directory.people(libraries.map(({ ownerEmail }) => emailAsShown(ownerEmail)))
  return libraries.map((library): AdminLibrary => {
    const email = emailAsShown(library.ownerEmail)
    const owner = people.get(email) ?? unknownPerson(email)
    return {
      id: library.id,
      name: library.name,
      owner: email,
      owner_email: email,
      owner_name: owner.name,
      owner_contact_email: owner.contactEmail,
      size: library.size,
      size_formatted: formatSize(library.size),
      encrypted: library.encrypted,
      file_count: library.fileCount,
      status: library.status,
      last_modified: isoTime(library.updatedAt),
    }
  })
}

/** Deleted libraries as administrators see them. */
export async function adminTrashToWire(
  { directory }: Pick<AdministrationServices, 'directory'>,
  libraries: readonly ListedLibrary[],
) {
  const people = await directory.people(libraries.map(({ ownerEmail }) => emailAsShown(ownerEmail)))
  return libraries.map((library): AdminDeletedLibrary => {
    const email = emailAsShown(library.ownerEmail)
    return {
      id: library.id,
      name: library.name,
      owner: email,
      owner_name: (people.get(email) ?? unknownPerson(email)).name,
      delete_time: isoTime(library.deletedAt ?? 0),
    }
  })
}

export function pageInfo(page: number, more: boolean): PageInfo {
  return { has_next_page: more, current_page: page }
}

/** A row of the audit log. */
export function auditEntryToWire(entry: AuditEntry): AuditLogEntry {
  return {
    id: entry.key,
    time: isoTime(entry.at),
    actor: entry.actor,
    address: entry.address,
    action: entry.action,
    object_kind: entry.objectKind,
    object_id: entry.objectId,
    path: entry.path,
    detail: entry.detail,
  }
}

/** Groups as administrators see them: one query for owners, one for the size of the libraries shared with them. */
export async function adminGroupsToWire(
  { accounts, shares }: AdministrationServices,
  list: readonly Group[],
) {
  const [owners, sizes] = await Promise.all([
    accounts.findManyByKey(list.map(({ ownerKey }) => ownerKey)),
    shares.sizesSharedWith(list),
  ])
  return list.map((group): AdminGroup => {
    const owner = owners.get(group.ownerKey)
    return {
      ...briefGroup(group, owners),
      owner_name: owner === undefined ? '' : displayName(owner),
      size: sizes.get(group.key) ?? 0,
      // Groups have no quota: shared libraries count for their owners.
      quota: -2,
    }
  })
}

export async function adminGroupToWire(services: AdministrationServices, group: Group) {
  const [shown] = await adminGroupsToWire(services, [group])
  return shown
}

/** A link as administrators see it: its creator and target, never its password. */
export function adminLinkToWire(link: Link, creator: Person, isExpired: boolean): AdminLink {
  return {
    token: link.token,
    ...placeToWire(link),
    is_dir: link.isDir,
    creator_email: creator.email,
    creator_name: creator.name,
    ctime: isoTime(link.createdAt),
    view_cnt: link.views,
    expire_date: link.expiresAt === undefined ? '' : isoTime(link.expiresAt),
    is_expired: isExpired,
  }
}
