import { useQuery } from '@tanstack/react-query'
import { rebaseUrl } from '../site-url.ts'
import { api } from './http.ts'

/** Details of a file. */
interface FileDetail {
  readonly size: number
  /** ISO. */
  readonly last_modified: string
  readonly last_modifier_email: string
  readonly last_modifier_name: string
  readonly last_modifier_via_link?: true
  readonly uploader_email: string
  readonly uploader_name: string
  readonly uploader_via_link?: true
  readonly upload_time: string
}

/** Details of a folder, with the totals of its subtree. */
interface FolderDetail {
  readonly file_count: number
  readonly size: number
  readonly mtime: string
}

// A key below that of listings, so that both are invalidated together.
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

/** Creates a smart link: it follows the entry when it is moved, for users with access. */
export async function createSmartLink(libraryId: string, path: string, isDir: boolean): Promise<string> {
  const query = { repo_id: libraryId, path, is_dir: isDir }
  const { smart_link } = await api.get<{ smart_link: string }>('api/v2.1/smart-link/', query)
  return rebaseUrl(smart_link, 'smart-link/')
}

/** The current target of a smart link. */
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
