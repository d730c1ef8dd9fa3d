import type { Readable } from '../access/index.ts'
import type { LibraryCore } from '../library/index.ts'
import { type LibraryId, type LibraryPath, ROOT, withSlash } from '../objects/index.ts'
import type { Activity } from './activity-row.ts'

/** An activity as one account sees it: the library under the id and name it has for that account, paths from its root. */
export interface FeedItem extends Activity {
  readonly libraryId: LibraryId
  readonly libraryName: string
}

/**
 * A way an account sees a library: all of it; or a folder, at the path it had during some commits. The path may have
 * been another folder's before, and the folder may have been elsewhere.
 */
export interface View {
  readonly readable: Readable
  readonly base: LibraryPath
  /** The commits whose activities it shows; undefined for all, and for what no commit tells. */
  readonly commits: { readonly from: number; readonly to: number } | undefined
}

// A folder that was moved more often shows what happened since the earliest of these moves.
const MOST_STAYS = 20

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

/** What each of them shows of the past: a shared folder nothing from before it was shared. */
export async function pastViews(core: LibraryCore, readables: readonly Readable[]): Promise<View[]> {
  const views: View[] = []
  for (const readable of readables) {
    const { base, folder } = readable
    if (base === ROOT) views.push({ readable, base, commits: undefined })
    else if (folder !== undefined) {
      for (const { path, ...commits } of await core.history.folderStays(folder, MOST_STAYS)) {
        views.push({ readable, base: path, commits })
      }
    }
  }
  return views
}

/** An activity as it looks through what is readable; nothing if it is not below any of it. `seq` is that of its commit. */
export function seenThrough(
  views: readonly View[],
  activity: Activity & { readonly seq: number | undefined },
): FeedItem | undefined {
  for (const { readable, base, commits } of views) {
    if (!isAmong(activity.seq, commits)) continue
    const seen = base === ROOT ? activity : within(base, activity)
    if (seen !== undefined) return { ...seen, libraryId: readable.id, libraryName: readable.name }
  }
  return undefined
}

function isAmong(seq: number | undefined, commits: View['commits']): boolean {
  return commits === undefined || (seq !== undefined && seq >= commits.from && seq <= commits.to)
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
