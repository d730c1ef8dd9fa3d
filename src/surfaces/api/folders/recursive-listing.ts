import { Readable } from 'node:stream'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Dirent } from '../../../base/objects/index.ts'
import { joinPath, type LibraryPath, withSlash } from '../../../base/paths/index.ts'
import type { Library } from '../../../libraries/library/index.ts'
import { type StoredDir, shownDir } from '../../../libraries/tree/index.ts'
import { type HttpResponse, type ResponseHeaders, rawResponse } from '../../../platform/responses/index.ts'
import type { FoundFolder } from '../common/resolve-path.ts'
import { quoted, recursiveEntry } from './dirent-wire.ts'
import { ENTRIES_PER_SLICE, type Kinds } from './folder-listing.ts'
import { addModifiers, loadListingContext } from './listing-context.ts'
import type { FolderServices } from './services.ts'

interface Options {
  readonly kinds: Kinds
  /** Text before and after the entries. */
  readonly before: string
  readonly after: string
  readonly headers?: ResponseHeaders
}

/** A folder on the current path of the walk, and the next entry to send. */
interface Level {
  readonly path: LibraryPath
  /** As JSON text. */
  readonly shownPath: string
  readonly entries: readonly Dirent[]
  next: number
}

/**
 * Everything below a folder, depth first. Streamed during the walk: a tree made of copies of itself can
 * have more entries than fit in memory (I9).
 */
export function recursiveListing(
  services: FolderServices,
  library: Library,
  folder: FoundFolder,
  options: Options,
): HttpResponse {
  const text = walk(services, library, folder, options)
  return rawResponse({
    headers: { 'Content-Type': 'application/json; charset=utf-8', ...options.headers },
    body: Readable.from(text, { objectMode: false, highWaterMark: 2 ** 17 }),
  })
}

async function* walk(
  services: FolderServices,
  library: Library,
  folder: FoundFolder,
  { kinds, before, after }: Options,
): AsyncGenerator<string> {
  const context = await loadListingContext(services, library)
  const open = async (path: LibraryPath, shownPath: string, stored: StoredDir): Promise<Level> => {
    const shown = await shownDir(stored.dir)
    await addModifiers(services, context.modifiers, shown.modifiers)
    return { path, shownPath: quoted(shownPath), entries: shown.entries, next: 0 }
  }
  const levels = [await open(folder.path, withSlash(folder.path), folder.stored)]
  let text = before
  let separator = ''
  let count = 0
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const entry = level.entries[level.next++]
    if (entry === undefined) {
      levels.pop()
      continue
    }
    if (kinds === 'all' || (kinds === 'd') === (entry.kind === 'dir')) {
      text += separator + recursiveEntry(entry, level.path, level.shownPath, context)
      separator = ','
    }
    if (entry.kind === 'dir') {
      // Only the first level has a trailing slash. Clients rely on both forms.
      const path = joinPath(level.path, entry.name)
      levels.push(await open(path, path, await library.tree.dirOf(entry)))
    }
    if (++count % ENTRIES_PER_SLICE !== 0) continue
    if (text !== '') yield text
    text = ''
    await yieldToEventLoop()
  }
  yield text + after
}
