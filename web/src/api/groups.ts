import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { Records } from '../../../sdk/src/index.ts'
import { api } from './http.ts'
import type { SharePermission } from './sharing.ts'

export type GroupItem = Records['Group']

export type GroupMember = Records['GroupMember']

export type GroupLibrary = Records['SharedWithGroup']

const PAGE = 100
const root = 'api/v2.1/groups/'
const at = (id: number) => `${root}${id}/` as const

export function useGroups() {
  return useQuery({
    queryKey: ['groups', 'all'],
    queryFn: ({ signal }) => api.get(root, undefined, signal),
  })
}

export function useGroup(id: number) {
  return useQuery({
    queryKey: ['groups', id],
    queryFn: ({ signal }) => api.get(at(id), undefined, signal),
  })
}

export function useMembers(id: number) {
  return usePages(['groups', id, 'members'], (query, signal) => api.get(`${at(id)}members/`, query, signal))
}

export function useGroupLibraries(id: number) {
  return usePages(['groups', id, 'libraries'], (query, signal) =>
    api.get(`${at(id)}libraries/`, query, signal),
  )
}

/** Paged query. A full page implies another one. */
function usePages<T>(
  queryKey: readonly unknown[],
  fetchPage: (query: { page: number; per_page: number }, signal: AbortSignal) => Promise<readonly T[]>,
) {
  return useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => fetchPage({ page: pageParam, per_page: PAGE }, signal),
    initialPageParam: 1,
    getNextPageParam: (last, pages) => (last.length < PAGE ? undefined : pages.length + 1),
  })
}

export const makeGroup = (name: string) => api.post(root, { form: { name } })
export const renameGroup = (id: number, name: string) => api.put(at(id), { form: { name } })
export const handOverGroup = (id: number, owner: string) => api.put(at(id), { form: { owner } })
export const deleteGroup = (id: number) => api.delete(at(id))

export const addMembers = (id: number, emails: readonly string[]) =>
  api.post(`${at(id)}members/bulk/`, { form: { emails: emails.join(',') } })

const memberAt = (id: number, email: string) => `${at(id)}members/${encodeURIComponent(email)}/` as const

export const setGroupAdmin = (id: number, email: string, isAdmin: boolean) =>
  api.put(memberAt(id, email), { form: { is_admin: isAdmin } })

/** Removes a member from a group. Removing oneself leaves the group. */
export const removeMember = (id: number, email: string) => api.delete(memberAt(id, email))

export const makeGroupLibrary = (id: number, name: string, permission: SharePermission) =>
  api.post(`${at(id)}libraries/`, { form: { repo_name: name, permission } })

export const unshareFromGroup = (id: number, libraryId: string) =>
  api.delete(`${at(id)}libraries/${libraryId}/`)
