import type { Dialect } from '../database/index.ts'
import type { Query, Term } from './query.ts'
import { type Phrase, partOfName } from './tokens.ts'

/** What a row of an index must hold. */
export type Expression =
  | { readonly phrase: Phrase }
  | { readonly all: readonly Expression[] }
  | { readonly any: readonly Expression[] }
  | { readonly some: Expression; readonly but: Expression }

// Stands before the tokens of a name where they rest among those of a text.
const NAME_MARK = '\ue0f3'
// Stands before the key of a library, as a token of each of its rows.
const LIBRARY_MARK = '\ue0f2'
// No name is longer, even with every character folded into several.
const LONGEST_PART = 2000

export const markedAsName = (token: string) => NAME_MARK + token
export const libraryToken = (libraryKey: number) => `${LIBRARY_MARK}${libraryKey}`

/** The names that hold every word and none that is excluded. Undefined if there are none. */
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

/** The names that hold a text as it is. */
export function namesWith(folded: string, extensions: readonly string[] | undefined): Expression | undefined {
  const part = named(folded)
  return part && allOf([part, ...endings(extensions)])
}

/** The names that are a text, with or without an extension. */
export function namesThatAre(
  folded: string,
  extensions: readonly string[] | undefined,
): Expression | undefined {
  if (folded === '' || folded.length > LONGEST_PART) return undefined
  const exactly = partOfName(folded, { starts: true, ends: true })
  const butForTheEnd = partOfName(`${folded}.`, { starts: true })
  return allOf([{ any: [{ phrase: exactly }, { phrase: butForTheEnd }] }, ...endings(extensions)])
}

/** The names that begin with a text. */
export function namesFrom(folded: string, extensions: readonly string[] | undefined): Expression | undefined {
  if (folded === '' || folded.length > LONGEST_PART) return undefined
  return allOf([{ phrase: partOfName(folded, { starts: true }) }, ...endings(extensions)])
}

/** The texts that hold every word, or have it in their name, and none that is excluded. */
export function textsWithWords(
  { terms, excluded }: Query,
  extensions: readonly string[] | undefined,
): Expression | undefined {
  // With one word there is nothing to be found in a name and a text together.
  const parts = terms.map(terms.length === 1 ? inText : anywhere)
  if (parts.length === 0 || !parts.every((part) => part !== undefined)) return undefined
  return without(allOf([...parts, ...endings(extensions).map(marked)]), excluded.map(anywhere))
}

/** The texts found by textsWithWords, for a query without exclusions, whose names do not hold every word. */
export function textsWithoutNames(
  query: Query,
  extensions: readonly string[] | undefined,
): Expression | undefined {
  const parts = query.terms.map(({ folded }) => named(folded))
  const texts = textsWithWords(query, extensions)
  if (texts === undefined || !parts.every((part) => part !== undefined)) return undefined
  return { some: texts, but: allOf(parts.map(marked)) }
}

/** For each word, the texts that hold it or have it in their name; what is excluded apart. */
export function textsByWord({ terms, excluded }: Query, extensions: readonly string[] | undefined) {
  const present = (part: Expression | undefined) => part !== undefined
  const words = terms.map(anywhere)
  if (words.length === 0 || !words.every(present)) return undefined
  return {
    words: [...words, ...endings(extensions).map(marked)],
    excluded: excluded.map(anywhere).filter(present),
  }
}

/** The texts that hold an excluded word. */
export function textsExcluded({ excluded }: Query): Expression | undefined {
  const parts = excluded.map(inText).filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : { any: parts }
}

function named(folded: string): Expression | undefined {
  return folded === '' || folded.length > LONGEST_PART ? undefined : { phrase: partOfName(folded) }
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

/** In the words of the engine. No token holds anything that means something to it. */
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

/** Tokens as the column of an index takes them, at the positions they stand in. */
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
