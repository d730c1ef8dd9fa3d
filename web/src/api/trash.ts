import { useInfiniteQuery } from '@tanstack/react-query'
import type { Records } from '../../../sdk/src/index.ts'
import { api } from './http.ts'

const ITEMS_PER_PAGE = 100

/** A deleted entry, with the last commit that contained it. */
export type TrashItem = Omit<Records['TrashItem'], 'scan_stat'>

/** What one person deleted at once, with the first entries. */
export type TrashAction = Records['TrashActions']['actions'][number]

/** The part of a trash that is listed: below a folder, with a part of the name. */
export interface TrashPart {
  readonly libraryId: string
  readonly folder: string
  readonly words: string
}

export const trashPath = ({ parent_dir, obj_name }: TrashItem) => `${parent_dir}${obj_name}`

const withWords = (words: string) => words !== '' && { q: words }

/** What was deleted at once in a library, latest first. */
export function useTrashActions({ libraryId, folder, words }: TrashPart) {
  return useInfiniteQuery({
    queryKey: ['trash', libraryId, 'actions', folder, words],
    queryFn: ({ pageParam, signal }) => {
      const query = { path: folder, before: pageParam, ...withWords(words) }
      return api.get(`api/v2.1/repos/${libraryId}/trash2/actions/`, query, signal)
    },
    initialPageParam: 0,
    getNextPageParam: ({ next }) => next ?? undefined,
  })
}

/** What was deleted at once in all libraries the user can open, latest first. */
export function useMergedTrashActions(words: string) {
  return useInfiniteQuery({
    queryKey: ['trash', 'all', words],
    queryFn: ({ pageParam, signal }) =>
      api.get('api/v2.1/trash/actions/', { cursor: pageParam, ...withWords(words) }, signal),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  })
}

/** All entries of an action. */
export function useTrashOfAction({ libraryId, folder, words }: TrashPart, action: string) {
  return useInfiniteQuery({
    queryKey: ['trash', libraryId, 'items', action, folder, words],
    queryFn: ({ pageParam: page, signal }) => {
      const query = { path: folder, action, page, per_page: ITEMS_PER_PAGE, ...withWords(words) }
      const at = `api/v2.1/repos/${libraryId}/trash2/${words === '' ? '' : 'search/'}` as const
      return api.get(at, query, signal)
    },
    initialPageParam: 1,
    getNextPageParam: ({ total_count: total }, _pages, page) =>
      page * ITEMS_PER_PAGE < total ? page + 1 : undefined,
  })
}

/** Which entries of an action are restored: some, or all with exceptions. */
export type RestoredPart = { readonly only: readonly string[] } | { readonly except: readonly string[] }

export type Restored = Pick<Records['RestoredAction'], 'success' | 'failed'>

/** Restores entries of an action. One call restores a limited number of them. */
export async function restoreAction(
  { libraryId, folder, words }: TrashPart,
  action: string,
  part: RestoredPart,
): Promise<Restored> {
  const json = { action, path: folder, ...withWords(words), ...part }
  const success: Restored['success'][number][] = []
  for (;;) {
    const done = await api.post(`api/v2.1/repos/${libraryId}/trash2/actions/revert/`, { json })
    success.push(...done.success)
    // What failed stays, and would be tried by each further call.
    if (done.left === 0 || done.success.length === 0) return { success, failed: done.failed }
  }
}

export function emptyTrash(libraryId: string, keepDays: number): Promise<unknown> {
  return api.delete(`api/v2.1/repos/${libraryId}/trash/`, { form: { keep_days: keepDays } })
}
