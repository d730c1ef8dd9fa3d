import type { FileDirent, FileId, LibraryId } from '../../../base/objects/index.ts'
import { parentOf, withSlash } from '../../../base/paths/index.ts'
import type { Placed } from '../../../libraries/edits/index.ts'
import type { Permission } from '../../../libraries/library/index.ts'
import type { Person } from '../../../people/accounts/index.ts'
import { avatarUrl } from '../accounts/account-wire.ts'
import { canEdit, canPreview } from '../common/file-kinds.ts'
import { isoTime } from '../common/wire-formats.ts'

/** The response of most `/api/v2.1/` calls on a file. */
export function fileInfoToWire(libraryId: LibraryId, { path, entry }: Placed, isLocked: boolean) {
  return {
    type: 'file',
    repo_id: libraryId,
    parent_dir: parentOf(path),
    obj_name: entry.name,
    obj_id: entry.id,
    size: entry.size,
    mtime: isoTime(entry.mtime),
    is_locked: isLocked,
    can_preview: canPreview(entry.name),
    can_edit: canEdit(entry.name),
  }
}

/** The new location of a moved or copied entry. */
export function placedToWire(libraryId: LibraryId, { path, entry }: Placed) {
  return { repo_id: libraryId, parent_dir: withSlash(parentOf(path)), obj_name: entry.name }
}

/** The details of a file. */
interface FileDetail {
  readonly entry: FileDirent
  /** The requested revision, not necessarily the latest. */
  readonly id: FileId
  readonly permission: Permission
  readonly starred: boolean
  readonly modifier: Person
  readonly uploader: Person
  /** Whether each is a visitor of a link. The person is then the creator of the link. */
  readonly viaLink: { readonly modifier: boolean; readonly uploader: boolean }
  /** Unix seconds. */
  readonly uploadedAt: number
  /** The number of comments. */
  readonly comments: number
}

export function fileDetailToWire(detail: FileDetail, baseUrl: string) {
  const { entry, id, permission, starred, modifier, uploader, viaLink, uploadedAt } = detail
  return {
    type: 'file',
    id,
    name: entry.name,
    permission,
    size: entry.size,
    mtime: entry.mtime,
    last_modified: isoTime(entry.mtime),
    starred,
    last_modifier_email: modifier.email,
    last_modifier_name: modifier.name,
    last_modifier_contact_email: modifier.contactEmail,
    ...(viaLink.modifier && { last_modifier_via_link: true }),
    uploader_email: uploader.email,
    uploader_name: uploader.name,
    uploader_contact_email: uploader.contactEmail,
    ...(viaLink.uploader && { uploader_via_link: true }),
    upload_time: isoTime(uploadedAt),
    last_modifier_avatar: avatarUrl(baseUrl, modifier),
    comment_total: detail.comments,
    can_edit: canEdit(entry.name),
  }
}
