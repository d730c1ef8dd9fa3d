import type { ListedLibrary } from '../../../libraries/library/index.ts'
import { emailAsShown, unknownPerson } from '../../../people/accounts/index.ts'
import type { AuditEntry } from '../../../people/audit/index.ts'
import { formatSize, isoTime } from '../common/wire-formats.ts'
import type { ApiServices } from '../services.ts'
import type { AdminLibrary, PageInfo } from './admin.schema.ts'
import type { AdminDeletedLibrary } from './libraries.schema.ts'
import type { AuditLogEntry } from './server.schema.ts'

/** Libraries as administrators see them. */
export async function adminLibrariesToWire(
  { directory }: Pick<ApiServices, 'directory'>,
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
  { directory }: Pick<ApiServices, 'directory'>,
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
