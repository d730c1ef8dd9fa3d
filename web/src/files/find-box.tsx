import { Search, X } from 'lucide-react'
import type { RefObject } from 'react'
import { useFormats, useTexts } from '../texts/index.ts'
import { IconButton } from '../ui/index.ts'

export interface Find {
  readonly box: RefObject<HTMLInputElement | null>
  readonly filter: string
  readonly setFilter: (filter: string) => void
  readonly found: number
  readonly all: number
}

/** Filters the list by name. */
export function FindBox({ box, filter, setFilter, found, all }: Find) {
  const texts = useTexts('files')
  const common = useTexts('common')
  const formats = useFormats()
  function clear(): void {
    setFilter('')
    box.current?.focus()
  }
  return (
    <span className="files-find">
      <span className="search-in input-with-button">
        <Search size={17} aria-hidden />
        <input
          ref={box}
          type="search"
          className="input"
          aria-label={texts.find}
          placeholder={texts.find}
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
          onKeyDown={(event) => {
            const { key, currentTarget } = event
            if (key === 'Escape') setFilter('')
            if (key !== 'Escape' && key !== 'ArrowDown' && key !== 'Enter') return
            event.preventDefault()
            currentTarget.closest('.files')?.querySelector<HTMLElement>('[role=grid]')?.focus()
          }}
        />
        {filter !== '' && <IconButton label={common.clear} icon={X} onClick={clear} />}
      </span>
      <span className="files-found muted" role="status">
        {filter.trim() !== '' && texts.found(formats.number(found), formats.number(all))}
      </span>
    </span>
  )
}
