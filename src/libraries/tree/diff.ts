import { type Dir, type Dirent, type DirId, EMPTY_ID } from '../../base/objects/index.ts'
import { compareNames, joinPath, type LibraryPath, ROOT } from '../../base/paths/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import type { ObjectStore } from './object-store.ts'

// How often a loop over entries checks the clock.
const ENTRIES_PER_CLOCK_CHECK = 256

/** Two trees differ at more paths than can be listed. Shared dirs make the number of paths unbounded. */
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
 * The changes from one root to another, in time proportional to the folders that differ. An entry that was deleted at one
 * path and added at another with the same content is a rename. Throws TooManyChanges after `most` differences or compared
 * folders.
 *
 * `withFolders`: each folder with another mtime is modified, too, or contains a change that is listed. The folders above a
 * change are not listed, because the paths of all levels of a deep folder have a total length of the square of its depth.
 */
export async function diffTrees(
  objects: ObjectStore,
  libraryKey: number,
  before: DirId,
  after: DirId,
  { withFolders = false, most }: { withFolders?: boolean; most?: number | undefined } = {},
): Promise<Change[]> {
  const changes: Change[] = []
  const slicer = new TimeSlicer()
  let compared = 0
  const open: OpenFolder[] = before === after ? [] : [{ path: ROOT, before, after, change: undefined }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    compared += 1
    if (most !== undefined && Math.max(compared, changes.length) > most) throw new TooManyChanges()
    const oldDir = await objects.getDir(libraryKey, next.before)
    const newDir = await objects.getDir(libraryKey, next.after)
    const found = changes.length + open.length
    await diffDirs(next.path, oldDir.dir, newDir.dir, { changes, open, slicer, withFolders, most })
    const isEmpty = changes.length + open.length === found
    if (withFolders && isEmpty && next.change !== undefined) changes.push(next.change)
  }
  if (most !== undefined && changes.length > most) throw new TooManyChanges()
  return inOrder(changes, slicer)
}

/** A folder of both trees that is still to compare, and the change to list if nothing in it is listed. */
interface OpenFolder {
  readonly path: LibraryPath
  readonly before: DirId
  readonly after: DirId
  readonly change: Change | undefined
}

/** State of a walk through two trees: the changes found so far, and the folders still to compare. */
interface Walk {
  readonly changes: Change[]
  readonly open: OpenFolder[]
  readonly slicer: TimeSlicer
  readonly withFolders: boolean
  readonly most: number | undefined
}

async function diffDirs(path: LibraryPath, before: Dir, after: Dir, walk: Walk): Promise<void> {
  const { changes, slicer, most = Number.POSITIVE_INFINITY } = walk
  const olds = before.entries
  const news = after.entries
  let i = 0
  let j = 0
  while (i < olds.length || j < news.length) {
    if ((i + j) % ENTRIES_PER_CLOCK_CHECK === 0) {
      if (changes.length > most) throw new TooManyChanges()
      if (slicer.isDue) await slicer.rest()
    }
    const old = olds[i]
    const entry = news[j]
    // Unchanged dirents are usually the same JavaScript object.
    if (old !== undefined && old === entry) {
      i++
      j++
      continue
    }
    // Entries are in descending order of names.
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
    const change: Change = { op: 'modified', path, entry, before }
    if (before.id !== entry.id) open.push({ path, before: before.id, after: entry.id, change })
    else if (withFolders && before.mtime !== entry.mtime) changes.push(change)
  } else if (before.kind !== entry.kind) {
    changes.push({ op: 'deleted', path, entry: before }, { op: 'added', path, entry })
  } else if (!isSameFile(before, entry)) {
    changes.push({ op: 'modified', path, entry, before })
  }
}

/** Whether a file is unchanged: same content, mode and mtime. */
export function isSameFile(before: Dirent, entry: Dirent): boolean {
  return before.id === entry.id && before.mode === entry.mode && before.mtime === entry.mtime
}

/** Sorts changes by path and pairs deletions with additions as renames. */
export async function inOrder(changes: Change[], slicer = new TimeSlicer()): Promise<Change[]> {
  // Most edits delete nothing.
  if (!changes.some(({ op }) => op === 'deleted')) return changes.sort(byPath)
  // Sorted first, so that the pairing does not depend on the order in which changes were found.
  return pairRenames(
    changes.sort((a, b) => byPath(b, a)),
    slicer,
  )
}

/** Pairs each deletion with at most one addition of the same id. */
async function pairRenames(changes: readonly Change[], slicer: TimeSlicer): Promise<Change[]> {
  const deleted = new Map<string, Change[]>()
  const addedCounts = new Map<string, number>()
  for (const [index, change] of changes.entries()) {
    if (index % ENTRIES_PER_CLOCK_CHECK === 0 && slicer.isDue) await slicer.rest()
    const key = `${change.entry.kind}:${change.entry.id}`
    if (change.op === 'deleted') {
      const list = deleted.get(key)
      if (list === undefined) deleted.set(key, [change])
      else list.push(change)
    } else if (change.op === 'added') addedCounts.set(key, (addedCounts.get(key) ?? 0) + 1)
  }
  const paired = new Set<Change>()
  const result: Change[] = []
  for (const [index, change] of changes.entries()) {
    if (index % ENTRIES_PER_CLOCK_CHECK === 0 && slicer.isDue) await slicer.rest()
    if (change.op !== 'added') continue
    const key = `${change.entry.kind}:${change.entry.id}`
    const candidates = deleted.get(key)
    // All empty files and folders have one id, so they are paired only if there is one candidate on each side.
    const isAmbiguous =
      change.entry.id === EMPTY_ID && (candidates?.length !== 1 || addedCounts.get(key) !== 1)
    const from = isAmbiguous ? undefined : candidates?.pop()
    if (from === undefined) continue
    paired.add(from).add(change)
    result.push({ op: 'renamed', path: from.path, newPath: change.path, entry: change.entry })
  }
  const sorted = [...changes.filter((change) => !paired.has(change)), ...result].sort(byPath)
  if (slicer.isDue) await slicer.rest()
  return sorted
}

function byPath(a: Change, b: Change): number {
  return compareNames(a.path, b.path)
}
