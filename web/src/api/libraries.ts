import { useQuery } from '@tanstack/react-query'
import { api } from './http.ts'

export type Permission = 'rw' | 'r' | 'admin' | 'cloud-edit' | 'preview'

/** A library in the list of all that the caller can open. */
export interface LibraryItem {
  readonly repo_id: string
  readonly repo_name: string
  readonly type: 'mine' | 'shared' | 'group' | 'public'
  readonly owner_email: string
  readonly owner_name: string
  readonly owner_contact_email: string
  readonly modifier_email: string
  readonly modifier_name: string
  /** ISO. */
  readonly last_modified: string
  readonly size: number
  readonly encrypted: boolean
  readonly permission: Permission
  readonly starred: boolean
  readonly monitored: boolean
  readonly status: 'normal' | 'read-only'
  readonly group_id?: number
  readonly group_name?: string
  readonly is_admin?: boolean
}

/** One library, in more detail. */
export interface LibraryDetail {
  readonly repo_id: string
  readonly repo_name: string
  readonly owner_email: string
  readonly owner_name: string
  readonly size: number
  readonly file_count: number
  readonly encrypted: boolean
  readonly permission: Permission
  readonly is_admin: boolean
  readonly is_virtual: boolean
  readonly status: 'normal' | 'read-only'
  /** Of an encrypted library: whether the caller has given its password within the hour. */
  readonly lib_need_decrypt: boolean
  readonly last_modified: string
}

export function useLibraries() {
  return useQuery({
    queryKey: ['libraries'],
    queryFn: async ({ signal }) => {
      const { repos } = await api.get<{ repos: LibraryItem[] }>('api/v2.1/repos/', undefined, signal)
      return repos
    },
  })
}

export function useLibrary(id: string) {
  return useQuery({
    queryKey: ['library', id],
    queryFn: ({ signal }) => api.get<LibraryDetail>(`api/v2.1/repos/${id}/`, undefined, signal),
  })
}

/** Whether a permission lets one change files. */
export const canEdit = ({ permission, status }: { permission: Permission; status?: string }) =>
  (permission === 'rw' || permission === 'admin') && status !== 'read-only'
