import { useQuery } from '@tanstack/react-query'
import { rebaseUrl } from '../site-url.ts'
import { api } from './http.ts'

// A key below that of listings, so that both are invalidated together.
export function useFileDetail(libraryId: string, path: string) {
  return useQuery({
    queryKey: ['dir', libraryId, path, 'file-detail'],
    queryFn: ({ signal }) => api.get(`api2/repos/${libraryId}/file/detail/`, { p: path }, signal),
  })
}

export function useFolderDetail(libraryId: string, path: string) {
  return useQuery({
    queryKey: ['dir', libraryId, path, 'folder-detail'],
    queryFn: ({ signal }) => api.get(`api/v2.1/repos/${libraryId}/dir/detail/`, { path }, signal),
  })
}

/** Creates a smart link: it follows the entry when it is moved, for users with access. */
export async function createSmartLink(libraryId: string, path: string, isDir: boolean): Promise<string> {
  const query = { repo_id: libraryId, path, is_dir: isDir }
  const { smart_link } = await api.get('api/v2.1/smart-link/', query)
  return rebaseUrl(smart_link, 'smart-link/')
}

export function useLinkTarget(token: string) {
  return useQuery({
    queryKey: ['lasting-link', token],
    queryFn: ({ signal }) => api.get(`api/v2.1/smart-links/${encodeURIComponent(token)}/`, undefined, signal),
  })
}
