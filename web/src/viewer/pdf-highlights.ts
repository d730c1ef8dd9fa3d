import type { PdfMatch } from './pdf-text.ts'

const MATCH = 'pdf-match'
const ACTIVE_MATCH = 'pdf-match-active'

/**
 * Highlights matches in the text layer of a page. `elements` are those of the text items. Returns a function that undoes it. Browsers
 * without the highlight API go to the matches without marking them.
 */
export function highlightMatches(
  elements: readonly HTMLElement[],
  matches: readonly PdfMatch[],
  active: PdfMatch | undefined,
): () => void {
  if (!('highlights' in CSS)) return () => undefined
  const added = matches.flatMap((match) => {
    const range = rangeOf(elements, match)
    if (range === undefined) return []
    const highlight = highlightOf(match === active ? ACTIVE_MATCH : MATCH)
    highlight.add(range)
    return [{ highlight, range }]
  })
  return () => {
    for (const { highlight, range } of added) highlight.delete(range)
  }
}

function highlightOf(name: string): Highlight {
  const known = CSS.highlights.get(name)
  if (known !== undefined) return known
  const highlight = new Highlight()
  // Where both mark the same text, the active one shows.
  highlight.priority = name === ACTIVE_MATCH ? 1 : 0
  CSS.highlights.set(name, highlight)
  return highlight
}

function rangeOf(elements: readonly HTMLElement[], { from, to }: PdfMatch): Range | undefined {
  const [start, end] = [from, to].map(({ item }) => elements[item]?.firstChild)
  if (!(start instanceof Text) || !(end instanceof Text)) return undefined
  const range = document.createRange()
  range.setStart(start, Math.min(from.offset, start.length))
  range.setEnd(end, Math.min(to.offset, end.length))
  return range
}
