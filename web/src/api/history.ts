import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { Records } from '../../../sdk/src/index.ts'
import { api } from './http.ts'

const COMMITS_PER_PAGE = 50
const REVISIONS_PER_PAGE = 50

/** A commit in the history of a library. */
export type CommitItem = Records['HistoryEntry']

export function useLibraryHistory(libraryId: string) {
  return useInfiniteQuery({
    queryKey: ['history', libraryId, 'commits'],
    queryFn: ({ pageParam, signal }) =>
      api.get(
        `api/v2.1/repos/${libraryId}/history/`,
        { page: pageParam, per_page: COMMITS_PER_PAGE },
        signal,
      ),
    initialPageParam: 1,
    getNextPageParam: ({ more }, _pages, page) => (more ? page + 1 : undefined),
  })
}

/** One change of a commit; `new_path` for a rename or move. */
export type Change = Records['CommitDetail']['commit_diffs'][number]

/** A commit and its changes. Immutable, so it is cached forever. */
export function useCommit(libraryId: string, commitId: string, enabled = true) {
  return useQuery({
    enabled,
    queryKey: ['commit', libraryId, commitId],
    queryFn: ({ signal }) => api.get(`api/v2.1/repos/${libraryId}/commits/${commitId}/`, undefined, signal),
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** An entry of a folder as of a commit. */
export type PastEntry = Records['FolderOfCommit']['dirent_list'][number]

export function usePastFolder(libraryId: string, commitId: string, path: string) {
  return useQuery({
    queryKey: ['commit-dir', libraryId, commitId, path],
    queryFn: async ({ signal }) => {
      const address = `api/v2.1/repos/${libraryId}/commits/${commitId}/dir/` as const
      const { dirent_list } = await api.get(address, { path }, signal)
      return dirent_list
    },
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** A file as of one commit. */
export type Revision = Records['FileHistoryPage']['data'][number]

export function useFileHistory(libraryId: string, path: string) {
  return useInfiniteQuery({
    queryKey: ['history', libraryId, 'file', path],
    queryFn: ({ pageParam, signal }) =>
      api.get(
        `api/v2.1/repos/${libraryId}/file/new_history/`,
        { path, page: pageParam, per_page: REVISIONS_PER_PAGE },
        signal,
      ),
    initialPageParam: 1,
    getNextPageParam: ({ total_count }, pages, page) =>
      pages.length * REVISIONS_PER_PAGE < total_count ? page + 1 : undefined,
  })
}

/** Target of a restore. */
export type Restorable =
  | { readonly kind: 'file' | 'folder'; readonly path: string }
  | { readonly kind: 'library' }

export function restore(libraryId: string, commitId: string, what: Restorable): Promise<unknown> {
  if (what.kind === 'library') return api.post(`api/v2.1/repos/${libraryId}/commits/${commitId}/revert/`)
  const place = what.kind === 'file' ? 'file' : 'dir'
  const form = { p: what.path, commit_id: commitId }
  return api.put(`api2/repos/${libraryId}/${place}/revert/`, { form })
}

/** Days; negative if everything is kept. Only the owner gets it. */
export function useKeepDays(libraryId: string, isOwner: boolean) {
  return useQuery({
    enabled: isOwner,
    queryKey: ['library', libraryId, 'history-limit'],
    queryFn: async ({ signal }) => {
      const address = `api2/repos/${libraryId}/history-limit/` as const
      return (await api.get(address, undefined, signal)).keep_days
    },
  })
}
