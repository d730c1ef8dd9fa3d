import { type Bounds, extensionsOf, type Filters } from '../../../derived/search/index.ts'
import { accepting, type Reader, rawText } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { parseInteger } from '../common/parse-values.ts'

const PAGE = { usual: 10, most: 100 }
// Results beyond this offset are never returned.
const MAX_OFFSET = 2 ** 31
const MAX_EXTENSIONS = 200
const MAX_EXTENSION_LENGTH = 40

/** The search text; '' if absent. */
export const searchText: Reader<string> = (fields, name) =>
  (fields.text(name) ?? '').toWellFormed().replaceAll('\0', ' ').trim()

/** The search scope: all readable libraries, those of one relation, or one library. */
export const searchPlace: Reader<string> = accepting(
  {
    type: 'string',
    default: 'all',
    description: '`all`, `mine`, `shared`, `group`, `public` or the id of a library.',
  },
  (fields, name) => {
    const sent = (fields.text(name) || 'all').toLowerCase()
    const isKnown = ['all', 'mine', 'shared', 'group', 'public'].includes(sent) || sent.length === 36
    if (!isKnown) throw errorMessage(400, 'search_repo invalid.')
    return sent
  },
)

/** One of `words`, case-insensitive; undefined if absent. */
export function anyCase<const T extends string>(words: readonly T[]): Reader<T | undefined> {
  return accepting({ type: 'string', enum: words }, (fields, name) => {
    const sent = fields.text(name)?.toLowerCase()
    if (!sent) return undefined
    const found = words.find((word) => word === sent)
    if (found === undefined) throw errorMessage(400, `${name} invalid.`)
    return found
  })
}

/** An integer; undefined if absent. */
const bound: Reader<number | undefined> = accepting({ type: 'integer' }, (fields, name) => {
  const sent = fields.text(name)
  if (!sent) return undefined
  const value = parseInteger(sent)
  if (value === undefined) throw errorMessage(400, `${name} invalid.`)
  return value
})

const sentTexts: Reader<string[]> = accepting({ type: 'array' }, (fields, name) => fields.all(name))

/** Filter parameters of a search. */
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

/** Undefined if there is no valid extension: then all files match. */
function extensionsIn({ ftype, input_fexts = '' }: SentFilters): string[] | undefined {
  const typed = input_fexts.toWellFormed().replaceAll('\0', '').split(',')
  const own = typed.map((one) => one.trim().replace(/^\./, '').toLowerCase())
  const known = ftype.flatMap((category) => extensionsOf(category) ?? [])
  const all = [...new Set([...known, ...own])].filter(
    (one) => one !== '' && one.length <= MAX_EXTENSION_LENGTH,
  )
  return all.length === 0 ? undefined : all.slice(0, MAX_EXTENSIONS)
}

/** The requested page of results. If either parameter is not a number, both get their defaults. */
export function searchPage(sent: {
  readonly page: string | undefined
  readonly per_page: string | undefined
}): {
  offset: number
  limit: number
} {
  const page = parseInteger(sent.page || '1')
  const perPage = parseInteger(sent.per_page || String(PAGE.usual))
  if (page === undefined || perPage === undefined) return { offset: 0, limit: PAGE.usual }
  if (page < 1 || perPage < 0) throw errorMessage(400, 'page or per_page invalid.')
  const limit = Math.min(perPage, PAGE.most)
  return { offset: Math.min((page - 1) * limit, MAX_OFFSET), limit }
}
