import { useQuery } from '@tanstack/react-query'
import { api } from './http.ts'

export type LinkKind = 'share' | 'upload'

export interface LinkRights {
  readonly can_edit: boolean
  readonly can_download: boolean
  readonly can_upload: boolean
}

/** What an upload link asks of its visitors. */
export interface FileRequest {
  /** Empty: the name of the folder. */
  readonly heading: string
  readonly name: 'no' | 'optional' | 'required'
  readonly message: boolean
  readonly files: readonly string[]
  /** ISO; empty for none. */
  readonly deadline: string
  /** Whether the files of each visitor go into a folder with their name. */
  readonly folder_by_name: boolean
}

/** A share link or an upload link of the user. */
export interface LinkItem {
  readonly token: string
  readonly link: string
  readonly repo_id: string
  readonly repo_name: string
  /** A folder has a trailing slash. */
  readonly path: string
  readonly obj_name: string
  readonly username: string
  readonly view_cnt: number
  /** ISO; empty if it never expires. */
  readonly expire_date: string
  readonly ctime: string
  readonly is_expired: boolean
  readonly password: string
  readonly description: string
  /** Whether the target still exists. */
  readonly is_valid: boolean
  readonly is_active: boolean
  /** Only of upload links. Null: it asks nothing. */
  readonly request?: FileRequest | null
  /** Only of share links. */
  readonly is_dir?: boolean
  readonly permissions?: LinkRights
  /** Permission of the user on the target; empty for none. */
  readonly repo_folder_permission?: string
}

export interface LinkPlace {
  readonly libraryId: string
  readonly path: string
}

/** Options of a new link; `expires` is an ISO time. */
interface LinkOptions {
  readonly password?: string | undefined
  readonly expires?: string | undefined
  readonly description?: string
  readonly permissions?: LinkRights
  /** Only of upload links. */
  readonly request?: FileRequest | undefined
}

const MOST = 1000
const root = (kind: LinkKind) => `api/v2.1/${kind}-links/` as const

/** The user's links, all or of one target. */
export function useLinks(kind: LinkKind, place?: LinkPlace) {
  return useQuery({
    queryKey: ['links', kind, place?.libraryId ?? '', place?.path ?? ''],
    async queryFn({ signal }): Promise<readonly LinkItem[]> {
      const query = place && { repo_id: place.libraryId, path: place.path }
      if (kind === 'upload') return api.get(root(kind), query, signal)
      return allPages((page) => api.get(root(kind), { ...query, page, per_page: MOST }, signal))
    },
  })
}

async function allPages(fetchPage: (page: number) => Promise<readonly LinkItem[]>): Promise<LinkItem[]> {
  const all: LinkItem[] = []
  for (let page = 1; ; page += 1) {
    const found = await fetchPage(page)
    all.push(...found)
    if (found.length < MOST) return all
  }
}

export function createLink(kind: LinkKind, place: LinkPlace, options: LinkOptions): Promise<LinkItem> {
  const json = {
    repo_id: place.libraryId,
    path: place.path,
    ...(options.password && { password: options.password }),
    ...(options.expires && { expiration_time: options.expires }),
    description: options.description ?? '',
    ...(kind === 'share' && options.permissions && { permissions: options.permissions }),
    ...(kind === 'upload' && options.request && { request: options.request }),
  }
  return api.post(kind === 'share' ? 'api/v2.1/multi-share-links/' : root(kind), { json })
}

/** Changes of a link; an empty `expires` removes the expiry. */
interface LinkChanges {
  /** Empty for none. */
  readonly password?: string
  readonly expires?: string
  readonly permissions?: LinkRights
  readonly description?: string
  readonly active?: boolean
  /** Only of upload links. Null asks nothing any more. */
  readonly request?: FileRequest | null
}

export function changeLink(kind: LinkKind, token: string, changes: LinkChanges): Promise<LinkItem> {
  const json = {
    ...(changes.expires !== undefined && { expiration_time: changes.expires }),
    ...(kind === 'share' && changes.permissions && { permissions: changes.permissions }),
    ...(changes.description !== undefined && { description: changes.description }),
    ...(changes.password !== undefined && { password: changes.password }),
    ...(changes.request !== undefined && { request: changes.request ?? '' }),
    ...(changes.active !== undefined && { is_active: changes.active }),
  }
  return api.put(`${root(kind)}${token}/`, { json })
}

const ofLibrary = (kind: LinkKind, libraryId: string) => `api/v2.1/repos/${libraryId}/${kind}-links/` as const

/** All links into a library, for those who manage its shares. */
export function useLibraryLinks(kind: LinkKind, libraryId: string) {
  return useQuery({
    queryKey: ['links', kind, libraryId, 'everybody'],
    queryFn: ({ signal }): Promise<readonly LinkItem[]> =>
      api.get(ofLibrary(kind, libraryId), undefined, signal),
  })
}

export const deleteLibraryLink = (kind: LinkKind, libraryId: string, token: string) =>
  api.delete(`${ofLibrary(kind, libraryId)}${token}/`)

export const deleteLink = (kind: LinkKind, token: string) => api.delete(`${root(kind)}${token}/`)

/** Deletes the user's links whose target is gone. */
export const cleanLinks = (kind: LinkKind) => api.delete(`${root(kind)}clean-invalid/`)
