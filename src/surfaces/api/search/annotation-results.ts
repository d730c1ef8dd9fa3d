import { isWithin, type LibraryPath } from '../../../base/paths/index.ts'
import type { AnnotationQuery } from '../../../derived/annotations/index.ts'
import {
  type Bounds,
  type Filters,
  type Found,
  highlight,
  parseQuery,
  type Query,
} from '../../../derived/search/index.ts'
import type { OwnedReadables, Readable } from '../../../sharing/access/index.ts'
import type { SearchServices } from './services.ts'

const MAX_HIGHLIGHTED = 10_000

/** The comment that a search found, without its text. */
interface FoundComment {
  readonly id: number
  /** E-mail. */
  readonly author: string
  /** Unix seconds. */
  readonly createdAt: number
}

/** A file found by its tags or comments. The excerpt is one of the comment. */
export interface FoundAnnotated extends Found {
  readonly comment?: FoundComment | undefined
}

interface Wanted {
  readonly within: readonly Readable[]
  readonly owned: OwnedReadables | undefined
  readonly folder: LibraryPath | undefined
  readonly filters: Filters
  readonly offset: number
  readonly limit: number
}

type Matches = Awaited<ReturnType<SearchServices['findAnnotated']>>

/** A page of results. With `isMinimum` there are at least as many as `total`. */
interface AnnotatedPage {
  readonly total: number
  readonly isMinimum: boolean
  readonly found: FoundAnnotated[]
}

/** A page of the files that match a search by tags or comments, with an excerpt of the comment. */
export async function findByAnnotations(
  { findAnnotated }: SearchServices,
  query: AnnotationQuery,
  wanted: Wanted,
): Promise<AnnotatedPage> {
  const all = filtered(await findAnnotated(query, wanted), wanted)
  return {
    total: all.length,
    isMinimum: false,
    found: await pageOf(all, parseQuery(query.comment.join(' ')), wanted),
  }
}

/**
 * A page of the results of a search by words: those in names and texts come first, then files with comments that match.
 * A file that matches both ways is listed twice, once with the comment.
 */
export async function findWithComments(
  { findCommented }: SearchServices,
  text: string,
  wanted: Wanted,
  indexed: {
    readonly total: number
    readonly isMinimum: boolean
    readonly matched: number
    readonly found: Found[]
  },
): Promise<AnnotatedPage> {
  // Comments are on later pages.
  if (indexed.isMinimum) return indexed
  const query = parseQuery(text)
  const all = filtered(await findCommented(query, wanted), wanted)
  const end = wanted.offset + wanted.limit
  const offset = Math.max(0, wanted.offset - indexed.matched)
  const limit = Math.max(0, end - indexed.matched) - offset
  const found = [...indexed.found, ...(await pageOf(all, query, { offset, limit }))]
  const total = indexed.total + all.length
  return {
    total: indexed.matched + all.length > end ? Math.max(total, end + 1) : total,
    isMinimum: false,
    found,
  }
}

function filtered(matches: Matches, { folder, filters }: Wanted): Matches {
  return matches.filter(
    ({ path, entry }) =>
      filters.kind !== 'dir' &&
      (folder === undefined || isWithin(path, folder)) &&
      (filters.extensions?.includes(extensionOf(entry.name)) ?? true) &&
      isInside(entry.mtime, filters.time) &&
      isInside(entry.size, filters.size),
  )
}

async function pageOf(
  matches: Matches,
  words: Query,
  { offset, limit }: Pick<Wanted, 'offset' | 'limit'>,
): Promise<FoundAnnotated[]> {
  const found: FoundAnnotated[] = []
  for (const { in: place, path, entry, comment } of matches.slice(offset, offset + limit)) {
    const { id, name, size, mtime } = entry
    const excerpt = comment === undefined ? '' : await highlight(comment.text, words, MAX_HIGHLIGHTED)
    found.push({ in: place, path, name, isDir: false, id, size, mtime, highlight: excerpt, comment })
  }
  return found
}

function isInside(value: number, bounds: Bounds | undefined): boolean {
  return value >= (bounds?.from ?? value) && value <= (bounds?.to ?? value)
}

function extensionOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1).toLowerCase()
}
