import { replaceEqualDeep, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { Records, ResponseOf } from '../../../sdk/src/index.ts'
import { api, call } from './http.ts'

export type Permission = 'rw' | 'r' | 'admin' | 'cloud-edit' | 'preview'

/** A library in the list of the user. */
export interface LibraryItem {
  readonly repo_id: string
  readonly repo_name: string
  readonly type: 'mine' | 'shared' | 'group' | 'public'
  /** '' for libraries shared with a group, because the server does not send it. */
  readonly owner_email: string
  readonly owner_name: string
  readonly owner_contact_email: string
  readonly modifier_email: string
  readonly modifier_name: string
  readonly modifier_via_link?: true
  /** ISO. */
  readonly last_modified: string
  readonly size: number
  readonly encrypted: boolean
  readonly permission: Permission
  readonly starred: boolean
  /** Missing for libraries shared with everyone. */
  readonly monitored?: boolean
  readonly status: 'normal' | 'read-only'
  readonly group_id?: number
  readonly group_name?: string
  readonly is_admin?: boolean
}

/** Details of one library. */
export type LibraryDetail = Records['LibraryDescription']

export type DeletedLibrary = Records['DeletedLibrary']

export type StarredItem = Records['StarredItem']

export type OwnLibraryUsage = Records['OwnLibraryUsage']

export type LargeEntry = Records['LargeEntry']

/** Stored bytes by purpose; only `is_current` until the first count is done. */
type LibraryUsage = Records['UncountedLibrary'] & Partial<Records['LibraryUsage']>

const USAGES_PER_PAGE = 100
const COUNTING_MS = 5000
/** A library that changes all the time is never counted as it is now. */
const MAX_POLLS = 24

const untold = { owner_email: '', owner_name: '', owner_contact_email: '' }

const repo = (id: string) => `api/v2.1/repos/${id}/` as const

export function useLibraries() {
  return useQuery({
    queryKey: ['libraries'],
    queryFn: ({ signal, client, queryKey }) =>
      fetchLibraries(client.getQueryData<readonly LibraryItem[]>(queryKey), signal),
    structuralSharing: (old, fresh) => shareLibraries(old, fresh as readonly LibraryItem[]),
  })
}

/** The entity tags of lists, by the list itself, as in `entries.ts`. */
const tags = new WeakMap<readonly LibraryItem[], string>()

/** The libraries of the user. If `known` has not changed, nothing is transferred and the result is `known`. */
async function fetchLibraries(
  known: readonly LibraryItem[] | undefined,
  signal: AbortSignal,
): Promise<readonly LibraryItem[]> {
  const tag = known && tags.get(known)
  const response = await call('GET', 'api/v2.1/repos/', {
    headers: tag === undefined ? {} : { 'If-None-Match': tag },
    signal,
  })
  if (response.status === 304 && known !== undefined) return known
  const { repos } = (await response.json()) as ResponseOf<'GET', 'api/v2.1/repos/'>
  const libraries = repos.map((library) => ({ ...untold, ...library }))
  const etag = response.headers.get('ETag')
  if (etag !== null) tags.set(libraries, etag)
  return libraries
}

function shareLibraries(old: unknown, fresh: readonly LibraryItem[]): readonly LibraryItem[] {
  const shared = replaceEqualDeep(old, fresh)
  const tag = tags.get(fresh)
  if (tag !== undefined) tags.set(shared, tag)
  return shared
}

export function useLibrary(id: string) {
  return useQuery({
    queryKey: ['library', id],
    queryFn: ({ signal }) => fetchLibrary(id, signal),
  })
}

export function fetchLibrary(id: string, signal?: AbortSignal): Promise<LibraryDetail> {
  return api.get(repo(id), undefined, signal)
}

export function useDeletedLibraries() {
  return useQuery({
    queryKey: ['deleted-libraries'],
    queryFn: ({ signal }) => api.get('api/v2.1/deleted-repos/', undefined, signal),
  })
}

export function useStarred() {
  return useQuery({
    queryKey: ['starred'],
    queryFn: async ({ signal }) => {
      const path = 'api/v2.1/starred-items/'
      const answer = await api.get(path, undefined, signal)
      return answer.starred_item_list
    },
  })
}

/** Storage of a library, for its owner. Polled while it is being counted. */
export function useLibraryUsage(id: string) {
  return useQuery({
    queryKey: ['library', id, 'usage'],
    queryFn: ({ signal }): Promise<LibraryUsage> => api.get(`${repo(id)}usage/`, undefined, signal),
    refetchInterval: ({ state }) =>
      state.data?.is_current === false && state.dataUpdateCount < MAX_POLLS ? COUNTING_MS : false,
  })
}

/** Storage of all own libraries, largest first. Asked again while some of them are being counted. */
export function useOwnUsage() {
  return useInfiniteQuery({
    queryKey: ['libraries', 'usage'],
    queryFn: ({ pageParam, signal }) =>
      api.get('api/v2.1/account/usage/', { page: pageParam, per_page: USAGES_PER_PAGE }, signal),
    initialPageParam: 1,
    getNextPageParam: ({ page_info }) => (page_info.has_next_page ? page_info.current_page + 1 : undefined),
    refetchInterval: ({ state }) =>
      state.dataUpdateCount < MAX_POLLS &&
      state.data?.pages.some(({ libraries }) => libraries.some(({ is_current }) => !is_current))
        ? COUNTING_MS
        : false,
  })
}

/** The largest items of a folder, or the largest files anywhere below it. */
export function useLargest(id: string, path: string, below: boolean) {
  return useQuery({
    queryKey: ['dir', id, path, 'largest', below],
    queryFn: ({ signal }) =>
      api.get(`${repo(id)}dir/largest/`, { path, below: below ? 1 : undefined }, signal),
  })
}

/** Days of history that a library keeps; -1 for all. */
export function useHistoryDays(id: string) {
  return useQuery({
    queryKey: ['library', id, 'history-days'],
    queryFn: async ({ signal }) => {
      const path = `api2/repos/${id}/history-limit/` as const
      return (await api.get(path, undefined, signal)).keep_days
    },
  })
}

export const setHistoryDays = (id: string, days: number) =>
  api.put(`api2/repos/${id}/history-limit/`, { form: { keep_days: days } })

/** Encrypted if a password is given. */
export const createLibrary = (name: string, password?: string) =>
  api.post('api/v2.1/repos/', { form: { repo_name: name, passwd: password } })

/** The default library; created on first use. */
export const defaultLibrary = () => api.post('api2/default-repo/')

export const renameLibrary = (id: string, name: string) =>
  api.post(`api2/repos/${id}/`, { query: { op: 'rename' }, form: { repo_name: name } })

export const deleteLibrary = (id: string) => api.delete(repo(id))

export const restoreLibrary = (id: string) => api.post('api/v2.1/deleted-repos/', { form: { repo_id: id } })

export const purgeLibrary = (id: string) => api.delete(`api/v2.1/deleted-repos/${id}/`)

export const purgeAllLibraries = () => api.delete('api/v2.1/deleted-repos/')

export const transferLibrary = (id: string, owner: string, keepShares: boolean) =>
  api.put(`api2/repos/${id}/owner/`, { form: { owner, reshare: keepShares } })

/** Leaves a library that was shared with the user. */
export const leaveLibrary = (id: string) =>
  api.delete(`api2/beshared-repos/${id}/`, { query: { share_type: 'personal' } })

export const watchLibrary = (id: string, watch: boolean) =>
  watch
    ? api.post('api/v2.1/monitored-repos/', { form: { repo_id: id } })
    : api.delete(`api/v2.1/monitored-repos/${id}/`)

export const addStar = (id: string, path = '/') =>
  api.post('api/v2.1/starred-items/', { form: { repo_id: id, path } })

export const removeStar = (id: string, path = '/') =>
  api.delete('api/v2.1/starred-items/', { query: { repo_id: id, path } })

export const unlockLibrary = (id: string, password: string) =>
  api.post(`${repo(id)}set-password/`, { form: { password } })

export const lockLibrary = (id: string) => call('DELETE', `${repo(id)}set-password/`)

export const changeLibraryPassword = (id: string, older: string, newer: string) =>
  api.put(`${repo(id)}set-password/`, { form: { old_password: older, new_password: newer } })

/** Whether a permission allows changing files. */
export const canEdit = ({ permission, status }: { permission: Permission; status?: string }) =>
  (permission === 'rw' || permission === 'admin') && status !== 'read-only'

/** Whether a permission allows downloading, not only viewing. */
export const canDownload = ({ permission }: { permission: Permission }) =>
  permission === 'rw' || permission === 'admin' || permission === 'r'
