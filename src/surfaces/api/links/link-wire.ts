import type { Dirent } from '../../../base/objects/index.ts'
import { baseName, type LibraryPath, ROOT, withSlash } from '../../../base/paths/index.ts'
import type { Permission } from '../../../libraries/library/index.ts'
import type { Person } from '../../../people/accounts/index.ts'
import type { Link } from '../../../sharing/access/index.ts'
import { canEdit } from '../common/file-kinds.ts'
import { isoTime } from '../common/wire-formats.ts'
import { requestToWire } from './file-request.ts'
import type { OlderDownloadLink, OlderShareLink, OlderUploadLink } from './links.schema.ts'

/** Data of a link's wire form that is not in the link. */
interface LinkContext {
  readonly baseUrl: string
  readonly isExpired: boolean
  readonly password: string
  /** The permission of its creator; undefined for none. */
  readonly permission: Permission | undefined
}

/** The URL of a link. */
export function linkUrl(baseUrl: string, { kind, isDir, token }: Link): string {
  if (kind === 'upload') return `${baseUrl}/u/d/${token}/`
  return `${baseUrl}/${isDir ? 'd' : 'f'}/${token}/`
}

/** A share link as its creator sees it. */
export function shareLinkToWire(link: Link, context: LinkContext) {
  const { isDir, rights } = link
  const isFetched = !isDir && rights.canDownload
  return {
    username: link.creator,
    ...placeToWire(link),
    is_dir: isDir,
    token: link.token,
    link: linkUrl(context.baseUrl, link),
    download_link: isFetched ? `${context.baseUrl}/seafhttp/f/${link.token}/` : '',
    show_download_link: isFetched,
    ...stateToWire(link, context),
    permissions: {
      can_edit: rights.canEdit,
      can_download: rights.canDownload,
      can_upload: rights.canUpload,
      can_copy_content: true,
    },
    user_scope: link.scope,
    can_edit: !isDir && context.permission === 'rw' && canEdit(baseName(link.path)),
  }
}

/** An upload link as its creator sees it. */
export function uploadLinkToWire(link: Link, context: LinkContext) {
  return {
    ...placeToWire(link),
    link: linkUrl(context.baseUrl, link),
    token: link.token,
    username: link.creator,
    ...stateToWire(link, context),
    request: requestToWire(link.request),
  }
}

/** A share link in `/api2/shared-links/`. */
export function olderLinkToWire(link: Link): OlderShareLink {
  return {
    username: link.creator,
    repo_id: link.libraryId,
    ctime: isoTime(link.createdAt),
    s_type: link.isDir ? 'd' : 'f',
    token: link.token,
    view_cnt: link.views,
    path: shownPath(link),
  }
}

/** A download link in the deprecated listing of a library. */
export function downloadLinkToWire(
  link: Link,
  creator: Person,
  entry: Dirent | undefined,
): OlderDownloadLink {
  return {
    ...uploadLinkToOldWire(link, creator),
    share_type: link.isDir ? 'd' : 'f',
    size: entry?.kind === 'file' ? String(entry.size) : '',
  }
}

/** An upload link in the deprecated listing of a library. */
export function uploadLinkToOldWire(link: Link, creator: Person): OlderUploadLink {
  return {
    create_by: creator.email,
    creator_name: creator.name,
    // Only this field has no colon in the offset.
    create_time: isoTime(link.createdAt).replace('+00:00', '+0000'),
    token: link.token,
    path: shownPath(link),
    name: nameOf(link.path),
    view_count: link.views,
  }
}

/** The path of a folder ends with a slash. */
function shownPath({ path, isDir }: Pick<Link, 'path' | 'isDir'>): string {
  return isDir ? withSlash(path) : path
}

function nameOf(path: LibraryPath): string {
  return path === ROOT ? ROOT : baseName(path)
}

export function placeToWire(link: Link) {
  return {
    repo_id: link.libraryId,
    repo_name: link.libraryName,
    path: shownPath(link),
    obj_name: nameOf(link.path),
  }
}

function stateToWire(link: Link, { isExpired, password }: LinkContext) {
  return {
    view_cnt: link.views,
    ctime: isoTime(link.createdAt),
    expire_date: link.expiresAt === undefined ? '' : isoTime(link.expiresAt),
    is_expired: isExpired,
    password,
    description: link.description,
    // Fields of our own: whether the target still exists, and whether the link is active.
    is_valid: !link.isGone,
    is_active: link.active,
  }
}
