import { Search, X } from 'lucide-react'
import { useRef } from 'react'
import { useTexts } from '../texts/index.ts'
import { IconButton } from './button.tsx'

/** Filters the list below it. */
export function SearchField(props: { label: string; value: string; onChange: (words: string) => void }) {
  const texts = useTexts('common')
  const field = useRef<HTMLInputElement>(null)
  function clear(): void {
    props.onChange('')
    field.current?.focus()
  }
  return (
    <div className="search-in input-with-button">
      <Search size={17} aria-hidden />
      <input
        ref={field}
        type="search"
        className="input"
        aria-label={props.label}
        placeholder={props.label}
        value={props.value}
        onChange={(event) => props.onChange(event.target.value)}
        onKeyDown={(event) => event.key === 'Escape' && props.onChange('')}
      />
      {props.value !== '' && <IconButton label={texts.clear} icon={X} onClick={clear} />}
    </div>
  )
}
