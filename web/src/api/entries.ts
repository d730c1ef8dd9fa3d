import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query'
import { errorForStatus, type ResponseOf } from '../../../sdk/src/index.ts'
import { rebaseUrl } from '../site-url.ts'
import { visitedLink } from '../visited-link.ts'
import { applyChanges, type FolderChanges } from './folder-changes.ts'
import { api, call } from './http.ts'
import { confirmedFolder, shareEntries, withTag } from './reuse-entries.ts'
import type { FileTag } from './tags.ts'
import { fetchVisitedFolder, openVisitedFile, visitedDownload } from './visited.ts'

/** A file or folder in a listing of `GET /api/v2.1/repos/<id>/dir/`. */
export interface Entry {
  readonly type: 'file' | 'dir'
  readonly id: string
  readonly name: string
  /** Unix seconds. */
  readonly mtime: number
  readonly permission: string
  readonly parent_dir: string
  readonly starred: boolean
  /** Only of files. */
  readonly size?: number
  readonly modifier_email?: string
  readonly modifier_name?: string
  /** A visitor of a link of the modifier uploaded it. */
  readonly modifier_via_link?: true
  readonly is_locked?: boolean
  readonly lock_time?: number
  readonly lock_owner?: string
  readonly lock_owner_name?: string
  readonly locked_by_me?: boolean
  readonly encoded_thumbnail_src?: string
  readonly file_tags?: readonly FileTag[]
}

export interface Folder {
  /** Permission of the user. */
  readonly user_perm: string
  readonly dir_id: string
  readonly dirent_list: readonly Entry[]
  /** The entries as the server sent them last, and their entity tag. An optimistic update changes only `dirent_list`. */
  readonly confirmed?: { readonly entries: readonly Entry[]; readonly tag: string }
}

/** A folder. Live events invalidate it. */
export function useFolder(libraryId: string, path: string) {
  return useQuery(folderQuery(libraryId, path))
}

/** Loads a folder before it is shown. */
export function prefetchFolder(queries: QueryClient, libraryId: string, path: string): Promise<void> {
  return queries.prefetchQuery(folderQuery(libraryId, path))
}

function folderQuery(libraryId: string, path: string) {
  return queryOptions({
    queryKey: ['dir', libraryId, path],
    queryFn: ({ signal, client, queryKey }) =>
      fetchFolder(libraryId, path, signal, client.getQueryData<Folder>(queryKey)),
    structuralSharing: (old, fresh) => shareEntries(old as Folder | undefined, fresh as Folder),
  })
}

type Listing = ResponseOf<'GET', `api/v2.1/repos/${string}/dir/`>

/** The listing of one folder. The same call also lists subtrees, which nothing here requests. */
export function folderIn(listing: Listing): FolderChanges {
  if (!('dir_id' in listing)) throw errorForStatus(500, 'the server listed a subtree')
  return listing
}

/** A folder. If `known` has not changed, nothing is transferred. Otherwise only the changes are, if they are few. */
export async function fetchFolder(
  libraryId: string,
  path: string,
  signal?: AbortSignal,
  known?: Folder,
): Promise<Folder> {
  if (visitedLink !== undefined) return fetchVisitedFolder(visitedLink, path, signal)
  const confirmed = known && confirmedFolder(known)
  const tag = confirmed?.confirmed?.tag
  const response = await call('GET', `api/v2.1/repos/${libraryId}/dir/`, {
    query: { p: path, since: tag && confirmed?.dir_id },
    headers: tag === undefined ? {} : { 'If-None-Match': tag },
    signal,
  })
  if (response.status === 304 && confirmed !== undefined) return confirmed
  const folder = applyChanges(confirmed, folderIn((await response.json()) as Listing))
  return withTag(folder, response.headers.get('ETag') ?? undefined)
}

/** Temporary download URL of a file, valid without credentials. */
export async function fileLink(
  libraryId: string,
  path: string,
  { reuse = true, commitId }: { reuse?: boolean; commitId?: string } = {},
): Promise<string> {
  if (visitedLink !== undefined) return openVisitedFile(visitedLink, path)
  const query = { p: path, reuse: reuse ? 1 : 0, commit_id: commitId }
  const link = await api.get(`api2/repos/${libraryId}/file/`, query)
  if (typeof link !== 'string') throw errorForStatus(500, 'the server sent no link')
  return rebaseUrl(link)
}

/** Downloads a file with the browser. */
export async function downloadFile(libraryId: string, path: string, commitId?: string): Promise<void> {
  // A link that has ended leads to the page that says so.
  if (visitedLink !== undefined) return location.assign(visitedDownload(visitedLink, path))
  const link = await fileLink(libraryId, path, { reuse: false, ...(commitId && { commitId }) })
  saveFrom(link)
}

/** Saves the response of a URL with the browser. */
export function saveFrom(link: string): void {
  const anchor = document.createElement('a')
  anchor.href = link
  anchor.download = ''
  anchor.click()
}
