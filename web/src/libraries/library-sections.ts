import type { LibraryItem } from '../api/index.ts'
import type { LibraryTab } from './library-tabs.ts'

interface Section {
  readonly key: number
  readonly title: string | undefined
  readonly libraries: readonly LibraryItem[]
}

/** One section, or one per group in the tab of groups. */
export function sectionsOf(tab: LibraryTab, libraries: readonly LibraryItem[]): readonly Section[] {
  if (libraries.length === 0) return []
  if (tab !== 'group') return [{ key: 0, title: undefined, libraries }]
  const groups = Map.groupBy(libraries, ({ group_id }) => group_id ?? 0)
  return [...groups]
    .map(([key, libraries]) => ({ key, title: libraries[0]?.group_name ?? '', libraries }))
    .toSorted((a, b) => a.title.localeCompare(b.title))
}

/** The libraries whose name contains a text, in any case and Unicode form. */
export function matching(libraries: readonly LibraryItem[], part: string): readonly LibraryItem[] {
  const wanted = part.normalize().trim().toLowerCase()
  if (wanted === '') return libraries
  return libraries.filter(({ repo_name }) => repo_name.normalize().toLowerCase().includes(wanted))
}
