import { Search, X } from 'lucide-react'
import { useTexts } from '../texts/texts.tsx'
import { IconButton } from '../ui/button.tsx'

export function FilterBox(props: { value: string; onChange: (value: string) => void }) {
  const texts = useTexts('libraries')
  return (
    <div className="libraries-filter input-with-button">
      <Search size={17} aria-hidden />
      <input
        className="input"
        type="text"
        aria-label={texts.filter}
        placeholder={texts.filter}
        value={props.value}
        onChange={(event) => props.onChange(event.target.value)}
        onKeyDown={(event) => event.key === 'Escape' && props.onChange('')}
      />
      {props.value !== '' && (
        <IconButton label={texts.clearFilter} icon={X} onClick={() => props.onChange('')} />
      )}
    </div>
  )
}
