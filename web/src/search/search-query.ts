import type { SearchQuery } from '../api/index.ts'

/** The URL of the search page contains the whole query, so that it can be bookmarked and shared. */

export const kinds = [
  'folder',
  'file',
  'document',
  'spreadsheet',
  'pdf',
  'image',
  'video',
  'audio',
  'text',
  'markdown',
] as const
type SearchKind = (typeof kinds)[number]

const DAY = 86_400
export const times = { day: DAY, week: 7 * DAY, month: 30 * DAY, year: 365 * DAY } as const
export type SearchTime = keyof typeof times

const MB = 1_000_000
export const sizes = {
  small: { size_to: MB },
  medium: { size_from: MB, size_to: 100 * MB },
  large: { size_from: 100 * MB },
} as const
export type SearchSize = keyof typeof sizes

export const scopes = ['mine', 'shared', 'group', 'public'] as const

/** Parses the query of the URL. Unknown values are ignored. `now` is in Unix seconds. */
export function parseSearchQuery(query: URLSearchParams, now: number): SearchQuery {
  const kind = oneOf(query.get('kind'), kinds)
  const time = query.get('time') ?? ''
  const size = query.get('size') ?? ''
  const extensions = query.get('ext')?.trim()
  const place = query.get('in') ?? ''
  const isPlace = /^[0-9a-f-]{36}$/i.test(place) || scopes.some((scope) => scope === place)
  const path = query.get('p')
  return {
    q: withTag((query.get('q') ?? '').trim(), query.get('tag') ?? ''),
    ...(isPlace && { search_repo: place }),
    ...(isPlace && place.length === 36 && path && { search_path: path }),
    ...(kind === 'folder' && { obj_type: 'dir' }),
    ...(kind !== undefined && kind !== 'folder' && { obj_type: 'file' }),
    ...customOf(kind, extensions),
    // Rounded to the hour, so that the cached result is reused.
    ...(isKey(time, times) && { time_from: Math.floor((now - times[time]) / 3600) * 3600 }),
    ...(isKey(size, sizes) && sizes[size]),
    ...(query.get('names') === '1' && { search_filename_only: true }),
  }
}

/** The words with a condition for a tag. A quotation mark cannot be part of it. */
function withTag(words: string, tag: string): string {
  const name = tag.replaceAll('"', ' ').trim()
  return name === '' ? words : `tag:"${name}" ${words}`.trim()
}

function customOf(kind: SearchKind | undefined, extensions: string | undefined): Partial<SearchQuery> {
  const type = kind === 'folder' || kind === 'file' ? undefined : kind
  if (type === undefined && !extensions) return {}
  return {
    search_ftypes: 'custom',
    ...(type && { ftype: type }),
    ...(extensions && { input_fexts: extensions }),
  }
}

function oneOf<T extends string>(value: string | null, values: readonly T[]): T | undefined {
  return values.find((one) => one === value)
}

function isKey<T extends object>(key: string, table: T): key is Extract<keyof T, string> {
  return Object.hasOwn(table, key)
}
