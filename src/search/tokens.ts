const LONGEST_TOKEN = 64

// Scripts written without spaces between words.
const unspaced =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}\\u30fc'
const run = new RegExp(`([${unspaced}]+)|([[\\p{L}\\p{N}\\p{M}]--[${unspaced}]]+)`, 'gv')

/** A stretch of text that is searched as one: a word, or a row of characters of a script without spaces. */
export interface Run {
  readonly text: string
  readonly isUnspaced: boolean
  /** Where it begins. */
  readonly at: number
}

export function* runsOf(text: string): Generator<Run> {
  for (const match of text.matchAll(run)) {
    yield { text: match[0], isUnspaced: match[1] !== undefined, at: match.index }
  }
}

/**
 * The tokens of folded text, in order: words, and for scripts without spaces each pair of neighbours, the last
 * character by itself.
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

/** The pairs of neighbouring characters; none of a single one. */
export function pairsOf(text: string): string[] {
  const characters = Array.from(text)
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`)
}

/** Words so long are nobody's words; their start finds them. */
export function shortened(word: string): string {
  return word.length <= LONGEST_TOKEN ? word : word.slice(0, LONGEST_TOKEN).toWellFormed()
}

function lastOf(text: string): string {
  return Array.from(text).at(-1) ?? ''
}

// Characters of the private use area: no name is expected to have them, and one that does is found by too much,
// never by too little.
const START = '\ue0f0'
const END = '\ue0f1'
const BLANK = 0xe000
const ownMark = /[\ue000-\ue0ff]/

// Both engines take ASCII other than letters and digits for gaps between tokens.
const gap = /[\x00-\x2f\x3a-\x60\x7b-\x7f]/g
const escaped = (folded: string) =>
  Array.from(folded.replace(gap, (mark) => String.fromCharCode(BLANK + mark.charCodeAt(0))))

// Of three, every one is in too many names.
const CHARACTERS_A_GRAM = 4

/**
 * The tokens of a name: every four neighbouring characters, from each character on, with a mark for where the name
 * begins and ends. Any part of a name is then a run of neighbouring tokens, and one to three characters begin a token.
 */
export function gramsOf(foldedName: string): string[] {
  const characters = [START, ...escaped(foldedName), END]
  return characters.map((_, index) => gramAt(characters, index))
}

function gramAt(characters: readonly string[], index: number): string {
  return characters.slice(index, index + CHARACTERS_A_GRAM).join('')
}

/** The characters of a name, each once, as its tokens have them. */
export function lettersOf(foldedName: string): Set<string> {
  return new Set(escaped(foldedName))
}

/** The one character a text is, as tokens have it; undefined if it is more, or could be taken for a mark of ours. */
export function letterOf(folded: string): string | undefined {
  const [letter, ...more] = escaped(folded)
  return letter === undefined || more.length > 0 || ownMark.test(folded) ? undefined : letter
}

/** What finds the names that hold a text; `starts` and `ends`: only at their beginning or end. */
export function partOfName(folded: string, { starts = false, ends = false } = {}): Phrase {
  const characters = [...(starts ? [START] : []), ...escaped(folded), ...(ends ? [END] : [])]
  if (characters.length < CHARACTERS_A_GRAM) return { tokens: [characters.join('')], prefix: true }
  const tokens = characters.slice(CHARACTERS_A_GRAM - 1).map((_, index) => gramAt(characters, index))
  return { tokens, prefix: false }
}

/** Neighbouring tokens; the last may go on if `prefix`. */
export interface Phrase {
  readonly tokens: readonly string[]
  readonly prefix: boolean
}
