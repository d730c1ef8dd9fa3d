import { useQuery } from '@tanstack/react-query'
import { rebaseUrl } from '../site-url.ts'
import { api } from './http.ts'

/** All there is to say about a file. */
interface FileDetail {
  readonly size: number
  /** ISO. */
  readonly last_modified: string
  readonly last_modifier_email: string
  readonly last_modifier_name: string
  readonly uploader_email: string
  readonly uploader_name: string
  readonly upload_time: string
}

/** A folder with the totals of all that is below it. */
interface FolderDetail {
  readonly file_count: number
  readonly size: number
  readonly mtime: string
}

// Below the key of listings: whatever makes those stale does so here too.
export function useFileDetail(libraryId: string, path: string) {
  return useQuery({
    queryKey: ['dir', libraryId, path, 'file-detail'],
    queryFn: ({ signal }) => api.get<FileDetail>(`api2/repos/${libraryId}/file/detail/`, { p: path }, signal),
  })
}

export function useFolderDetail(libraryId: string, path: string) {
  return useQuery({
    queryKey: ['dir', libraryId, path, 'folder-detail'],
    queryFn: ({ signal }) =>
      api.get<FolderDetail>(`api/v2.1/repos/${libraryId}/dir/detail/`, { path }, signal),
  })
}

/** The link that follows a file or folder wherever it is moved, for those who may read it. */
export async function createSmartLink(libraryId: string, path: string, isDir: boolean): Promise<string> {
  const query = { repo_id: libraryId, path, is_dir: isDir }
  const { smart_link } = await api.get<{ smart_link: string }>('api/v2.1/smart-link/', query)
  return rebaseUrl(smart_link, 'smart-link/')
}

/** Where such a link leads now. */
interface LinkTarget {
  readonly repo_id: string
  readonly path: string
  readonly is_dir: boolean
}

export function useLinkTarget(token: string) {
  return useQuery({
    queryKey: ['lasting-link', token],
    queryFn: ({ signal }) =>
      api.get<LinkTarget>(`api/v2.1/smart-links/${encodeURIComponent(token)}/`, undefined, signal),
  })
}
