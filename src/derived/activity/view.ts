import type { LibraryId } from '../../base/objects/index.ts'
import { type LibraryPath, ROOT, withSlash } from '../../base/paths/index.ts'
import type { Access, Readable } from '../../sharing/access/index.ts'
import type { Activity } from './activity-row.ts'

/**
 * An activity as one account sees it: with the id and name of its library or sub-library, and paths from that
 * root.
 */
export interface FeedItem extends Activity {
  readonly libraryId: LibraryId
  readonly libraryName: string
}

/**
 * What an account sees of a library: all of it, or a folder at the path it had during some commits. Before
 * and after, the path may belong to another folder, and the folder to another path.
 */
export interface View {
  readonly readable: Readable
  readonly base: LibraryPath
  /** The commits whose activities it shows; undefined for all, including activities without a commit. */
  readonly commits: { readonly from: number; readonly to: number } | undefined
}

// For a folder that was moved more often, only the time since the earliest of these moves is shown.
const MAX_STAYS = 20

/**
 * The readable parts of each library: the whole of it, or folders, outermost first. A folder within another
 * one of them is omitted.
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

/** The visible past of each: a shared folder shows nothing from before it was shared. */
export async function pastViews(access: Access, readables: readonly Readable[]): Promise<View[]> {
  const views: View[] = []
  for (const readable of readables) {
    if (readable.base === ROOT) views.push({ readable, base: ROOT, commits: undefined })
    for (const { path, ...commits } of await access.stays(readable, MAX_STAYS)) {
      views.push({ readable, base: path, commits })
    }
  }
  return views
}

/**
 * An activity as seen through the readable parts; undefined if it is outside of all. `seq` is the number of
 * its commit.
 */
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

/**
 * A move across the boundary of a folder becomes an addition or deletion on this side. Changes that are only counted may be outside of the folder, so
 * their number is left out.
 */
function within(base: LibraryPath, { unlisted: _unlisted, ...activity }: Activity): Activity | undefined {
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
