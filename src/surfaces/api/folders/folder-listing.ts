import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Dirent, DirId, LibraryId } from '../../../base/objects/index.ts'
import {
  joinPath,
  type LibraryPath,
  parentOf,
  ROOT,
  segmentsOf,
  withSlash,
} from '../../../base/paths/index.ts'
import { TimeSlicer } from '../../../base/scheduling/index.ts'
import type { Placed } from '../../../libraries/edits/index.ts'
import type { Library, Permission } from '../../../libraries/library/index.ts'
import { changedEntries, type ShownDir, type StoredDir, shownDir } from '../../../libraries/tree/index.ts'
import type { HttpRequest } from '../../../platform/http/index.ts'
import { hasTag, unlessUnchanged } from '../../../platform/representations/index.ts'
import {
  type HttpResponse,
  jsonTextResponse,
  type ResponseHeaders,
} from '../../../platform/responses/index.ts'
import type { FoundFolder } from '../common/resolve-path.ts'
import { thumbnailSrc } from '../common/thumbnail-url.ts'
import { isoTime } from '../common/wire-formats.ts'
import { entryV2, entryV21, quoted } from './dirent-wire.ts'
import { ListingCache } from './listing-cache.ts'
import {
  addModifiers,
  addVisitorsFiles,
  type GrowingListingContext,
  loadListingContext,
} from './listing-context.ts'
import type { FolderServices, ListingServices } from './services.ts'

/** Files only, folders only, or both. */
export type Kinds = 'f' | 'd' | 'all'

/** About 1 ms of work, after which other requests may run (I10). */
export const ENTRIES_PER_SLICE = 2000

/** An `/api2/` listing: an array, with the folder's id in a header. */
export async function listingV2(
  services: ListingServices,
  library: Library,
  { path, stored }: FoundFolder,
  { kinds = 'all', request }: { kinds?: Kinds; request?: HttpRequest } = {},
): Promise<HttpResponse> {
  const shown = await shownDir(stored.dir)
  const context = await loadListingContext(services, library, { emails: shown.modifiers })
  // These entries do not contain the path, so the cache key omits it.
  const wanted = { form: 'older', path, stored, shown, kinds, context }
  const headers = listingHeadersV2(library, path, stored)
  const render = async () => {
    const items = await itemsOf(wanted, (entry) => entryV2(entry, path, context))
    return jsonTextResponse(joined(['[', ...items, ']']), { headers })
  }
  if (request === undefined) return render()
  return unlessUnchanged(request, `${contentOf(wanted)} ${library.permissionAt(path)}`, render)
}

/** The listing of a folder after a change, for `reloaddir`. */
export async function reloaded(
  services: ListingServices,
  library: Library,
  path: LibraryPath,
): Promise<HttpResponse> {
  return listingV2(services, library, { path, stored: await library.tree.getDir(path) })
}

export function listingHeadersV2(library: Library, path: LibraryPath, { dir }: StoredDir): ResponseHeaders {
  return { oid: dir.id, dir_perm: library.permissionAt(path) }
}

interface ListingOptions {
  readonly kinds: Kinds
  readonly withParents: boolean
  /** In pixels; undefined for no thumbnails. */
  readonly thumbnailSize: number | undefined
  /** The dir of a listing that the client has, whose tag it sends. It gets the differences, if they are short. */
  readonly since: DirId | undefined
  readonly request: HttpRequest
}

/** A `/api/v2.1/` listing, optionally preceded by those of all parent folders. */
export async function listingV21(
  services: FolderServices,
  library: Library,
  folder: FoundFolder,
  { kinds, withParents, thumbnailSize, since, request }: ListingOptions,
): Promise<HttpResponse> {
  const thumbnails = library.info.encryption === undefined ? thumbnailSize : undefined
  const folders = withParents ? await levelsTo(library, folder) : [folder]
  const context = await loadListingContext(services, library, { tagged: folders.map(({ path }) => path) })
  const levels: Wanted[] = []
  for (const { path, stored } of folders) {
    const shown = await shownDir(stored.dir)
    await addModifiers(services, context.modifiers, shown.modifiers)
    await addVisitorsFiles(context.visitors, library, path, pick(shown, 'f'))
    const form = `newer ${path}${thumbnails === undefined ? '' : ` ${thumbnails} ${library.info.id}`}`
    levels.push({ form, path, stored, shown, kinds, context })
  }
  const { path, stored } = folder
  const head = ({ dir }: StoredDir) => `{"user_perm":"${library.permissionAt(path)}","dir_id":"${dir.id}"`
  // Keyed, so that only a client that was sent a listing has its tag.
  const tagContent = (all: readonly Wanted[]) =>
    [
      services.listingKey,
      head(all.at(-1)?.stored ?? stored),
      ...all.map(contentOf),
      services.listingKey,
    ].join('\n')
  return unlessUnchanged(request, tagContent(levels), async () => {
    const [only] = levels.length === 1 ? levels : []
    const changes =
      since === undefined || only === undefined || thumbnails !== undefined
        ? undefined
        : await changesSince(services, library, only, { since, request, tagContent })
    if (changes !== undefined) {
      const parent = quoted(withSlash(path))
      const texts = changes.entries.map((entry) => entryV21(entry, path, parent, context))
      const more = `"since":"${since}","removed":${JSON.stringify(changes.removed)}`
      return jsonTextResponse(`${head(stored)},${more},"dirent_list":[${texts.join()}]}`)
    }
    const start = `${head(stored)},"dirent_list":[`
    const pieces: Piece[] = []
    for (const level of levels) {
      const parent = quoted(withSlash(level.path))
      const items = await itemsOf(level, (entry) => {
        const text = entryV21(entry, level.path, parent, context)
        return thumbnails === undefined ? text : withThumbnail(text, library, level.path, entry, thumbnails)
      })
      if (items.length > 0) pieces.push(pieces.length > 0 ? ',' : '', ...items)
    }
    return jsonTextResponse(joined([start, ...pieces, ']}']))
  })
}

/** A listing with more differences than this is sent as a whole. */
const MAX_CHANGES = 1000

/**
 * The differences between the listing that a client has and `now`. Undefined if the client has another listing, or the same with other locks, stars,
 * names or permissions: its tag stands for all of these. The id of a dir alone grants nothing (I7).
 */
async function changesSince(
  services: ListingServices,
  library: Library,
  now: Wanted,
  {
    since,
    request,
    tagContent,
  }: { since: DirId; request: HttpRequest; tagContent: (levels: readonly Wanted[]) => string },
): Promise<{ entries: Dirent[]; removed: string[] } | undefined> {
  if (now.kinds !== 'all') return undefined
  const stored = await library.content.findDir(since)
  if (stored === undefined) return undefined
  const shown = await shownDir(stored.dir)
  await addModifiers(services, now.context.modifiers, shown.modifiers)
  if (!hasTag(request, tagContent([{ ...now, stored, shown }]))) return undefined
  const { changes } = await changedEntries(stored.dir, now.stored.dir, new TimeSlicer())
  if (changes.size > MAX_CHANGES) return undefined
  const entries: Dirent[] = []
  const removed: string[] = []
  for (const [name, entry] of changes) {
    if (entry === null) removed.push(name)
    else entries.push(entry)
  }
  return { entries, removed }
}

/** The entry with the URL of its thumbnail, if it can have one. Thumbnails are created on request. */
function withThumbnail(
  text: string,
  library: Library,
  folder: LibraryPath,
  entry: Dirent,
  size: number,
): string {
  if (entry.kind === 'dir') return text
  const src = thumbnailSrc(library.info.id, size, joinPath(folder, entry.name), entry)
  return src === undefined ? text : `${text.slice(0, -1)},"encoded_thumbnail_src":${quoted(src)}}`
}

/** The folders from the root down to `folder`. */
async function levelsTo(library: Library, folder: FoundFolder): Promise<FoundFolder[]> {
  let at: FoundFolder = { path: ROOT, stored: await library.tree.getDir(ROOT) }
  const levels = [at]
  for (const name of segmentsOf(folder.path)) {
    const entry = at.stored.dir.resolve(name)
    if (entry?.kind !== 'dir') break
    at = { path: joinPath(at.path, name), stored: await library.tree.dirOf(entry) }
    levels.push(at)
  }
  return levels
}

function pick({ entries, folders }: ShownDir, kinds: Kinds): readonly Dirent[] {
  if (kinds === 'all') return entries
  return kinds === 'd' ? entries.slice(0, folders) : entries.slice(folders)
}

type Piece = string | Buffer

interface Wanted {
  /** Everything the rendered entries depend on, except the folder's content and the modifiers. */
  readonly form: string
  readonly path: LibraryPath
  readonly stored: StoredDir
  readonly shown: ShownDir
  readonly kinds: Kinds
  readonly context: GrowingListingContext
}

const CACHE_BYTES = 32 * 2 ** 20
const cache = new ListingCache(CACHE_BYTES)

/** Evicts all rendered listings, to return memory while the server is idle. */
export function clearListingCache(): void {
  cache.clear()
}

/**
 * Increased when entries are rendered differently, so that a listing which a client stored before an update of the server does not
 * count as unchanged.
 */
const FORMAT = 1

/** Everything that the entries of a listing depend on. The dir id stands for the entries themselves. */
function contentOf(wanted: Wanted): string {
  const { path, kinds, context, form, stored } = wanted
  const bound = hasBound(wanted)
    ? JSON.stringify([
        [...context.locks].filter(([at]) => parentOf(at as LibraryPath) === path),
        [...context.starred].filter((at) => parentOf(at as LibraryPath) === path),
        [...context.tags].filter(([at]) => parentOf(at as LibraryPath) === path),
        [...context.visitors].filter((at) => parentOf(at as LibraryPath) === path),
      ])
    : ''
  return `${FORMAT} ${stored.dir.id} ${kinds} ${context.permission} ${form} ${peopleOf(wanted)} ${bound}`
}

function peopleOf({ shown, context }: Wanted): string {
  return shown.modifiers.map((email) => context.modifiers.get(email)).join()
}

/** The comma-separated entries of a folder, from the cache unless one is locked, starred, tagged or of a visitor. */
async function itemsOf(wanted: Wanted, write: (entry: Dirent) => string): Promise<Piece[]> {
  const { shown, kinds, context } = wanted
  if (hasBound(wanted)) return itemTexts(pick(shown, kinds), write)
  const key = `${wanted.stored.dir.id} ${kinds} ${context.permission} ${wanted.form}`
  const people = peopleOf(wanted)
  const cached = cache.find(key, people)
  if (cached !== undefined) return [cached]
  const items = await itemTexts(pick(shown, kinds), write)
  const bytes = items.reduce((sum, piece) => sum + piece.length, 0)
  if (bytes === 0 || !cache.accepts(bytes)) return items
  const text = Buffer.concat(items.map(toBuffer))
  cache.put(key, people, text)
  return [text]
}

/** Whether a lock, star, tag or visitor's upload is bound to an entry of the folder itself. */
function hasBound({ path, context }: Wanted): boolean {
  const { locks, starred, tags, visitors } = context
  if (locks.size + starred.size + tags.size + visitors.size === 0) return false
  const isHere = (bound: string) => parentOf(bound as LibraryPath) === path
  return [...locks.keys(), ...starred, ...tags.keys(), ...visitors].some(isHere)
}

/** Comma-separated entries: one string, or several buffers if there are many. */
async function itemTexts(entries: readonly Dirent[], write: (entry: Dirent) => string): Promise<Piece[]> {
  const pieces: Buffer[] = []
  let text = ''
  for (let at = 0; at < entries.length; at++) {
    text += at === 0 ? write(entries[at] as Dirent) : `,${write(entries[at] as Dirent)}`
    if ((at + 1) % ENTRIES_PER_SLICE !== 0) continue
    pieces.push(Buffer.from(text))
    text = ''
    await yieldToEventLoop()
  }
  return text === '' ? pieces : [...pieces, text]
}

function joined(pieces: readonly Piece[]): Piece {
  if (pieces.every((piece) => typeof piece === 'string')) return pieces.join('')
  return Buffer.concat(pieces.map(toBuffer))
}

function toBuffer(piece: Piece): Buffer {
  return typeof piece === 'string' ? Buffer.from(piece) : piece
}

/** The response of `/api/v2.1/` calls that create or rename a folder. */
export function folderInfoToWire(libraryId: LibraryId, { path, entry }: Placed) {
  return {
    type: 'dir',
    repo_id: libraryId,
    parent_dir: parentOf(path),
    obj_name: entry.name,
    obj_id: entry.id,
    mtime: isoTime(entry.mtime),
  }
}

/** A folder with the number and size of the files below it. */
export function folderDetailToWire(
  libraryId: LibraryId,
  folder: {
    path: LibraryPath
    name: string
    mtime: number
    permission: Permission
    size: number
    fileCount: number
  },
) {
  return {
    repo_id: libraryId,
    path: withSlash(folder.path),
    name: folder.name,
    mtime: isoTime(folder.mtime),
    permission: folder.permission,
    file_count: folder.fileCount,
    size: folder.size,
  }
}
