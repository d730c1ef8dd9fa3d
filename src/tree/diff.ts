import {
  compareNames,
  type Dir,
  type Dirent,
  type DirId,
  EMPTY_ID,
  joinPath,
  type LibraryPath,
  ROOT,
} from '../objects/index.ts'
import { TimeSlicer } from '../scheduling/index.ts'
import type { ObjectStore } from './object-store.ts'

// How often a loop over entries looks at the clock.
const ENTRIES_A_LOOK = 256

/** Two trees differ in more than can be listed. Trees that share dirs may differ in any number of paths. */
export class TooManyChanges extends Error {
  override name = 'TooManyChanges'
}

/** One difference between two trees. An added or deleted folder is one change; its content is not listed. */
export type Change =
  | { readonly op: 'added'; readonly path: LibraryPath; readonly entry: Dirent }
  | { readonly op: 'deleted'; readonly path: LibraryPath; readonly entry: Dirent }
  | { readonly op: 'modified'; readonly path: LibraryPath; readonly entry: Dirent; readonly before: Dirent }
  | {
      readonly op: 'renamed'
      readonly path: LibraryPath
      readonly newPath: LibraryPath
      readonly entry: Dirent
    }

/**
 * What changed from one root to another, in time proportional to the folders that differ. An
 * entry that vanished in one place and appeared in another with the same content is a rename. `withFolders`: a
 * folder that stayed and has another time now is modified, too. Throws TooManyChanges past `most` differences, or
 * folders compared.
 */
export async function diffTrees(
  objects: ObjectStore,
  libraryKey: number,
  before: DirId,
  after: DirId,
  { withFolders = false, most }: { withFolders?: boolean; most?: number | undefined } = {},
): Promise<Change[]> {
  const changes: Change[] = []
  const pace = new TimeSlicer()
  let compared = 0
  const open: [path: LibraryPath, before: DirId, after: DirId][] = [[ROOT, before, after]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [path, oldId, newId] = next
    if (oldId === newId) continue
    compared += 1
    if (most !== undefined && Math.max(compared, changes.length) > most) throw new TooManyChanges()
    const oldDir = await objects.getDir(libraryKey, oldId)
    const newDir = await objects.getDir(libraryKey, newId)
    await diffDirs(path, oldDir.dir, newDir.dir, { changes, open, pace, withFolders })
  }
  return inOrder(changes, pace)
}

/** What a walk through two trees has found, and has still to look at. */
interface Walk {
  readonly changes: Change[]
  readonly open: [path: LibraryPath, before: DirId, after: DirId][]
  readonly pace: TimeSlicer
  readonly withFolders: boolean
}

async function diffDirs(path: LibraryPath, before: Dir, after: Dir, walk: Walk): Promise<void> {
  const { changes, pace } = walk
  const olds = before.entries
  const news = after.entries
  let i = 0
  let j = 0
  while (i < olds.length || j < news.length) {
    if ((i + j) % ENTRIES_A_LOOK === 0 && pace.isDue) await pace.rest()
    const old = olds[i]
    const entry = news[j]
    // Dirents that did not change are usually the very same value.
    if (old !== undefined && old === entry) {
      i++
      j++
      continue
    }
    // Entries are in descending order of their names.
    const order = old === undefined ? -1 : entry === undefined ? 1 : compareNames(old.name, entry.name)
    if (order > 0 && old !== undefined) {
      changes.push({ op: 'deleted', path: joinPath(path, old.name), entry: old })
      i++
    } else if (order < 0 && entry !== undefined) {
      changes.push({ op: 'added', path: joinPath(path, entry.name), entry })
      j++
    } else if (old !== undefined && entry !== undefined) {
      compareEntries(joinPath(path, entry.name), old, entry, walk)
      i++
      j++
    }
  }
}

function compareEntries(
  path: LibraryPath,
  before: Dirent,
  entry: Dirent,
  { changes, open, withFolders }: Walk,
): void {
  if (before.kind === 'dir' && entry.kind === 'dir') {
    open.push([path, before.id, entry.id])
    if (withFolders && before.mtime !== entry.mtime) changes.push({ op: 'modified', path, entry, before })
  } else if (before.kind !== entry.kind) {
    changes.push({ op: 'deleted', path, entry: before }, { op: 'added', path, entry })
  } else if (!isSameFile(before, entry)) {
    changes.push({ op: 'modified', path, entry, before })
  }
}

/** Whether a file is as it was: a name of the same content, mode and time. */
export function isSameFile(before: Dirent, entry: Dirent): boolean {
  return before.id === entry.id && before.mode === entry.mode && before.mtime === entry.mtime
}

/** Changes by path, with what was deleted in one place and added in another as what was renamed. */
export async function inOrder(changes: Change[], pace = new TimeSlicer()): Promise<Change[]> {
  // Most edits take nothing away.
  if (!changes.some(({ op }) => op === 'deleted')) return changes.sort(byPath)
  // Of several that could be paired the same are, in whatever order they were found.
  return pairRenames(
    changes.sort((a, b) => byPath(b, a)),
    pace,
  )
}

/** Pairs what was deleted with what was added under the same id, each at most once. */
async function pairRenames(changes: readonly Change[], pace: TimeSlicer): Promise<Change[]> {
  const gone = new Map<string, Change[]>()
  const came = new Map<string, number>()
  for (const [index, change] of changes.entries()) {
    if (index % ENTRIES_A_LOOK === 0 && pace.isDue) await pace.rest()
    const key = `${change.entry.kind}:${change.entry.id}`
    if (change.op === 'deleted') {
      const list = gone.get(key)
      if (list === undefined) gone.set(key, [change])
      else list.push(change)
    } else if (change.op === 'added') came.set(key, (came.get(key) ?? 0) + 1)
  }
  const paired = new Set<Change>()
  const result: Change[] = []
  for (const [index, change] of changes.entries()) {
    if (index % ENTRIES_A_LOOK === 0 && pace.isDue) await pace.rest()
    if (change.op !== 'added') continue
    const key = `${change.entry.kind}:${change.entry.id}`
    const candidates = gone.get(key)
    // Empty files and folders are all alike: they pair only if there is nothing to choose between.
    const unclear = change.entry.id === EMPTY_ID && (candidates?.length !== 1 || came.get(key) !== 1)
    const from = unclear ? undefined : candidates?.pop()
    if (from === undefined) continue
    paired.add(from).add(change)
    result.push({ op: 'renamed', path: from.path, newPath: change.path, entry: change.entry })
  }
  const sorted = [...changes.filter((change) => !paired.has(change)), ...result].sort(byPath)
  if (pace.isDue) await pace.rest()
  return sorted
}

function byPath(a: Change, b: Change): number {
  return compareNames(a.path, b.path)
}
