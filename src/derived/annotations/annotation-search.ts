import type { FileDirent } from '../../base/objects/index.ts'
import { baseName, type LibraryPath, seenFrom } from '../../base/paths/index.ts'
import type { LibraryCore } from '../../libraries/library/index.ts'
import { asSeen } from '../../libraries/registry/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { CurrentTrees, type OwnedReadables, type Readable } from '../../sharing/access/index.ts'
import { parseQuery, type Query } from '../search/index.ts'
import { listTagged } from './annotation-search-store.ts'
import { findComments } from './comment-index.ts'
import type { IndexedComment } from './comment-word-store.ts'
import { foldName } from './tag-store.ts'

/** A search by tags or comments. */
export interface AnnotationQuery {
  /** The file must have all of them. */
  readonly tags: readonly string[]
  /** One comment on the file must contain all of them. */
  readonly comment: readonly string[]
  /** The name of the file must contain all of them. */
  readonly name: readonly string[]
}

/** The scope of a search: libraries and shared folders, and an owner all of whose libraries belong to it. */
interface AnnotationScope {
  readonly within: readonly Readable[]
  readonly owned?: OwnedReadables | undefined
}

/** A file at its path in the origin, and the newest comment that matches. */
interface FileMatch {
  readonly libraryKey: number
  readonly path: LibraryPath
  readonly comment?: IndexedComment | undefined
}

/** A file found by its annotations. */
interface AnnotatedMatch {
  readonly in: Readable
  /** Relative to `in`. */
  readonly path: LibraryPath
  readonly entry: FileDirent
  /** The newest comment that matches. */
  readonly comment: IndexedComment | undefined
}

/**
 * Parses `tag:name`, `tag:"two words"` and `comment:word`. Other words must be in the name. Undefined if the text has
 * neither, so that it is searched in names and texts.
 */
export function parseAnnotationQuery(text: string): AnnotationQuery | undefined {
  const query = { tags: [] as string[], comment: [] as string[], name: [] as string[] }
  for (const [, kind, quoted, word] of text.matchAll(/(?:(tag|comment):)?(?:"([^"]*)"|(\S+))/giu)) {
    const term = foldName((quoted ?? word ?? '').trim())
    if (term === '') continue
    if (kind === undefined) query.name.push(term)
    else if (kind.toLowerCase() === 'tag') query.tags.push(term)
    else query.comment.push(term)
  }
  return query.tags.length === 0 && query.comment.length === 0 ? undefined : query
}

/** The files of readable libraries that match now, those changed last first. */
export async function findAnnotated(
  services: SearchServices,
  query: AnnotationQuery,
  scope: AnnotationScope,
): Promise<AnnotatedMatch[]> {
  const { db } = services
  const keys = keysOf(scope)
  const files = new Map<string, FileMatch>()
  const keep = (matches: readonly FileMatch[], isFirst: boolean) => {
    const found = new Map(matches.toReversed().map((match) => [idOf(match), match]))
    if (isFirst) for (const [id, match] of found) files.set(id, match)
    else for (const id of files.keys()) if (!found.has(id)) files.delete(id)
  }
  if (query.comment.length > 0) {
    const text = query.comment.map((words) => (/\s/.test(words) ? `"${words}"` : words)).join(' ')
    const comments = await findComments(db, keys, parseQuery(text))
    keep(comments.map(toFileMatch), true)
  }
  for (const [index, tag] of query.tags.entries()) {
    keep(await listTagged(db, keys, tag), index === 0 && query.comment.length === 0)
  }
  const named = [...files.values()].filter(({ path }) => {
    const name = foldName(baseName(path))
    return query.name.every((word) => name.includes(word))
  })
  const matches = await shownNow(services, named, scope)
  return matches.toSorted((a, b) => b.entry.mtime - a.entry.mtime)
}

/** The files of readable libraries with a comment that matches now, those commented last first. */
export async function findCommented(
  services: SearchServices,
  query: Query,
  scope: AnnotationScope,
): Promise<AnnotatedMatch[]> {
  const files = new Map<string, FileMatch>()
  for (const comment of await findComments(services.db, keysOf(scope), query)) {
    const match = toFileMatch(comment)
    if (!files.has(idOf(match))) files.set(idOf(match), match)
  }
  return shownNow(services, [...files.values()], scope)
}

interface SearchServices {
  readonly db: Database
  readonly core: LibraryCore
}

const idOf = ({ libraryKey, path }: FileMatch) => `${libraryKey} ${path}`

function toFileMatch(comment: IndexedComment): FileMatch {
  return { libraryKey: comment.libraryKey, path: comment.path, comment }
}

function keysOf({ within, owned }: AnnotationScope): number[] {
  return [...new Set([...within.map(({ libraryKey }) => libraryKey), ...(owned?.keys ?? [])])]
}

/** The matches that are files of the current trees, as the caller sees them. Rows of a deleted file remain for a while. */
async function shownNow(
  { db, core }: SearchServices,
  files: readonly FileMatch[],
  { within, owned }: AnnotationScope,
): Promise<AnnotatedMatch[]> {
  if (files.length === 0) return []
  const libraryKeys = [...new Set(files.map(({ libraryKey }) => libraryKey))]
  const doors = [...((await owned?.find(libraryKeys)) ?? []), ...within]
  const trees = new CurrentTrees(core, db)
  const matches: AnnotatedMatch[] = []
  for (const { libraryKey, path, comment } of files) {
    const place = placeOf(doors, libraryKey, path)
    const entry = place && (await trees.find(place.in, path))
    if (place !== undefined && entry?.kind === 'file') matches.push({ ...place, entry, comment })
  }
  return matches
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
