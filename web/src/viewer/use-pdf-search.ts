import type { PDFDocumentProxy } from 'pdfjs-dist'
import { type RefObject, useEffect, useMemo, useRef, useState } from 'react'
import { useDebounced } from '../ui/index.ts'
import { foldTerm, matchesOn, type PageText, type PdfMatch, pageTextOf } from './pdf-text.ts'

/** More matches would slow the page down, and nobody steps through them. */
const MAX_MATCHES = 5000
/** Results are shown after this many pages, because each update renders the view. */
const PAGES_PER_UPDATE = 20

export interface PdfSearch {
  readonly term: string
  readonly setTerm: (term: string) => void
  /** In the order of the document. */
  readonly matches: readonly PdfMatch[]
  readonly onPage: ReadonlyMap<number, readonly PdfMatch[]>
  readonly active: PdfMatch | undefined
  /** Whether pages remain to be read. */
  readonly isSearching: boolean
  /** Whether there are more matches than are listed. */
  readonly isCut: boolean
  /** Goes to the next match, or with -1 to the previous one. */
  readonly step: (by: 1 | -1) => void
}

interface Result {
  readonly matches: readonly PdfMatch[]
  readonly isSearching: boolean
  readonly isCut: boolean
}

const NOTHING: Result = { matches: [], isSearching: false, isCut: false }

/**
 * Searches a document one page at a time, beginning with the current page, so that the first match is found soon. Each page is read
 * once, whatever is searched for later.
 */
export function usePdfSearch(pdf: PDFDocumentProxy, current: RefObject<number>): PdfSearch {
  const [term, setTerm] = useState('')
  const folded = useDebounced(foldTerm(term))
  const [result, setResult] = useState(NOTHING)
  const [active, setActive] = useState<PdfMatch>()
  const read = useRef(new Map<number, Promise<PageText>>())
  useEffect(() => {
    setActive(undefined)
    setResult(folded === '' ? NOTHING : { ...NOTHING, isSearching: true })
    if (folded === '') return
    const stopping = new AbortController()
    const { signal } = stopping
    const onResult = (next: Result) => {
      if (signal.aborted) return
      setResult(next)
      setActive((known) => known ?? firstFrom(next.matches, current.current))
    }
    const readPage = (number: number) => {
      const known = read.current.get(number)
      if (known !== undefined) return known
      const text = readText(pdf, number)
      read.current.set(number, text)
      return text
    }
    void search(pdf.numPages, { folded, from: current.current, readPage, onResult, signal })
    return () => stopping.abort()
  }, [pdf, folded, current])
  const { matches } = result
  const onPage = useMemo(() => Map.groupBy(matches, ({ page }) => page), [matches])
  const step = (by: 1 | -1) => {
    const { length } = matches
    const at = active === undefined ? -1 : matches.indexOf(active)
    if (length > 0) setActive(matches[(at + by + length) % length])
  }
  return { term, setTerm, ...result, onPage, active, step }
}

async function readText(pdf: PDFDocumentProxy, number: number): Promise<PageText> {
  const page = await pdf.getPage(number)
  const { items } = await page.getTextContent()
  return pageTextOf(items.map((item) => ('str' in item ? item : {})))
}

async function search(
  pages: number,
  how: {
    readonly folded: string
    readonly from: number
    readonly readPage: (number: number) => Promise<PageText>
    readonly onResult: (result: Result) => void
    readonly signal: AbortSignal
  },
): Promise<void> {
  const { folded, from, readPage, onResult, signal } = how
  const before: PdfMatch[] = []
  const after: PdfMatch[] = []
  const isFull = () => before.length + after.length >= MAX_MATCHES
  for (let step = 0; step < pages && !isFull(); step += 1) {
    const number = ((from - 1 + step) % pages) + 1
    // A page that cannot be read has no matches.
    const text = await readPage(number).catch(() => undefined)
    if (signal.aborted) return
    const found = text === undefined ? [] : matchesOn(number, text, folded)
    const side = number >= from ? after : before
    side.push(...found)
    const isFirst = found.length > 0 && before.length + after.length === found.length
    if (isFirst || step % PAGES_PER_UPDATE === PAGES_PER_UPDATE - 1) {
      onResult({ matches: [...before, ...after], isSearching: true, isCut: false })
    }
  }
  onResult({ matches: [...before, ...after], isSearching: false, isCut: isFull() })
}

function firstFrom(matches: readonly PdfMatch[], page: number): PdfMatch | undefined {
  return matches.find((match) => match.page >= page) ?? matches[0]
}
