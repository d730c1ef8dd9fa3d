import type { Readable } from '../access/readable.ts'
import type { LibraryId } from '../objects/ids.ts'
import { type LibraryPath, ROOT, withSlash } from '../objects/paths.ts'
import type { Activity } from './activity-row.ts'

/** An activity as one account sees it: the library under the id and name it has for that account, paths from its root. */
export interface FeedItem extends Activity {
  readonly libraryId: LibraryId
  readonly libraryName: string
}

/**
 * How the account reaches each library: the whole of it, or the folders it may read, outermost first. A folder
 * within another one of them shows nothing more.
 */
export function viewsOf(readables: readonly Readable[]): Map<number, Readable[]> {
  const views = new Map<number, Readable[]>()
  const outermostFirst = readables.toSorted((a, b) => a.base.length - b.base.length)
  for (const readable of outermostFirst) {
    const known = views.get(readable.libraryKey)
    if (known === undefined) views.set(readable.libraryKey, [readable])
    else if (!known.some(({ base }) => isBelowOrAt(readable.base, base))) known.push(readable)
  }
  return views
}

/** An activity as it looks through what is readable; nothing if it is not below any of it. */
export function seenThrough(views: readonly Readable[], activity: Activity): FeedItem | undefined {
  for (const view of views) {
    const seen = view.base === ROOT ? activity : within(view.base, activity)
    if (seen !== undefined) return { ...seen, libraryId: view.id, libraryName: view.name }
  }
  return undefined
}

/** What is told of a move across the border of a folder is what happened on this side of it. */
function within(base: LibraryPath, activity: Activity): Activity | undefined {
  const path = relative(base, activity.path)
  const oldPath = activity.oldPath && relative(base, activity.oldPath)
  if (path !== undefined) {
    const cameIn = activity.oldPath !== undefined && oldPath === undefined
    return { ...activity, path, oldPath, ...(cameIn && { op: 'create' }) }
  }
  return oldPath && { ...activity, path: oldPath, oldPath: undefined, op: 'delete' }
}

function relative(base: LibraryPath, path: LibraryPath): LibraryPath | undefined {
  return path.startsWith(withSlash(base)) ? (path.slice(base.length) as LibraryPath) : undefined
}

function isBelowOrAt(path: LibraryPath, base: LibraryPath): boolean {
  return path === base || path.startsWith(withSlash(base))
}
