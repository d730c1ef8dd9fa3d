import { useQuery } from '@tanstack/react-query'
import { rebaseUrl } from '../site-url.ts'
import { api } from './http.ts'
import { reuseEntries } from './reuse-entries.ts'

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
  readonly is_locked?: boolean
  readonly lock_time?: number
  readonly lock_owner?: string
  readonly lock_owner_name?: string
  readonly locked_by_me?: boolean
  readonly encoded_thumbnail_src?: string
}

export interface Folder {
  /** Permission of the user. */
  readonly user_perm: string
  readonly dir_id: string
  readonly dirent_list: readonly Entry[]
}

/** A folder. Live events invalidate it. */
export function useFolder(libraryId: string, path: string) {
  return useQuery({
    queryKey: ['dir', libraryId, path],
    queryFn: ({ signal }) => fetchFolder(libraryId, path, signal),
    structuralSharing: (old, fresh) => reuseEntries(old as Folder | undefined, fresh as Folder),
  })
}

export function fetchFolder(libraryId: string, path: string, signal?: AbortSignal): Promise<Folder> {
  return api.get<Folder>(`api/v2.1/repos/${libraryId}/dir/`, { p: path }, signal)
}

/** Temporary download URL of a file, valid without credentials. */
export async function fileLink(
  libraryId: string,
  path: string,
  { reuse = true, commitId }: { reuse?: boolean; commitId?: string } = {},
): Promise<string> {
  const query = { p: path, reuse: reuse ? 1 : 0, commit_id: commitId }
  return rebaseUrl(await api.get<string>(`api2/repos/${libraryId}/file/`, query))
}

/** Downloads a file with the browser. */
export async function downloadFile(libraryId: string, path: string, commitId?: string): Promise<void> {
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
