import { TimeSlicer } from '../../base/scheduling/index.ts'
import { fold } from './fold.ts'
import type { Query } from './query.ts'
import { type Phrase, type Run, runsOf, shortened } from './tokens.ts'

// Length of the excerpt in characters, and how many of them precede the first match.
const SHOWN = 200
const BEFORE = 60
// Candidate windows that are scored.
const MAX_WINDOWS = 8

interface Mark {
  readonly start: number
  readonly end: number
  readonly term: number
}

/** One word of a phrase, and the words that must follow it. */
interface PhrasePattern {
  readonly term: number
  readonly tokens: readonly string[]
  readonly prefix: boolean
  readonly isUnspaced: boolean
}

/**
 * The excerpt of a text with the most matches, as HTML: matches in `<b>`, everything else escaped. Empty without a match
 * in the first `most` characters.
 */
export async function highlight(text: string, { terms }: Query, most: number): Promise<string> {
  const patterns = terms.flatMap(({ phrases }, term) => phrases.map((phrase) => patternOf(phrase, term)))
  const windows = await windowsOf(text.length > most ? text.slice(0, most) : text, patterns)
  let best: Mark[] = []
  for (const marks of windows) {
    if (termsIn(marks) > termsIn(best)) best = marks
  }
  const [first] = best
  return first === undefined ? '' : shown(text, first.start, best)
}

/** Groups of matches that fit into one excerpt, in order. */
async function windowsOf(text: string, patterns: readonly PhrasePattern[]): Promise<Mark[][]> {
  const slicer = new TimeSlicer()
  const windows: Mark[][] = []
  const terms = new Set(patterns.map(({ term }) => term)).size
  const longest = Math.max(1, ...patterns.filter((one) => !one.isUnspaced).map(({ tokens }) => tokens.length))
  const before: (Run & { readonly folded: string })[] = []
  let looked = 0
  for (const run of runsOf(text)) {
    if (++looked % 256 === 0 && slicer.isDue) await slicer.rest()
    before.push({ ...run, folded: run.isUnspaced ? run.text : shortened(fold(run.text)) })
    if (before.length > longest) before.shift()
    const marks = run.isUnspaced ? marksWithin(run, patterns) : marksOfWords(before, patterns)
    for (const mark of marks) {
      const open = windows.at(-1)
      const start = open?.[0]?.start
      if (open !== undefined && start !== undefined && mark.end - start <= SHOWN - BEFORE) {
        // A word can end several phrases.
        if (!open.some((one) => one.start === mark.start && one.term === mark.term)) open.push(mark)
      } else if (windows.length === MAX_WINDOWS || (open !== undefined && termsIn(open) === terms))
        return windows
      else windows.push([mark])
    }
  }
  return windows
}

function marksOfWords(
  runs: readonly (Run & { folded: string })[],
  patterns: readonly PhrasePattern[],
): Mark[] {
  const marks: Mark[] = []
  for (const { term, tokens, prefix, isUnspaced } of patterns) {
    if (isUnspaced || runs.length < tokens.length) continue
    const some = runs.slice(-tokens.length)
    const fits = some.every(({ folded, isUnspaced: other }, index) => {
      const token = tokens[index] ?? ''
      return !other && (prefix && index === tokens.length - 1 ? folded.startsWith(token) : folded === token)
    })
    if (fits) marks.push(...some.map((run) => ({ start: run.at, end: run.at + run.text.length, term })))
  }
  return marks
}

function marksWithin(run: Run, patterns: readonly PhrasePattern[]): Mark[] {
  const marks: Mark[] = []
  // Characters whose folding changes the length are found, but not highlighted.
  const folded = fold(run.text)
  if (folded.length !== run.text.length) return marks
  for (const { term, tokens, isUnspaced } of patterns) {
    const [characters = ''] = tokens
    if (!isUnspaced) continue
    for (
      let at = folded.indexOf(characters);
      at >= 0;
      at = folded.indexOf(characters, at + characters.length)
    ) {
      marks.push({ start: run.at + at, end: run.at + at + characters.length, term })
    }
  }
  return marks.sort((a, b) => a.start - b.start)
}

function patternOf({ tokens, prefix }: Phrase, term: number): PhrasePattern {
  const [first = ''] = tokens
  const isUnspaced = [...runsOf(first)].some((run) => run.isUnspaced)
  if (!isUnspaced) return { term, tokens, prefix, isUnspaced }
  // The characters that the bigrams were built from.
  const characters =
    first +
    tokens
      .slice(1)
      .map((pair) => Array.from(pair).at(-1))
      .join('')
  return { term, tokens: [characters], prefix, isUnspaced }
}

function termsIn(marks: readonly Mark[]): number {
  return new Set(marks.map(({ term }) => term)).size
}

function shown(text: string, first: number, marks: readonly Mark[]): string {
  const start = wordStart(text, Math.max(0, first - BEFORE), first)
  const lastEnd = Math.max(...marks.map(({ end }) => end))
  const end = Math.max(lastEnd, wordEnd(text, Math.min(text.length, start + SHOWN), lastEnd))
  let html = ''
  let at = start
  for (const mark of marks.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    if (mark.end <= at) continue
    const from = Math.max(mark.start, at)
    html += `${escapeHtml(text.slice(at, from))}<b>${escapeHtml(text.slice(from, mark.end))}</b>`
    at = mark.end
  }
  return (html + escapeHtml(text.slice(at, end))).trim()
}

function wordStart(text: string, at: number, latest: number): number {
  if (at === 0) return 0
  const space = text.indexOf(' ', at)
  if (space >= 0 && space < latest) return space + 1
  return isMidCharacter(text, at) ? at + 1 : at
}

function wordEnd(text: string, at: number, earliest: number): number {
  if (at >= text.length) return text.length
  const space = text.lastIndexOf(' ', at)
  if (space > earliest) return space
  return isMidCharacter(text, at) ? at - 1 : at
}

function isMidCharacter(text: string, at: number): boolean {
  return /[\udc00-\udfff]/.test(text.charAt(at))
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character)
}
