import type { LibraryItem } from '../api/index.ts'

interface Section {
  readonly key: string
  readonly type: LibraryItem['type']
  readonly title: string | undefined
  readonly libraries: readonly LibraryItem[]
}

/** The user's own, then those shared by people, then those of each group by its name, then those of everyone. */
export function sectionsOf(
  libraries: readonly LibraryItem[],
  titles: { readonly people: string; readonly everyone: string },
): readonly Section[] {
  const ofType = (type: LibraryItem['type']) => libraries.filter((library) => library.type === type)
  const groups = [...Map.groupBy(ofType('group'), ({ group_id }) => group_id ?? 0)]
    .map(([id, found]) => ({
      key: `group ${id}`,
      type: 'group' as const,
      title: found[0]?.group_name ?? '',
      libraries: found,
    }))
    .toSorted((a, b) => a.title.localeCompare(b.title))
  const sections: readonly Section[] = [
    { key: 'mine', type: 'mine', title: undefined, libraries: ofType('mine') },
    { key: 'people', type: 'shared', title: titles.people, libraries: ofType('shared') },
    ...groups,
    { key: 'everyone', type: 'public', title: titles.everyone, libraries: ofType('public') },
  ]
  return sections.filter(({ libraries: found }) => found.length > 0)
}

/** The libraries whose name contains a text, in any case and Unicode form. */
export function matching(libraries: readonly LibraryItem[], part: string): readonly LibraryItem[] {
  const wanted = part.normalize().trim().toLowerCase()
  if (wanted === '') return libraries
  return libraries.filter(({ repo_name }) => repo_name.normalize().toLowerCase().includes(wanted))
}
