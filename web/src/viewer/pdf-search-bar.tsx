import { ChevronDown, ChevronUp, X } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { useTexts } from '../texts/index.ts'
import { IconButton } from '../ui/index.ts'
import type { PdfSearch } from './use-pdf-search.ts'

/** The search field of a document. Enter goes to the next match, Shift+Enter to the previous one, Escape closes the field. */
export function PdfSearchBar(props: { search: PdfSearch; onClose: () => void }) {
  const { search, onClose } = props
  const texts = useTexts('viewer')
  const common = useTexts('common')
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.select(), [])
  const { matches, active } = search
  return (
    <search className="viewer-tools pdf-search">
      <input
        ref={field}
        type="search"
        className="input"
        aria-label={texts.pdfSearch}
        placeholder={texts.pdfSearch}
        value={search.term}
        onChange={(event) => search.setTerm(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' && event.key !== 'Escape') return
          event.preventDefault()
          if (event.key === 'Escape') onClose()
          else search.step(event.shiftKey ? -1 : 1)
        }}
      />
      <span className="pdf-search-count muted" role="status">
        {countOf(search, texts)}
      </span>
      <IconButton
        label={texts.pdfPreviousMatch}
        icon={ChevronUp}
        disabled={matches.length === 0}
        onClick={() => search.step(-1)}
      />
      <IconButton
        label={texts.pdfNextMatch}
        icon={ChevronDown}
        disabled={active === undefined}
        onClick={() => search.step(1)}
      />
      <span className="viewer-tools-gap" />
      <IconButton label={common.close} icon={X} onClick={onClose} />
    </search>
  )
}

function countOf(search: PdfSearch, texts: ReturnType<typeof useTexts<'viewer'>>): string {
  const { term, matches, active, isSearching, isCut } = search
  if (term.trim() === '') return ''
  if (matches.length === 0) return isSearching ? texts.pdfSearching : texts.pdfNotFound
  const position = active === undefined ? 0 : matches.indexOf(active) + 1
  return isSearching || isCut
    ? texts.pdfMatchOfMore(position, matches.length)
    : texts.position(position, matches.length)
}
