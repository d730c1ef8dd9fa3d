import { type LibraryPath, ROOT, seenFrom } from '../../base/paths/index.ts'
import type { LibraryCore } from '../../libraries/library/index.ts'
import { baseOf, type LibraryInfo } from '../../libraries/registry/index.ts'
import { Tree } from '../../libraries/tree/index.ts'
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
export function seenInFolder(
  core: LibraryCore,
  library: LibraryInfo,
  event: LibraryLiveEvent,
): Promise<SeenEvent | undefined> {
  const key = `${library.sub?.key} ${library.sub?.sinceSeq}`
  const results = known.get(event) ?? new Map<string, Promise<SeenEvent | undefined>>()
  known.set(event, results)
  const seen = results.get(key) ?? lookInFolder(core, library, event)
  results.set(key, seen)
  return seen
}

async function lookInFolder(
  core: LibraryCore,
  library: LibraryInfo,
  event: LibraryLiveEvent,
): Promise<SeenEvent | undefined> {
  const { seq } = event
  const sinceSeq = library.sub?.sinceSeq
  // Events of earlier versions have no number, so the path of the folder at that time is unknown.
  if (seq === undefined || sinceSeq === undefined || seq < sinceSeq) return undefined
  const folder = seq >= library.headSeq ? baseOf(library) : await core.history.folderAsOf(library, seq)
  if (folder === undefined) return undefined
  if (event.kind !== 'commit') {
    const path = seenFrom(folder, event.path)
    return path === undefined || path === ROOT ? undefined : { path }
  }
  if (seq === sinceSeq || event.rootBefore === undefined) return undefined
  const before = await new Tree(core.objects, library.key, event.rootBefore).find(folder)
  const after = await new Tree(core.objects, library.key, event.root).find(folder)
  return after === undefined || before?.id === after.id ? undefined : { path: undefined }
}
