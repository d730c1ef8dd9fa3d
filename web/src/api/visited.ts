import { CarrelError } from '../../../sdk/src/index.ts'
import { siteUrl } from '../site-url.ts'
import type { VisitedLink } from '../visited-link.ts'
import type { Entry, Folder } from './entries.ts'
import { api, call } from './http.ts'

let hasListed = false

/** A folder below a link. Once the link is refused, the page is loaded anew: the server says why, or asks for the password. */
export async function fetchVisitedFolder(
  { token }: VisitedLink,
  path: string,
  signal?: AbortSignal,
): Promise<Folder> {
  const asked = api.get(`api/v2.1/share-links/${token}/dirents/`, { path }, signal)
  const listing = await asked.catch((error: unknown) => {
    const isRefused = error instanceof CarrelError && (error.status === 403 || error.status === 404)
    // A page that was never listed has just been loaded.
    if (isRefused && hasListed) location.reload()
    throw error
  })
  hasListed = true
  const common = { permission: 'r', parent_dir: path, starred: false }
  const entries = listing.dirent_list.map((one): Entry => {
    const mtime = Date.parse(one.last_modified) / 1000
    // Visitors are told no ids of contents. A file that changed has another time or size.
    const id = `${one.last_modified} ${one.size}`
    if (one.is_dir) return { ...common, type: 'dir', id, mtime, name: one.folder_name }
    return { ...common, type: 'file', id, mtime, name: one.file_name, size: one.size }
  })
  return { user_perm: 'r', dir_id: '', dirent_list: entries }
}

/** Temporary URL of the bytes of a file below a link. */
export async function openVisitedFile(link: VisitedLink, path: string, signal?: AbortSignal) {
  const response = await call('HEAD', fileAddress(link, path, 'raw'), { signal })
  return response.url
}

/** URL that saves a file below a link. */
export const visitedDownload = (link: VisitedLink, path: string) =>
  siteUrl(fileAddress(link, path, 'dl')).href

function fileAddress({ token, isDir }: VisitedLink, path: string, how: 'raw' | 'dl'): string {
  return isDir ? `d/${token}/files/?p=${encodeURIComponent(path)}&${how}=1` : `f/${token}/?${how}=1`
}

/** The thumbnail of a file below a link, relative to the root of the site. */
export function visitedThumbnail(
  { token, isDir, largestPreview = Number.POSITIVE_INFINITY }: VisitedLink,
  path: string,
  size: number,
): string {
  const below = isDir ? path.split('/').map(encodeURIComponent).join('/') : '/'
  return `thumbnail/${token}/${Math.min(size, largestPreview)}${below}`
}
