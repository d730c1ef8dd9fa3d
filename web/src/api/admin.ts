import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { Records } from '../../../sdk/src/index.ts'
import { api, call } from './http.ts'
import type { LinkKind } from './links.ts'

const root = 'api/v2.1/admin/'
const PAGE = 50

/** A page of a list, and the key of the next one, if any. */
interface PageOf<T> {
  readonly items: readonly T[]
  readonly next?: number | undefined
}

/** Paged query below `['admin', …]`. `next` is a page number or a log position. */
function useListing<T>(
  key: readonly unknown[],
  fetchPage: (at: number, signal: AbortSignal) => Promise<PageOf<T>>,
) {
  return useInfiniteQuery({
    queryKey: ['admin', ...key],
    queryFn: ({ pageParam, signal }) => fetchPage(pageParam, signal),
    initialPageParam: 1,
    getNextPageParam: (last) => last.next,
    placeholderData: keepPreviousData,
  })
}

type PageInfo = Pick<Records['AdminGroups'], 'page_info'>

const nextOf = ({ page_info: { has_next_page, current_page } }: PageInfo) =>
  has_next_page ? current_page + 1 : undefined

export type AdminUser = Records['AdminUser']

export type UserOrder = 'email' | 'create_time' | 'last_login' | 'quota_usage'

export function useAdminUsers(words: string, order: UserOrder) {
  return useListing<AdminUser>(['users', words, order], async (page, signal) => {
    if (words !== '') {
      const found = await api.get(`${root}search-user/`, { query: words }, signal)
      return { items: found.user_list }
    }
    const direction = order === 'email' ? 'asc' : 'desc'
    const query = { page, per_page: PAGE, order_by: order, direction }
    const found = await api.get(`${root}users/`, query, signal)
    return { items: found.data, next: page * PAGE < found.total_count ? page + 1 : undefined }
  })
}

/** Fields of an account. The quota is in MB; 0 is the server default. */
export interface UserFields {
  readonly name?: string
  readonly password?: string
  readonly is_staff?: boolean
  readonly is_active?: boolean
  readonly role?: 'default' | 'guest'
  readonly quota_total?: number
  /** The user chooses the password through a link that is mailed. */
  readonly invite?: boolean
}

const userAt = (email: string) => `${root}users/${encodeURIComponent(email)}/` as const
export const createUser = (email: string, fields: UserFields) =>
  api.post(`${root}users/`, { form: { email, ...fields } })
export const changeUser = (email: string, fields: UserFields) =>
  api.put(userAt(email), { form: { ...fields } })
export const deleteUser = (email: string) => api.delete(userAt(email))
export const resetSecondFactors = (email: string) => api.delete(`${userAt(email)}second-factors/`)
export const resetPassword = (email: string) => api.put(`${userAt(email)}reset-password/`)

export type AdminLibrary = Records['AdminLibrary']

export function useAdminLibraries(words: string) {
  return useListing<AdminLibrary>(['libraries', words], async (page, signal) => {
    const paging = { page, per_page: PAGE }
    if (words !== '') {
      const query = { query: words, ...paging }
      const found = await api.get(`${root}search-library/`, query, signal)
      return { items: found.repo_list, next: nextOf(found) }
    }
    const found = await api.get(`${root}libraries/`, paging, signal)
    return { items: found.repos, next: 'page_info' in found ? nextOf(found) : undefined }
  })
}

const libraryAt = (id: string) => `${root}libraries/${id}/` as const
export const changeAnyLibrary = (id: string, form: { owner?: string; status?: AdminLibrary['status'] }) =>
  api.put(libraryAt(id), { form })
export const deleteAnyLibrary = (id: string) => api.delete(libraryAt(id))

export type AdminDeletedLibrary = Records['AdminDeletedLibrary']

export function useAdminDeletedLibraries() {
  return useListing<AdminDeletedLibrary>(['deleted'], async (page, signal) => {
    const query = { page, per_page: PAGE }
    const found = await api.get(`${root}trash-libraries/`, query, signal)
    return { items: found.repos, next: nextOf(found) }
  })
}

export const restoreAnyLibrary = (id: string) => api.put(`${root}trash-libraries/${id}/`)
export const purgeAnyLibrary = (id: string) => api.delete(`${root}trash-libraries/${id}/`)
export const purgeAll = () => api.delete(`${root}trash-libraries/`)

export type AdminGroup = Records['AdminGroup']

export function useAdminGroups(words: string) {
  return useListing<AdminGroup>(['groups', words], async (page, signal) => {
    const query = { page, per_page: PAGE, name: words === '' ? undefined : words }
    const found = await api.get(`${root}groups/`, query, signal)
    return { items: found.groups, next: nextOf(found) }
  })
}

const groupAt = (id: number) => `${root}groups/${id}/` as const
export const changeAnyGroup = (id: number, form: { new_name?: string; new_owner?: string }) =>
  api.put(groupAt(id), { form })
export const deleteAnyGroup = (id: number) => api.delete(groupAt(id))

export function useAnyMembers(id: number) {
  return useQuery({
    queryKey: ['admin', 'groups', id, 'members'],
    queryFn: async ({ signal }) => {
      const { members } = await api.get(`${groupAt(id)}members/`, { per_page: 1000 }, signal)
      return members
    },
  })
}

export const addAnyMembers = (id: number, emails: readonly string[]) =>
  api.post(`${groupAt(id)}members/`, { form: { email: emails } })
export const removeAnyMember = (id: number, email: string) =>
  api.delete(`${groupAt(id)}members/${encodeURIComponent(email)}/`)

export type AdminLink = Records['AdminLink']

export function useAdminLinks(kind: LinkKind) {
  return useListing<AdminLink>(['links', kind], async (page, signal) => {
    const query = { page, per_page: PAGE }
    const found = await api.get(`${root}${kind}-links/`, query, signal)
    const items = 'share_link_list' in found ? found.share_link_list : found.upload_link_list
    return { items, next: page * PAGE < found.count ? page + 1 : undefined }
  })
}

export const deleteAnyLink = (kind: LinkKind, token: string) => api.delete(`${root}${kind}-links/${token}/`)

export type AdminDevice = Records['AdminDevice']

export function useAdminDevices(platform: string) {
  return useListing<AdminDevice>(['devices', platform], async (page, signal) => {
    const query = { page, per_page: PAGE, platform: platform === '' ? undefined : platform }
    const found = await api.get(`${root}devices/`, query, signal)
    return { items: found.devices, next: nextOf(found) }
  })
}

export const unlinkAnyDevice = ({ user, platform, device_id }: AdminDevice, wipe: boolean) =>
  api.delete(`${root}devices/`, { form: { user, platform, device_id, wipe_device: wipe } })

export type AuditEntry = Records['AuditEntry']

export interface AuditFilter {
  readonly actor?: string | undefined
  readonly action?: string | undefined
  readonly object_id?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

export function useAudit(filter: AuditFilter) {
  return useInfiniteQuery({
    queryKey: ['admin', 'audit', filter],
    queryFn: async ({ pageParam, signal }) => {
      const query = { ...filter, before: pageParam, per_page: PAGE }
      const path = `${root}audit-log/`
      const found = await api.get(path, query, signal)
      return { items: found.entries, next: found.next ?? undefined }
    },
    initialPageParam: undefined as number | undefined,
    getNextPageParam: (last) => last.next,
    placeholderData: keepPreviousData,
  })
}

export async function fetchAudit(filter: AuditFilter): Promise<Blob> {
  return (await call('GET', `${root}audit-log/export/`, { query: { ...filter } })).blob()
}

/** A value per day. */
export interface DayValue {
  readonly time: string
  readonly value: number
}

const statistics = { storage: 'total-storage', files: 'total-files', users: 'active-users' } as const
export type StatisticName = keyof typeof statistics

export function useStatistic(name: StatisticName, days: number) {
  return useQuery({
    queryKey: ['admin', 'statistics', name, days],
    queryFn: async ({ signal }): Promise<DayValue[]> => {
      const start = new Date(Date.now() - days * 86_400_000).toISOString()
      const found = await api.get(`${root}statistics/${statistics[name]}/`, { start }, signal)
      return found.map((day) => ({
        time: day.datetime,
        value: 'count' in day ? day.count : day.total_storage,
      }))
    },
    placeholderData: keepPreviousData,
  })
}

export function useSystemInfo() {
  return useQuery({
    queryKey: ['admin', 'sysinfo'],
    queryFn: ({ signal }) => api.get(`${root}sysinfo/`, undefined, signal),
  })
}

/** A server process on the database. */
export type ServerNode = ServerStatus['nodes'][number]

export type ServerStatus = Records['ServerStatus']

export function useServerStatus() {
  return useQuery({
    queryKey: ['admin', 'status'],
    queryFn: ({ signal }) => api.get(`${root}status/`, undefined, signal),
    refetchInterval: 15_000,
  })
}

export function useUnreadTexts(enabled: boolean) {
  return useQuery({
    queryKey: ['admin', 'unread'],
    queryFn: ({ signal }) => api.get(`${root}search-failures/`, { per_page: 100 }, signal),
    enabled,
  })
}

export type AccountUsage = Records['AccountUsage']

export function useAccountUsage() {
  return useListing<AccountUsage>(['usage'], async (page, signal) => {
    const query = { page, per_page: PAGE }
    const found = await api.get(`${root}usage/`, query, signal)
    return { items: found.accounts, next: nextOf(found) }
  })
}
