import { fold } from './fold.ts'
import { type Phrase, pairsOf, runsOf, shortened } from './tokens.ts'

// More than anybody types; what is beyond is not looked at.
const MOST_TERMS = 64
const MOST_TOKENS = 64
// Shorter starts of words are the starts of so many that they narrow nothing down. Names are found by less.
const SHORTEST_PREFIX = 3

/** A word, or words in quotes. */
export interface Term {
  /** As a name must hold it. */
  readonly folded: string
  /** As a text must hold it: all of these. None if there is nothing in it but marks. */
  readonly phrases: readonly Phrase[]
}

/** What somebody looks for. */
export interface Query {
  /** All of it, as a name may hold it. */
  readonly whole: string
  readonly terms: readonly Term[]
  /** Words with a minus before them. */
  readonly excluded: readonly Term[]
  /** Whether there is nothing in it but words: what holds all of it holds each of them. */
  readonly isPlain: boolean
}

const piece = /(-)?"([^"]*)(?:"|$)|(\S+)/g

const exclusion = /^-[^-]*[\p{L}\p{N}]/u

/** Reads any text at all: what means nothing here is text to be found. */
export function parseQuery(text: string): Query {
  const terms = new Map<string, Term>()
  const excluded = new Map<string, Term>()
  const pieces = [...text.matchAll(piece)]
  let isPlain = true
  for (const [index, [all, minus, quoted, word]] of pieces.entries()) {
    if (terms.size + excluded.size === MOST_TERMS) break
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

/** Words next to each other are one phrase; a row of characters without spaces is one by itself. */
function phrasesOf(folded: string, goesOn: boolean): Phrase[] {
  const phrases: Phrase[] = []
  let words: string[] = []
  let left = MOST_TOKENS
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
  endPhrase(goesOn && Array.from(last).length >= SHORTEST_PREFIX && folded.endsWith(last))
  return phrases
}
