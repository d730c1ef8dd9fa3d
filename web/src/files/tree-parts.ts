import { useQuery } from '@tanstack/react-query'
import type { KeyboardEvent } from 'react'
import { api, folderIn } from '../api/index.ts'
import { forwardKey } from '../ui/index.ts'
import { byName } from './sorting.ts'

/** The folders in a folder, by name. */
export function useSubfolders(libraryId: string, path: string) {
  return useQuery({
    queryKey: ['dir', libraryId, path, 'folders'],
    queryFn: ({ signal }) => api.get(`api/v2.1/repos/${libraryId}/dir/`, { p: path, t: 'd' }, signal),
    select: (listing) => byName(folderIn(listing).dirent_list),
  })
}

/** Arrow keys, Home and End. Collapsed folders are not rendered, so they are skipped. */
export function moveInTree(event: KeyboardEvent<HTMLElement>): void {
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>('[role=treeitem]')]
  const item = (event.target as Element).closest<HTMLElement>('[role=treeitem]')
  if (item === null) return
  const at = items.indexOf(item)
  const level = (one: Element) => Number(one.getAttribute('aria-level'))
  const around = items.slice(0, at).findLast((one) => level(one) < level(item))
  const next: Readonly<Record<string, HTMLElement | undefined>> = {
    ArrowDown: items[at + 1],
    ArrowUp: items[at - 1],
    ArrowRight: items[at + 1],
    ArrowLeft: around,
    Home: items[0],
    End: items.at(-1),
  }
  const key = forwardKey(event.key)
  if (!Object.hasOwn(next, key)) return
  event.preventDefault()
  next[key]?.focus()
}
