import { fold } from './fold.ts'
import { type Phrase, pairsOf, runsOf, shortened } from './tokens.ts'

// Longer queries are cut.
const MAX_TERMS = 64
const MAX_TOKENS = 64
// Minimum length of a word prefix in texts: shorter ones match too many words. Names match by less.
const MIN_PREFIX = 3

/** A word or a quoted phrase. */
export interface Term {
  /** The text that a name must contain. */
  readonly folded: string
  /** The phrases that a text must all contain. Empty if the term has only punctuation. */
  readonly phrases: readonly Phrase[]
}

/** A parsed search query. */
export interface Query {
  /** The whole query, as a name may contain it. */
  readonly whole: string
  readonly terms: readonly Term[]
  /** Terms with a leading minus. */
  readonly excluded: readonly Term[]
  /** Whether the query has only words: a name that contains the whole query contains each of them. */
  readonly isPlain: boolean
}

const piece = /(-)?"([^"]*)(?:"|$)|(\S+)/g

const exclusion = /^-[^-]*[\p{L}\p{N}]/u

/** Accepts any text: unknown syntax is searched literally. */
export function parseQuery(text: string): Query {
  const terms = new Map<string, Term>()
  const excluded = new Map<string, Term>()
  const pieces = [...text.matchAll(piece)]
  let isPlain = true
  for (const [index, [all, minus, quoted, word]] of pieces.entries()) {
    if (terms.size + excluded.size === MAX_TERMS) break
    const isLast = index === pieces.length - 1 && /\S$/.test(text)
    if (quoted !== undefined || (word !== undefined && exclusion.test(word))) isPlain = false
    if (quoted !== undefined && /\S/.test(quoted)) put(minus ? excluded : terms, quoted, false)
    else if (word !== undefined && exclusion.test(word)) put(excluded, word.slice(1), false)
    else put(terms, all, isLast && word !== undefined)
  }
  return { whole: fold(text.trim()), terms: [...terms.values()], excluded: [...excluded.values()], isPlain }
}

function put(terms: Map<string, Term>, text: string, goesOn: boolean): void {
  const folded = fold(text.trim())
  if (folded !== '') terms.set(folded, { folded, phrases: phrasesOf(folded, goesOn) })
}

/** Adjacent words form one phrase; so does a run of characters of a script without spaces. */
function phrasesOf(folded: string, goesOn: boolean): Phrase[] {
  const phrases: Phrase[] = []
  let words: string[] = []
  let left = MAX_TOKENS
  const endPhrase = (prefix: boolean) => {
    if (words.length > 0) phrases.push({ tokens: words, prefix })
    words = []
  }
  for (const { text, isUnspaced } of runsOf(folded)) {
    if (left <= 0) break
    if (!isUnspaced) {
      words.push(shortened(text))
      left--
      continue
    }
    endPhrase(false)
    const pairs = pairsOf(text).slice(0, left)
    phrases.push(pairs.length === 0 ? { tokens: [text], prefix: true } : { tokens: pairs, prefix: false })
    left -= Math.max(pairs.length, 1)
  }
  const last = words.at(-1) ?? ''
  endPhrase(goesOn && Array.from(last).length >= MIN_PREFIX && folded.endsWith(last))
  return phrases
}
