import { useInfiniteQuery } from '@tanstack/react-query'
import type { Records } from '../../../sdk/src/index.ts'
import { api } from './http.ts'

const ITEMS_PER_PAGE = 50

/** A deleted entry, with the last commit that contained it. */
export type TrashItem = Omit<Records['TrashItem'], 'scan_stat'>

/** A deleted entry in the trash of all libraries. */
export type MergedTrashItem = Records['MergedTrash']['items'][number]

interface TrashPage {
  readonly items: readonly TrashItem[]
  readonly next: number | string | undefined
  /** Total number, if the server sends it. */
  readonly total: number | undefined
}

export const trashPath = ({ parent_dir, obj_name }: TrashItem) => `${parent_dir}${obj_name}`

/** Deleted entries below a folder, latest first. The trash of a whole library can be searched by name. */
export function useTrash(libraryId: string, folder: string, words: string) {
  return useInfiniteQuery<TrashPage, Error, { pages: TrashPage[] }, readonly string[], number | string>({
    queryKey: ['trash', libraryId, folder, words],
    queryFn: ({ pageParam, signal }) =>
      folder === '/'
        ? wholePage(libraryId, words, Number(pageParam), signal)
        : folderPage(libraryId, folder, String(pageParam), signal),
    initialPageParam: folder === '/' ? 1 : '',
    getNextPageParam: ({ next }) => next,
  })
}

/** Deleted entries of all libraries the user can open, latest first. */
export function useMergedTrash(words: string) {
  return useInfiniteQuery({
    queryKey: ['trash', 'all', words],
    queryFn: ({ pageParam, signal }) =>
      api.get('api/v2.1/trash/', { cursor: pageParam, ...(words !== '' && { q: words }) }, signal),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  })
}

async function wholePage(
  libraryId: string,
  words: string,
  page: number,
  signal: AbortSignal,
): Promise<TrashPage> {
  const at = `api/v2.1/repos/${libraryId}/trash2/${words === '' ? '' : 'search/'}` as const
  const query = { page, per_page: ITEMS_PER_PAGE, ...(words !== '' && { q: words }) }
  const { items, total_count: total } = await api.get(at, query, signal)
  return { items, total, next: page * ITEMS_PER_PAGE < total ? page + 1 : undefined }
}

async function folderPage(
  libraryId: string,
  folder: string,
  cursor: string,
  signal: AbortSignal,
): Promise<TrashPage> {
  const answer = await api.get(
    `api/v2.1/repos/${libraryId}/trash/`,
    { path: folder, scan_stat: cursor },
    signal,
  )
  return { items: answer.data, total: undefined, next: answer.scan_stat ?? undefined }
}

type Restored = Records['Restored']

export function restoreFromTrash(libraryId: string, items: readonly TrashItem[]): Promise<Restored> {
  const paths: Record<string, string[]> = {}
  for (const item of items) (paths[item.commit_id] ??= []).push(trashPath(item))
  return api.post(`api/v2.1/repos/${libraryId}/trash2/revert/`, { json: paths })
}

export function emptyTrash(libraryId: string, keepDays: number): Promise<unknown> {
  return api.delete(`api/v2.1/repos/${libraryId}/trash/`, { form: { keep_days: keepDays } })
}
