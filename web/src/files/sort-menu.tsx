import { ArrowDownUp } from 'lucide-react'
import { useTexts } from '../texts/index.ts'
import { IconButton, Menu } from '../ui/index.ts'
import { visitedLink } from '../visited-link.ts'
import type { Preferences } from './preferences.ts'
import type { SortKey } from './sorting.ts'

/** The order of a list that has no column headers. */
export function SortMenu(props: {
  preferences: Preferences
  prefer: (changes: Partial<Preferences>) => void
}) {
  const { sorting } = props.preferences
  const texts = useTexts('files')
  const common = useTexts('common')
  const labels: Readonly<Record<SortKey, string>> = {
    name: common.name,
    size: common.size,
    mtime: common.modified,
    modifier: texts.modifier,
  }
  // Visitors are not told who modified a file.
  const keys = (Object.entries(labels) as [SortKey, string][]).filter(
    ([key]) => key !== 'modifier' || visitedLink === undefined,
  )
  const turns = [
    [false, texts.ascending],
    [true, texts.descending],
  ] as const
  return (
    <Menu
      title={texts.sortBy}
      trigger={<IconButton label={texts.sortBy} icon={ArrowDownUp} />}
      entries={[
        ...keys.map(([key, label]) => ({
          label,
          checked: sorting.key === key,
          onSelect: () => props.prefer({ sorting: { ...sorting, key } }),
        })),
        'line',
        ...turns.map(([descending, label]) => ({
          label,
          checked: sorting.descending === descending,
          onSelect: () => props.prefer({ sorting: { ...sorting, descending } }),
        })),
      ]}
    />
  )
}
