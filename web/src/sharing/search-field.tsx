import { Search } from 'lucide-react'

/** Narrows down what is listed below it. */
export function SearchField(props: { label: string; value: string; onChange: (words: string) => void }) {
  return (
    <div className="sharing-search">
      <Search size={17} aria-hidden />
      <input
        type="search"
        className="input"
        aria-label={props.label}
        placeholder={props.label}
        value={props.value}
        onChange={(event) => props.onChange(event.target.value)}
      />
    </div>
  )
}
