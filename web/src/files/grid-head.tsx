import { ArrowDown, ArrowUp } from 'lucide-react'
import { useTexts } from '../texts/index.ts'
import type { EntryGridProps } from './entry-grid.tsx'
import { all, none } from './selection.ts'
import type { SortKey } from './sorting.ts'

/** Column headers, which sort, and a checkbox that selects all. */
export function GridHead(props: EntryGridProps) {
  const { selection, shown, onSelect } = props
  const texts = useTexts('files')
  const common = useTexts('common')
  const chosen = selection.chosen.size
  const isAll = chosen > 0 && chosen === shown.names.length
  return (
    <div role="row" aria-rowindex={1} className="files-row files-head-row">
      <span role="columnheader" className="files-cell-check">
        <span className="files-check">
          <input
            type="checkbox"
            aria-label={texts.selectAll}
            checked={isAll}
            ref={(box) => {
              if (box !== null) box.indeterminate = chosen > 0 && !isAll
            }}
            onChange={() => onSelect(isAll ? none(selection) : all(selection, shown))}
          />
        </span>
      </span>
      <Column {...props} by="name" label={common.name} />
      <Column {...props} by="size" label={common.size} className="files-cell-size" />
      <Column {...props} by="mtime" label={common.modified} />
      <Column {...props} by="modifier" label={texts.modifier} className="files-cell-modifier" />
      <span role="columnheader" className="files-cell-more">
        <span className="visually-hidden">{common.more}</span>
      </span>
    </div>
  )
}

function Column(props: EntryGridProps & { by: SortKey; label: string; className?: string }) {
  const { by, label, preferences, onSort, className = '' } = props
  const { key, descending } = preferences.sorting
  const isKey = key === by
  const Arrow = descending ? ArrowDown : ArrowUp
  return (
    <span
      role="columnheader"
      aria-sort={isKey ? (descending ? 'descending' : 'ascending') : 'none'}
      className={`files-column ${className}`}
    >
      <button type="button" onClick={() => onSort({ key: by, descending: isKey && !descending })}>
        {label}
        {isKey && <Arrow size={14} aria-hidden />}
      </button>
    </span>
  )
}
