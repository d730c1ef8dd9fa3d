const MAX_TOKEN = 64

// Scripts written without spaces between words.
const unspaced =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}\\u30fc'
const run = new RegExp(`([${unspaced}]+)|([[\\p{L}\\p{N}\\p{M}]--[${unspaced}]]+)`, 'gv')

/** A unit of text: a word, or a run of characters of a script without spaces. */
export interface Run {
  readonly text: string
  readonly isUnspaced: boolean
  /** Start offset. */
  readonly at: number
}

export function* runsOf(text: string): Generator<Run> {
  for (const match of text.matchAll(run)) {
    yield { text: match[0], isUnspaced: match[1] !== undefined, at: match.index }
  }
}

/**
 * The tokens of folded text, in order: words, and bigrams for scripts without spaces, with the last
 * character on its own.
 */
export function* tokensIn(folded: string): Generator<string> {
  for (const { text, isUnspaced } of runsOf(folded)) {
    if (!isUnspaced) yield shortened(text)
    else {
      yield* pairsOf(text)
      yield lastOf(text)
    }
  }
}

/** The bigrams of a text; none for a single character. */
export function pairsOf(text: string): string[] {
  const characters = Array.from(text)
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`)
}

/** Longer words are cut; their prefix finds them. */
export function shortened(word: string): string {
  return word.length <= MAX_TOKEN ? word : word.slice(0, MAX_TOKEN).toWellFormed()
}

function lastOf(text: string): string {
  return Array.from(text).at(-1) ?? ''
}

// Private use characters as markers. A name that contains them matches too many queries,
// never too few.
export const START = '\ue0f0'
export const END = '\ue0f1'
const BLANK = 0xe000

// Both engines treat ASCII other than letters and digits as separators.
const gap = /[\x00-\x2f\x3a-\x60\x7b-\x7f]/g
const blankOf = (mark: string) => String.fromCharCode(BLANK + mark.charCodeAt(0))
const escaped = (folded: string) => Array.from(folded.replace(gap, blankOf))

/** The characters of names that have no place in a token, but NUL, which PostgreSQL does not store; and what stands for each. */
export function escapedMarks(): readonly (readonly [mark: string, blank: string])[] {
  const ascii = Array.from({ length: 127 }, (_, index) => String.fromCharCode(index + 1))
  return ascii.filter((character) => escaped(character)[0] !== character).map((mark) => [mark, blankOf(mark)])
}

// Trigrams occur in too many names.
export const CHARACTERS_PER_GRAM = 4

/**
 * The 4-grams of a name, one starting at each character, with markers for the start and the end of the name.
 * Any part of a name is a run of adjacent tokens, and one to three characters are the prefix of a token.
 */
export function gramsOf(foldedName: string): string[] {
  const characters = [START, ...escaped(foldedName), END]
  return characters.map((_, index) => gramAt(characters, index))
}

function gramAt(characters: readonly string[], index: number): string {
  return characters.slice(index, index + CHARACTERS_PER_GRAM).join('')
}

/** The expression that finds names containing a text; `starts` and `ends` anchor it. */
export function partOfName(folded: string, { starts = false, ends = false } = {}): Phrase {
  const characters = [...(starts ? [START] : []), ...escaped(folded), ...(ends ? [END] : [])]
  const text = `${starts ? START : ''}${folded}${ends ? END : ''}`
  if (characters.length < CHARACTERS_PER_GRAM) return { tokens: [characters.join('')], prefix: true, text }
  const tokens = characters.slice(CHARACTERS_PER_GRAM - 1).map((_, index) => gramAt(characters, index))
  return { tokens, prefix: false, text }
}

/** Adjacent tokens; the last is a prefix if `prefix`. */
export interface Phrase {
  readonly tokens: readonly string[]
  readonly prefix: boolean
  /** Of a part of a name: the part, with the markers of the start and the end. */
  readonly text?: string
}
