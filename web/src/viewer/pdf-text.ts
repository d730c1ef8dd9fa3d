/** A piece of text of a page, as the library extracts it. */
interface TextItem {
  readonly str: string
  /** Whether a line ends after it. */
  readonly hasEOL: boolean
}

/** The text of a page in a form to search in. */
export interface PageText {
  /** Folded text: without case, diacritics, ligatures and widths, with single spaces. */
  readonly folded: string
  /** For each character of the folded text, its offset in the original. */
  readonly origins: Uint32Array
  /** The offset of each item in the original text. */
  readonly starts: readonly number[]
}

/** A position in the text of a page: an item and an offset in it. */
interface TextPosition {
  readonly item: number
  readonly offset: number
}

/** One occurrence of the search term. */
export interface PdfMatch {
  readonly page: number
  readonly from: TextPosition
  readonly to: TextPosition
}

/** Folds a search term like the text of the pages. */
export const foldTerm = (term: string) => fold(term).folded.trim()

/** The text of the items of a page. What is no text, such as marked content, has no `str`. */
export function pageTextOf(items: readonly (TextItem | { readonly str?: undefined })[]): PageText {
  const starts: number[] = []
  const pieces: string[] = []
  let length = 0
  for (const item of items) {
    if (item.str === undefined) continue
    starts.push(length)
    const piece = item.hasEOL ? `${item.str}\n` : item.str
    pieces.push(piece)
    length += piece.length
  }
  return { ...fold(pieces.join('')), starts }
}

/** The occurrences of a folded term on a page, which do not overlap. */
export function matchesOn(page: number, text: PageText, term: string): PdfMatch[] {
  const matches: PdfMatch[] = []
  if (term === '') return matches
  const { folded, origins } = text
  for (let at = folded.indexOf(term); at >= 0; at = folded.indexOf(term, at + term.length)) {
    const first = origins[at] ?? 0
    const last = origins[at + term.length - 1] ?? first
    matches.push({
      page,
      from: positionOf(text, first),
      to: positionOf(text, last, 1),
    })
  }
  return matches
}

function positionOf({ starts }: PageText, origin: number, beyond = 0): TextPosition {
  // The last item that starts at or before the origin.
  let [low, high] = [0, starts.length - 1]
  while (low < high) {
    const half = Math.ceil((low + high) / 2)
    if ((starts[half] ?? 0) <= origin) low = half
    else high = half - 1
  }
  return { item: low, offset: origin - (starts[low] ?? 0) + beyond }
}

const MARKS = /\p{M}/gu
const SPACE = /\s/

function fold(text: string): { folded: string; origins: Uint32Array } {
  const pieces: string[] = []
  const origins: number[] = []
  let origin = 0
  let isAfterSpace = true
  for (const char of text) {
    const isSpace = SPACE.test(char)
    const piece = isSpace
      ? isAfterSpace
        ? ''
        : ' '
      : char.normalize('NFKD').replace(MARKS, '').toLowerCase()
    pieces.push(piece)
    for (let unit = 0; unit < piece.length; unit += 1) origins.push(origin)
    origin += char.length
    isAfterSpace = isSpace
  }
  return { folded: pieces.join(''), origins: Uint32Array.from(origins) }
}
