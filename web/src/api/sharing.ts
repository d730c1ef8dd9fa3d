import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { Records } from '../../../sdk/src/index.ts'
import { api } from './http.ts'

/** What a share allows: reading, writing, or writing and managing shares. */
export type SharePermission = 'r' | 'rw' | 'admin'
type ShareType = 'user' | 'group'

/** Somebody to share with. One that is typed has no picture. */
export type Person = Omit<Records['User'], 'avatar_url'> & { readonly avatar_url?: string }

/** A share of a folder, with a user or with a group. */
export interface ShareItem {
  readonly share_type: ShareType
  readonly user_info?: { readonly name: string; readonly nickname: string; readonly avatar_url: string }
  readonly group_info?: { readonly id: number; readonly name: string }
  readonly permission: 'r' | 'rw'
  readonly is_admin: boolean
  /** ISO; absent if it never expires. */
  readonly expire_date?: string
  readonly is_expired?: boolean
}

/** A folder or file that is shared; a library is its root. */
export interface SharedPlace {
  readonly libraryId: string
  readonly path: string
  readonly isFile?: boolean
}

/** Result of sharing with several users or groups. */
type ShareOutcome = Records['ShareResults']

export const permissionOf = (share: { permission: string; is_admin: boolean }): SharePermission =>
  share.is_admin ? 'admin' : share.permission === 'rw' ? 'rw' : 'r'

const itemsAt = ({ libraryId, isFile }: SharedPlace) =>
  isFile
    ? (`api/v2.1/repos/${libraryId}/file/shared-items/` as const)
    : (`api2/repos/${libraryId}/dir/shared_items/` as const)

export const sharesKey = ({ libraryId, path }: SharedPlace) => ['shares', libraryId, path] as const

export function useShares(place: SharedPlace, enabled: boolean) {
  return useQuery({
    queryKey: sharesKey(place),
    queryFn: ({ signal }): Promise<readonly ShareItem[]> =>
      api.get(itemsAt(place), { p: place.path }, signal),
    enabled,
  })
}

export function addShares(
  place: SharedPlace,
  sent: {
    type: ShareType
    to: readonly (string | number)[]
    permission: SharePermission
    /** ISO; empty for never. */
    expires: string
  },
): Promise<ShareOutcome> {
  const { type, to, permission, expires } = sent
  const whom = { [type === 'user' ? 'username' : 'group_id']: to }
  const form = { share_type: type, permission, ...whom, ...(expires && { expiration_time: expires }) }
  return api.put(itemsAt(place), { query: { p: place.path }, form })
}

const oneOf = (place: SharedPlace, { share_type, user_info, group_info }: ShareItem) => ({
  p: place.path,
  share_type,
  username: user_info?.name,
  group_id: group_info?.id,
})

export const changeShare = (place: SharedPlace, share: ShareItem, permission: SharePermission) =>
  api.post(itemsAt(place), { query: oneOf(place, share), form: { permission } })

/** Changes when a share expires. Empty for never. */
export const changeShareExpiry = (place: SharedPlace, share: ShareItem, expires: string) =>
  api.post(itemsAt(place), {
    query: oneOf(place, share),
    form: { permission: permissionOf(share), expiration_time: expires },
  })

export const endShare = (place: SharedPlace, share: ShareItem) =>
  api.delete(itemsAt(place), { query: oneOf(place, share) })

/** A file that is shared with the user, opened as the only entry of a library. */
export type SharedFile = Records['FileSharedWithMe']

const getSharedFiles = (signal: AbortSignal) => api.get('api/v2.1/shared-files/', undefined, signal)

/** Files shared with the user. Invalidated with the libraries, which are shared in the same way. */
export function useSharedFiles() {
  return useQuery({
    queryKey: ['libraries', 'shared-files'],
    queryFn: async ({ signal }) => (await getSharedFiles(signal)).shared_with_me,
  })
}

/** What somebody shares with the user for the first time, or a group they added the user to. */
export interface HeldFrom {
  readonly email: string
  readonly name: string
  readonly avatarUrl: string
  /** Of the shared items, or of the group. */
  readonly names: readonly string[]
  readonly groupId?: number
}

/** What waits for the user to accept it, by giver. Invalidated with the libraries, which it adds to. */
export function useHeldShares() {
  return useQuery({
    queryKey: ['libraries', 'held'],
    async queryFn({ signal }): Promise<readonly HeldFrom[]> {
      const { held_shares, held_groups } = await api.get('api/v2.1/held-shares/', undefined, signal)
      const givers = Map.groupBy(held_shares, ({ from_email }) => from_email)
      return [
        ...Array.from(givers.values(), (shares) => ({
          ...giverOf(shares[0]),
          names: shares.map(({ name }) => name),
        })),
        ...held_groups.map((one) => ({ ...giverOf(one), names: [one.group_name], groupId: one.group_id })),
      ]
    },
  })
}

const giverOf = (one?: { from_email: string; from_name: string; from_avatar_url: string }) => ({
  email: one?.from_email ?? '',
  name: one?.from_name ?? '',
  avatarUrl: one?.from_avatar_url ?? '',
})

const heldKey = ({ email, groupId }: HeldFrom) =>
  groupId === undefined ? { from: email } : { group_id: groupId }

export const acceptHeld = (held: HeldFrom) => api.post('api/v2.1/held-shares/', { form: heldKey(held) })
export const declineHeld = (held: HeldFrom) => api.delete('api/v2.1/held-shares/', { query: heldKey(held) })

/** Everything by which an item can be seen, besides its owner. For those who manage its shares. */
export function useAccessList(libraryId: string, path: string) {
  return useQuery({
    queryKey: ['shares', 'access', libraryId, path],
    queryFn: ({ signal }) => api.get(`api/v2.1/repos/${libraryId}/access-list/` as const, { path }, signal),
  })
}

/** By what one of the user's libraries can be seen, in numbers. */
export type AccessSummary = Omit<Records['AccessSummary'], 'repo_id'>

/** The user's libraries that others can see, wholly or in part, by id. The others are seen by nobody else. */
export function useAccessSummary(enabled: boolean) {
  return useQuery({
    queryKey: ['shares', 'summary'],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, AccessSummary>> => {
      const { libraries } = await api.get('api/v2.1/access-summary/', undefined, signal)
      return new Map(libraries.map((one) => [one.repo_id, one]))
    },
    enabled,
  })
}

/** How an entry of a list is shared. */
export type SharedSign = 'people' | 'link'

const noSigns: ReadonlyMap<string, SharedSign> = new Map()

/** The shared entries of a folder by path, for those who manage shares. */
export function useSharedSigns(libraryId: string, path: string, enabled: boolean) {
  const { data } = useQuery({
    queryKey: ['shares', 'entries', libraryId, path],
    async queryFn({ signal }) {
      const url = `api/v2.1/repos/${libraryId}/shared-entries/` as const
      const found = await api.get(url, { path }, signal)
      return new Map<string, SharedSign>([
        ...found.linked.map((one) => [one, 'link'] as const),
        ...found.shared.map((one) => [one, 'people'] as const),
      ])
    },
    enabled,
  })
  return data ?? noSigns
}

/** A library that the user shares, or with `path` a folder or file of it. */
export interface SharedOut {
  readonly repo_id: string
  readonly repo_name: string
  readonly share_type: 'personal' | 'group' | 'public'
  readonly share_permission: 'r' | 'rw'
  readonly is_admin: boolean
  readonly encrypted?: boolean
  readonly path?: string
  readonly folder_name?: string
  readonly file_name?: string
  readonly user_name?: string
  readonly user_email?: string
  readonly group_id?: number
  readonly group_name?: string
  /** ISO; absent if it never expires. */
  readonly expire_date?: string
  readonly is_expired?: boolean
}

export function useSharedOut(enabled = true) {
  return useQuery({
    enabled,
    queryKey: ['shares', 'out'],
    async queryFn({ signal }): Promise<readonly SharedOut[]> {
      const [libraries, folders, files] = await Promise.all([
        api.get('api/v2.1/shared-repos/', undefined, signal),
        api.get('api/v2.1/shared-folders/', undefined, signal),
        getSharedFiles(signal),
      ])
      return [...libraries, ...folders, ...files.shared_by_me]
    },
  })
}

/** Deletes one of the user's shares. */
export function endSharedOut(share: SharedOut) {
  if (share.share_type === 'public') return unpublish(share.repo_id)
  const query = {
    p: share.path ?? '/',
    share_type: share.share_type === 'group' ? 'group' : 'user',
    username: share.user_email,
    group_id: share.group_id,
  }
  const place = { libraryId: share.repo_id, path: query.p, isFile: share.file_name !== undefined }
  return api.delete(itemsAt(place), { query })
}

/** Shares a library with everyone on the server, or changes the permission. */
export const publish = (libraryId: string, permission: SharePermission) =>
  api.put(`api/v2.1/shared-repos/${libraryId}/`, { form: { share_type: 'public', permission } })

export const unpublish = (libraryId: string) =>
  api.delete(`api/v2.1/shared-repos/${libraryId}/`, { query: { share_type: 'public' } })

/** Searches people by a part of their name or address. Empty for an empty text. */
export function useFoundPeople(words: string) {
  return useQuery({
    queryKey: ['people', words],
    queryFn: async ({ signal }) => {
      const { users } = await api.get('api2/search-user/', { q: words }, signal)
      return users
    },
    enabled: words !== '',
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  })
}
