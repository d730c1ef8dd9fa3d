import type { OwnedReadables, Readable } from '../access/index.ts'
import { asSeen, findLibraryByKey } from '../commits/index.ts'
import type { Database } from '../database/index.ts'
import type { LibraryCore } from '../library/index.ts'
import { baseName, type FileDirent, type LibraryPath, seenFrom } from '../objects/index.ts'
import { Tree } from '../tree/index.ts'
import { type AnnotationMatch, listNewestComments, listTagged } from './annotation-search-store.ts'
import { foldName } from './fold-name.ts'

/** A search by tags or comments. */
export interface AnnotationQuery {
  /** The file must have all of them. */
  readonly tags: readonly string[]
  /** One comment on the file must contain all of them. */
  readonly comment: readonly string[]
  /** The name of the file must contain all of them. */
  readonly name: readonly string[]
}

/** A file found by its annotations. */
interface AnnotatedMatch {
  readonly in: Readable
  /** Relative to `in`. */
  readonly path: LibraryPath
  readonly entry: FileDirent
  /** The newest comment that matches. */
  readonly comment: string | undefined
}

/**
 * Parses `tag:name`, `tag:"two words"` and `comment:word`. Other words must be in the name. Undefined if the text has
 * neither, so that it is searched in names and texts.
 */
export function parseAnnotationQuery(text: string): AnnotationQuery | undefined {
  const query = { tags: [] as string[], comment: [] as string[], name: [] as string[] }
  for (const [, kind, quoted, word] of text.matchAll(/(?:(tag|comment):)?(?:"([^"]*)"|(\S+))/giu)) {
    const sought = foldName((quoted ?? word ?? '').trim())
    if (sought === '') continue
    if (kind === undefined) query.name.push(sought)
    else if (kind.toLowerCase() === 'tag') query.tags.push(sought)
    else query.comment.push(sought)
  }
  return query.tags.length === 0 && query.comment.length === 0 ? undefined : query
}

/** The files of readable libraries that match now, newest first. */
export async function findAnnotated(
  { db, core }: { readonly db: Database; readonly core: LibraryCore },
  query: AnnotationQuery,
  { within, owned }: { readonly within: readonly Readable[]; readonly owned?: OwnedReadables | undefined },
): Promise<AnnotatedMatch[]> {
  const keys = [...new Set([...within.map(({ libraryKey }) => libraryKey), ...(owned?.keys ?? [])])]
  const files = new Map<string, AnnotationMatch>()
  const idOf = ({ libraryKey, path }: AnnotationMatch) => `${libraryKey} ${path}`
  const keep = (matches: readonly AnnotationMatch[], isFirst: boolean) => {
    const found = new Map(matches.toReversed().map((match) => [idOf(match), match]))
    if (isFirst) for (const [id, match] of found) files.set(id, match)
    else for (const id of files.keys()) if (!found.has(id)) files.delete(id)
  }
  if (query.comment.length > 0) {
    const comments = await listNewestComments(db, keys)
    const isMatch = ({ comment }: AnnotationMatch) => {
      const folded = foldName(comment ?? '')
      return query.comment.every((word) => folded.includes(word))
    }
    keep(comments.filter(isMatch), true)
  }
  for (const [index, tag] of query.tags.entries()) {
    keep(await listTagged(db, keys, tag), index === 0 && query.comment.length === 0)
  }
  const named = [...files.values()].filter(({ path }) => {
    const name = foldName(baseName(path))
    return query.name.every((word) => name.includes(word))
  })
  if (named.length === 0) return []
  const libraryKeys = [...new Set(named.map(({ libraryKey }) => libraryKey))]
  const doors = [...((await owned?.find(libraryKeys)) ?? []), ...within]
  const trees = new Map<number, Tree | undefined>()
  const matches: AnnotatedMatch[] = []
  for (const { libraryKey, path, comment } of named) {
    if (!trees.has(libraryKey)) {
      const library = await findLibraryByKey(db, libraryKey)
      trees.set(libraryKey, library && new Tree(core.objects, libraryKey, library.root))
    }
    const place = placeOf(doors, libraryKey, path)
    const entry = await trees.get(libraryKey)?.find(path)
    if (place !== undefined && entry?.kind === 'file') matches.push({ ...place, entry, comment })
  }
  return matches.toSorted((a, b) => b.entry.mtime - a.entry.mtime)
}

/** The path as seen through the first library or shared folder that shows it. */
function placeOf(
  doors: readonly Readable[],
  libraryKey: number,
  path: LibraryPath,
): { in: Readable; path: LibraryPath } | undefined {
  for (const door of doors) {
    if (door.libraryKey !== libraryKey) continue
    const seen = door.folder === undefined ? seenFrom(door.base, path) : asSeen(door.folder, path)
    if (seen !== undefined) return { in: door, path: seen }
  }
  return undefined
}
