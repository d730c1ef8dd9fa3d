import { setImmediate as nextTurn } from 'node:timers/promises'
import { type HttpResponse, jsonTextResponse, type ResponseHeaders } from '../../http/index.ts'
import type { Library } from '../../library/index.ts'
import {
  type Dirent,
  joinPath,
  type LibraryPath,
  parentOf,
  ROOT,
  segmentsOf,
  withSlash,
} from '../../objects/index.ts'
import { type ShownDir, type StoredDir, shownDir } from '../../tree/index.ts'
import type { FoundFolder } from '../common/resolve-path.ts'
import { thumbnailSrc } from '../files/thumbnail-url.ts'
import type { ApiServices } from '../services.ts'
import { type Around, newerEntry, olderEntry, quoted } from './dirent-wire.ts'
import { ListingCache } from './listing-cache.ts'
import { addModifiers, surroundings } from './listing-context.ts'

/** Files only, folders only, or both. */
export type Kinds = 'f' | 'd' | 'all'

/** About a millisecond's work; other requests get their turn in between (I10). */
export const ENTRIES_A_TURN = 2000

/** An `/api2/` listing: a bare array, the folder's id in a header. */
export async function olderListing(
  services: ApiServices,
  library: Library,
  { path, stored }: FoundFolder,
  kinds: Kinds = 'all',
): Promise<HttpResponse> {
  const shown = await shownDir(stored.dir)
  const around = await surroundings(services, library, shown.modifiers)
  // Nothing but the folder's content is in these entries: its path does not matter.
  const items = await itemsOf({ form: 'older', path, stored, shown, kinds, around }, (entry) =>
    olderEntry(entry, path, around),
  )
  return jsonTextResponse(joined(['[', ...items, ']']), { headers: olderHeaders(library, path, stored) })
}

/** The listing of a folder as it is after a change, for callers that asked for it. */
export async function reloaded(
  services: ApiServices,
  library: Library,
  path: LibraryPath,
): Promise<HttpResponse> {
  return olderListing(services, library, { path, stored: await library.tree.getDir(path) })
}

export function olderHeaders(library: Library, path: LibraryPath, { dir }: StoredDir): ResponseHeaders {
  return { oid: dir.id, dir_perm: library.permissionAt(path) }
}

interface NewerOptions {
  readonly kinds: Kinds
  readonly withParents: boolean
  /** In pixels; undefined to leave them out. */
  readonly thumbnailSize: number | undefined
}

/** A `/api/v2.1/` listing, with every level above the folder first if asked for. */
export async function newerListing(
  services: ApiServices,
  library: Library,
  folder: FoundFolder,
  { kinds, withParents, thumbnailSize }: NewerOptions,
): Promise<HttpResponse> {
  const thumbnails = library.info.encryption === undefined ? thumbnailSize : undefined
  const around = await surroundings(services, library)
  const pieces: Piece[] = []
  for (const { path, stored } of withParents ? await levelsTo(library, folder) : [folder]) {
    const shown = await shownDir(stored.dir)
    await addModifiers(services, around.modifiers, shown.modifiers)
    const parent = quoted(withSlash(path))
    const form = `newer ${path}${thumbnails === undefined ? '' : ` ${thumbnails} ${library.info.id}`}`
    const items = await itemsOf({ form, path, stored, shown, kinds, around }, (entry) => {
      const text = newerEntry(entry, path, parent, around)
      return thumbnails === undefined ? text : withThumbnail(text, library, path, entry, thumbnails)
    })
    if (items.length > 0) pieces.push(pieces.length > 0 ? ',' : '', ...items)
  }
  const { path, stored } = folder
  const start = `{"user_perm":"${library.permissionAt(path)}","dir_id":"${stored.dir.id}","dirent_list":[`
  return jsonTextResponse(joined([start, ...pieces, ']}']))
}

/** The text of an entry with where its thumbnail is, if it can have one; those are made when they are fetched. */
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

/** The folders from the root down to one. */
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
  /** All that the text of an entry depends on besides the folder's content and the people. */
  readonly form: string
  readonly path: LibraryPath
  readonly stored: StoredDir
  readonly shown: ShownDir
  readonly kinds: Kinds
  readonly around: Around
}

const CACHE_BYTES = 32 * 2 ** 20
const cache = new ListingCache(CACHE_BYTES)

/** The entries of a folder with commas between them, from the cache unless one is locked or starred. */
async function itemsOf(wanted: Wanted, write: (entry: Dirent) => string): Promise<Piece[]> {
  const { shown, kinds, around } = wanted
  if (hasBound(wanted)) return itemTexts(pick(shown, kinds), write)
  const key = `${wanted.stored.dir.id} ${kinds} ${around.permission} ${wanted.form}`
  const people = shown.modifiers.map((email) => around.modifiers.get(email)).join()
  const kept = cache.find(key, people)
  if (kept !== undefined) return [kept]
  const items = await itemTexts(pick(shown, kinds), write)
  const bytes = items.reduce((sum, piece) => sum + piece.length, 0)
  if (bytes === 0 || !cache.takes(bytes)) return items
  const text = Buffer.concat(items.map(toBuffer))
  cache.put(key, people, text)
  return [text]
}

/** Whether a lock or star is bound to an entry of the folder itself. */
function hasBound({ path, around }: Wanted): boolean {
  if (around.locks.size === 0 && around.starred.size === 0) return false
  const isHere = (bound: string) => parentOf(bound as LibraryPath) === path
  return [...around.locks.keys()].some(isHere) || [...around.starred].some(isHere)
}

/** Entries with commas between them: one text, or bytes in pieces if there are many. None for none. */
async function itemTexts(entries: readonly Dirent[], write: (entry: Dirent) => string): Promise<Piece[]> {
  const pieces: Buffer[] = []
  let text = ''
  for (let at = 0; at < entries.length; at++) {
    text += at === 0 ? write(entries[at] as Dirent) : `,${write(entries[at] as Dirent)}`
    if ((at + 1) % ENTRIES_A_TURN !== 0) continue
    pieces.push(Buffer.from(text))
    text = ''
    await nextTurn()
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
