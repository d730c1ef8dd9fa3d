import { type LibraryPath, ROOT, seenFrom } from '../../base/paths/index.ts'
import type { Library } from '../../libraries/library/index.ts'
import { baseOf } from '../../libraries/registry/index.ts'
import type { LibraryLiveEvent } from './hub.ts'

/** An event as seen in a library: the path there, if it has one. */
interface SeenEvent {
  readonly path: LibraryPath | undefined
}

/** Events are immutable, and many accounts may watch one shared folder, so results are cached. */
const known = new WeakMap<LibraryLiveEvent, Map<string, Promise<SeenEvent | undefined>>>()

/**
 * An event of a library as seen in a sub-library. Undefined for events outside the folder, from before it was
 * shared, or of another folder that had its path at the time.
 */
export function seenInFolder(library: Library, event: LibraryLiveEvent): Promise<SeenEvent | undefined> {
  const { sub } = library.info
  const key = `${sub?.key} ${sub?.sinceSeq}`
  const results = known.get(event) ?? new Map<string, Promise<SeenEvent | undefined>>()
  known.set(event, results)
  const seen = results.get(key) ?? lookInFolder(library, event)
  results.set(key, seen)
  return seen
}

async function lookInFolder(
  { info, history, content }: Library,
  event: LibraryLiveEvent,
): Promise<SeenEvent | undefined> {
  const { seq } = event
  const sinceSeq = info.sub?.sinceSeq
  // Events of earlier versions have no number, so the path of the folder at that time is unknown.
  if (seq === undefined || sinceSeq === undefined || seq < sinceSeq) return undefined
  const folder = seq >= info.headSeq ? baseOf(info) : await history.folderAsOf(seq)
  if (folder === undefined) return undefined
  if (event.kind !== 'commit') {
    const path = seenFrom(folder, event.path)
    return path === undefined || path === ROOT ? undefined : { path }
  }
  if (seq === sinceSeq || event.rootBefore === undefined) return undefined
  const before = await content.tree(event.rootBefore).find(folder)
  const after = await content.tree(event.root).find(folder)
  return after === undefined || before?.id === after.id ? undefined : { path: undefined }
}
