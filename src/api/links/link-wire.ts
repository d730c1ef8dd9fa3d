import type { Link } from '../../access/index.ts'
import type { Person } from '../../identity/index.ts'
import type { Permission } from '../../library/index.ts'
import { baseName, type Dirent, type LibraryPath, ROOT, withSlash } from '../../objects/index.ts'
import { isoTime } from '../common/wire-formats.ts'
import { canEdit } from '../files/file-kinds.ts'

/** What is shown of a link besides what it knows itself. */
interface LinkAround {
  readonly baseUrl: string
  readonly isExpired: boolean
  readonly password: string
  /** What its maker may do there; undefined for nothing. */
  readonly permission: Permission | undefined
}

/** Where a link is opened. */
export function linkUrl(baseUrl: string, { kind, isDir, token }: Link): string {
  if (kind === 'upload') return `${baseUrl}/u/d/${token}/`
  return `${baseUrl}/${isDir ? 'd' : 'f'}/${token}/`
}

/** A share link as its maker sees it. */
export function shareLinkToWire(link: Link, around: LinkAround) {
  const { isDir, rights } = link
  const isFetched = !isDir && rights.canDownload
  return {
    username: link.creator,
    ...placeToWire(link),
    is_dir: isDir,
    token: link.token,
    link: linkUrl(around.baseUrl, link),
    download_link: isFetched ? `${around.baseUrl}/seafhttp/f/${link.token}/` : '',
    show_download_link: isFetched,
    ...stateToWire(link, around),
    permissions: {
      can_edit: rights.canEdit,
      can_download: rights.canDownload,
      can_upload: rights.canUpload,
      can_copy_content: true,
    },
    user_scope: link.scope,
    can_edit: !isDir && around.permission === 'rw' && canEdit(baseName(link.path)),
  }
}

/** An upload link as its maker sees it. */
export function uploadLinkToWire(link: Link, around: LinkAround) {
  return {
    ...placeToWire(link),
    link: linkUrl(around.baseUrl, link),
    token: link.token,
    username: link.creator,
    ...stateToWire(link, around),
  }
}

/** A share link in the old listing of one's own. */
export function olderLinkToWire(link: Link) {
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
export function downloadLinkToWire(link: Link, creator: Person, entry: Dirent | undefined) {
  return {
    ...uploadLinkToOldWire(link, creator),
    share_type: link.isDir ? 'd' : 'f',
    size: entry?.kind === 'file' ? String(entry.size) : '',
  }
}

/** An upload link in the deprecated listing of a library. */
export function uploadLinkToOldWire(link: Link, creator: Person) {
  return {
    create_by: creator.email,
    creator_name: creator.name,
    // No colon in the offset, here alone.
    create_time: isoTime(link.createdAt).replace('+00:00', '+0000'),
    token: link.token,
    path: shownPath(link),
    name: nameOf(link.path),
    view_count: link.views,
  }
}

/** A link as administrators see it: who made it and where it leads, never its password. */
export function adminLinkToWire(link: Link, creator: Person, isExpired: boolean) {
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

/** The path of a folder ends with a slash. */
export function shownPath({ path, isDir }: Pick<Link, 'path' | 'isDir'>): string {
  return isDir ? withSlash(path) : path
}

function nameOf(path: LibraryPath): string {
  return path === ROOT ? ROOT : baseName(path)
}

function placeToWire(link: Link) {
  return {
    repo_id: link.libraryId,
    repo_name: link.libraryName,
    path: shownPath(link),
    obj_name: nameOf(link.path),
  }
}

function stateToWire(link: Link, { isExpired, password }: LinkAround) {
  return {
    view_cnt: link.views,
    ctime: isoTime(link.createdAt),
    expire_date: link.expiresAt === undefined ? '' : isoTime(link.expiresAt),
    is_expired: isExpired,
    password,
    description: link.description,
    // Ours: whether what was shared is still there, and whether the link is switched on.
    is_valid: !link.isGone,
    is_active: link.active,
  }
}
