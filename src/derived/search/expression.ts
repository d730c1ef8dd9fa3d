import type { Dialect } from '../../platform/database/index.ts'
import type { Query, Term } from './query.ts'
import { type Phrase, partOfName } from './tokens.ts'

/** A full-text expression, independent of the dialect. */
export type Expression =
  | { readonly phrase: Phrase }
  | { readonly all: readonly Expression[] }
  | { readonly any: readonly Expression[] }
  | { readonly some: Expression; readonly but: Expression }

// Prefix of name tokens in the text index.
const NAME_MARK = '\ue0f3'
// Prefix of the token that holds the library key of a row.
export const LIBRARY_MARK = '\ue0f2'
// Upper bound of the length of a folded name.
const MAX_PART = 2000

export const markedAsName = (token: string) => NAME_MARK + token
export const libraryToken = (libraryKey: number) => `${LIBRARY_MARK}${libraryKey}`

/** Names that contain all words and no excluded one. Undefined if none can match. */
export function namesWithWords(
  { terms, excluded }: Query,
  extensions: readonly string[] | undefined,
): Expression | undefined {
  const parts = terms.map(({ folded }) => named(folded))
  if (parts.length === 0 || !parts.every((part) => part !== undefined)) return undefined
  return without(
    allOf([...parts, ...endings(extensions)]),
    excluded.map(({ folded }) => named(folded)),
  )
}

/** Names that contain a text literally. */
export function namesWith(folded: string, extensions: readonly string[] | undefined): Expression | undefined {
  const part = named(folded)
  return part && allOf([part, ...endings(extensions)])
}

/** Names equal to a text, with or without extension. */
export function namesThatAre(
  folded: string,
  extensions: readonly string[] | undefined,
): Expression | undefined {
  if (folded === '' || folded.length > MAX_PART) return undefined
  const exactly = partOfName(folded, { starts: true, ends: true })
  const butForTheEnd = partOfName(`${folded}.`, { starts: true })
  return allOf([{ any: [{ phrase: exactly }, { phrase: butForTheEnd }] }, ...endings(extensions)])
}

/** Names that start with a text. */
export function namesFrom(folded: string, extensions: readonly string[] | undefined): Expression | undefined {
  if (folded === '' || folded.length > MAX_PART) return undefined
  return allOf([{ phrase: partOfName(folded, { starts: true }) }, ...endings(extensions)])
}

/** Texts that contain all words, in the text or the name, and no excluded one. */
export function textsWithWords(
  { terms, excluded }: Query,
  extensions: readonly string[] | undefined,
): Expression | undefined {
  // A single word cannot be split between name and text.
  const parts = terms.map(terms.length === 1 ? inText : anywhere)
  if (parts.length === 0 || !parts.every((part) => part !== undefined)) return undefined
  return without(allOf([...parts, ...endings(extensions).map(marked)]), excluded.map(anywhere))
}

/** The matches of textsWithWords whose names do not contain all words; for queries without exclusions. */
export function textsWithoutNames(
  query: Query,
  extensions: readonly string[] | undefined,
): Expression | undefined {
  const parts = query.terms.map(({ folded }) => named(folded))
  const texts = textsWithWords(query, extensions)
  if (texts === undefined || !parts.every((part) => part !== undefined)) return undefined
  return { some: texts, but: allOf(parts.map(marked)) }
}

/** For each word, the texts that contain it in text or name. Exclusions are separate. */
export function textsByWord({ terms, excluded }: Query, extensions: readonly string[] | undefined) {
  const present = (part: Expression | undefined) => part !== undefined
  const words = terms.map(anywhere)
  if (words.length === 0 || !words.every(present)) return undefined
  return {
    words: [...words, ...endings(extensions).map(marked)],
    excluded: excluded.map(anywhere).filter(present),
  }
}

/** Texts that contain an excluded word. */
export function textsExcluded({ excluded }: Query): Expression | undefined {
  const parts = excluded.map(inText).filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : { any: parts }
}

function named(folded: string): Expression | undefined {
  return folded === '' || folded.length > MAX_PART ? undefined : { phrase: partOfName(folded) }
}

function endings(extensions: readonly string[] | undefined): Expression[] {
  if (extensions === undefined) return []
  return [{ any: extensions.map((extension) => ({ phrase: partOfName(`.${extension}`, { ends: true }) })) }]
}

function anywhere(term: Term): Expression | undefined {
  const name = named(term.folded)
  const places = [name && marked(name), inText(term)].filter((place) => place !== undefined)
  return places.length === 0 ? undefined : { any: places }
}

function inText({ phrases }: Term): Expression | undefined {
  return phrases.length === 0 ? undefined : allOf(phrases.map((phrase) => ({ phrase })))
}

function marked(expression: Expression): Expression {
  if ('any' in expression) return { any: expression.any.map(marked) }
  if (!('phrase' in expression)) throw new Error('only names are marked as names')
  const { tokens, prefix } = expression.phrase
  return { phrase: { tokens: tokens.map(markedAsName), prefix } }
}

function allOf(parts: readonly Expression[]): Expression {
  const [only, ...more] = parts
  return only !== undefined && more.length === 0 ? only : { all: parts }
}

function without(some: Expression, excluded: readonly (Expression | undefined)[]): Expression {
  const parts = excluded.filter((part) => part !== undefined)
  return parts.length === 0 ? some : { some, but: { any: parts } }
}

/** For PostgreSQL: what names that match have at least, regardless of the order of their grams. */
export function renderedGrams(expression: Expression): string {
  if ('phrase' in expression) {
    const { tokens, prefix } = expression.phrase
    return `(${tokens.map((token) => `'${token}'`).join(' & ')}${prefix ? ':*' : ''})`
  }
  if ('some' in expression) return renderedGrams(expression.some)
  if ('all' in expression) return `(${expression.all.map(renderedGrams).join(' & ')})`
  return `(${expression.any.map(renderedGrams).join(' | ')})`
}

/** Renders an expression for the engine. Tokens never contain its operators. */
export function rendered(expression: Expression, dialect: Dialect): string {
  return dialect === 'sqlite' ? asFts5(expression) : asTsquery(expression)
}

function asFts5(expression: Expression): string {
  if ('phrase' in expression) {
    const { tokens, prefix } = expression.phrase
    return `"${tokens.join(' ')}"${prefix ? ' *' : ''}`
  }
  if ('some' in expression) return `(${asFts5(expression.some)} NOT ${asFts5(expression.but)})`
  if ('all' in expression) return `(${expression.all.map(asFts5).join(' AND ')})`
  return `(${expression.any.map(asFts5).join(' OR ')})`
}

function asTsquery(expression: Expression): string {
  if ('phrase' in expression) {
    const { tokens, prefix } = expression.phrase
    return `(${tokens.map((token) => `'${token}'`).join(' <-> ')}${prefix ? ':*' : ''})`
  }
  if ('some' in expression) return `(${asTsquery(expression.some)} & !${asTsquery(expression.but)})`
  if ('all' in expression) return `(${expression.all.map(asTsquery).join(' & ')})`
  return `(${expression.any.map(asTsquery).join(' | ')})`
}

/** Tokens with their positions, in the format of the index column. */
export function renderedTokens(tokens: readonly string[], dialect: Dialect): string {
  return dialect === 'sqlite' ? tokens.join(' ') : asTsvector(tokens)
}

function asTsvector(tokens: readonly string[]): string {
  const positions = new Map<string, number[]>()
  for (const [index, token] of tokens.entries()) {
    const found = positions.get(token)
    if (found === undefined) positions.set(token, [index + 1])
    else found.push(index + 1)
  }
  return Array.from(positions, ([token, at]) => `'${token}':${at.join(',')}`).join(' ')
}
