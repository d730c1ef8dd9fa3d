import type { OwnedReadables, Readable } from '../../access/index.ts'
import type { AnnotationQuery } from '../../annotations/index.ts'
import { isWithin, type LibraryPath } from '../../objects/index.ts'
import { type Bounds, type Filters, type Found, highlight, parseQuery } from '../../search/index.ts'
import type { ApiServices } from '../services.ts'

const MAX_HIGHLIGHTED = 10_000

interface Wanted {
  readonly within: readonly Readable[]
  readonly owned: OwnedReadables | undefined
  readonly folder: LibraryPath | undefined
  readonly filters: Filters
  readonly offset: number
  readonly limit: number
}

/** A page of the files that match a search by tags or comments, with an excerpt of the comment. */
export async function findByAnnotations(
  { findAnnotated }: ApiServices,
  query: AnnotationQuery,
  { within, owned, folder, filters, offset, limit }: Wanted,
): Promise<{ total: number; found: Found[] }> {
  const all = (await findAnnotated(query, { within, owned })).filter(
    ({ path, entry }) =>
      filters.kind !== 'dir' &&
      (folder === undefined || isWithin(path, folder)) &&
      (filters.extensions?.includes(extensionOf(entry.name)) ?? true) &&
      isInside(entry.mtime, filters.time) &&
      isInside(entry.size, filters.size),
  )
  const words = parseQuery(query.comment.join(' '))
  const found: Found[] = []
  for (const { in: place, path, entry, comment } of all.slice(offset, offset + limit)) {
    const { id, name, size, mtime } = entry
    const excerpt = comment === undefined ? '' : await highlight(comment, words, MAX_HIGHLIGHTED)
    found.push({ in: place, path, name, isDir: false, id, size, mtime, highlight: excerpt })
  }
  return { total: all.length, found }
}

function isInside(value: number, bounds: Bounds | undefined): boolean {
  return value >= (bounds?.from ?? value) && value <= (bounds?.to ?? value)
}

function extensionOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1).toLowerCase()
}
