import { errorMessage, type Reader, rawText } from '../../http/index.ts'
import { type Bounds, extensionsOf, type Filters } from '../../search/index.ts'
import { parseWhole } from '../common/parse-values.ts'

const PAGE = { usual: 10, most: 100 }
// Beyond this nothing is found any more, however far somebody turns the pages.
const FARTHEST = 2 ** 31
const MOST_EXTENSIONS = 200
const LONGEST_EXTENSION = 40

/** Text to search for, whatever it is; '' if there is none. */
export const searchText: Reader<string> = (fields, name) =>
  (fields.text(name) ?? '').toWellFormed().replaceAll('\0', ' ').trim()

/** Where to search: everything within reach, what is reached in one way, or one library. */
export const searchPlace: Reader<string> = (fields, name) => {
  const sent = (fields.text(name) || 'all').toLowerCase()
  const isKnown = ['all', 'mine', 'shared', 'group', 'public'].includes(sent) || sent.length === 36
  if (!isKnown) throw errorMessage(400, 'search_repo invalid.')
  return sent
}

/** One of some words in any case; undefined when nothing was sent. */
export function anyCase<const T extends string>(words: readonly T[]): Reader<T | undefined> {
  return (fields, name) => {
    const sent = fields.text(name)?.toLowerCase()
    if (!sent) return undefined
    const found = words.find((word) => word === sent)
    if (found === undefined) throw errorMessage(400, `${name} invalid.`)
    return found
  }
}

/** A whole number, undefined when nothing was sent. */
const bound: Reader<number | undefined> = (fields, name) => {
  const sent = fields.text(name)
  if (!sent) return undefined
  const value = parseWhole(sent)
  if (value === undefined) throw errorMessage(400, `${name} invalid.`)
  return value
}

const sentTexts: Reader<string[]> = (fields, name) => fields.all(name)

/** Readers of what narrows a search down. */
export const searchFilters = {
  obj_type: anyCase(['dir', 'file']),
  search_ftypes: anyCase(['all', 'custom']),
  ftype: sentTexts,
  input_fexts: rawText(),
  time_from: bound,
  time_to: bound,
  size_from: bound,
  size_to: bound,
}

interface SentFilters {
  readonly obj_type: 'dir' | 'file' | undefined
  readonly search_ftypes: 'all' | 'custom' | undefined
  readonly ftype: readonly string[]
  readonly input_fexts: string | undefined
  readonly time_from: number | undefined
  readonly time_to: number | undefined
  readonly size_from: number | undefined
  readonly size_to: number | undefined
}

export function filtersOf(sent: SentFilters): Filters {
  return {
    kind: sent.obj_type,
    extensions: sent.search_ftypes === 'custom' ? extensionsIn(sent) : undefined,
    time: boundsOf(sent.time_from, sent.time_to),
    size: boundsOf(sent.size_from, sent.size_to),
  }
}

function boundsOf(from: number | undefined, to: number | undefined): Bounds | undefined {
  return from === undefined && to === undefined ? undefined : { from, to }
}

/** Undefined if there is no valid one: then files of all kinds are wanted. */
function extensionsIn({ ftype, input_fexts = '' }: SentFilters): string[] | undefined {
  const typed = input_fexts.toWellFormed().replaceAll('\0', '').split(',')
  const own = typed.map((one) => one.trim().replace(/^\./, '').toLowerCase())
  const known = ftype.flatMap((category) => extensionsOf(category) ?? [])
  const all = [...new Set([...known, ...own])].filter((one) => one !== '' && one.length <= LONGEST_EXTENSION)
  return all.length === 0 ? undefined : all.slice(0, MOST_EXTENSIONS)
}

/** The page of results that was asked for. A text that is no number in either parameter resets both. */
export function searchPage(sent: {
  readonly page: string | undefined
  readonly per_page: string | undefined
}): {
  offset: number
  limit: number
} {
  const page = parseWhole(sent.page || '1')
  const perPage = parseWhole(sent.per_page || String(PAGE.usual))
  if (page === undefined || perPage === undefined) return { offset: 0, limit: PAGE.usual }
  if (page < 1 || perPage < 0) throw errorMessage(400, 'page or per_page invalid.')
  const limit = Math.min(perPage, PAGE.most)
  return { offset: Math.min((page - 1) * limit, FARTHEST), limit }
}
