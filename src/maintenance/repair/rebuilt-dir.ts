import {
  Dir,
  type DirDirent,
  type Dirent,
  type DirId,
  dirDirent,
  EMPTY_ID,
  type FileId,
  fileDirent,
} from '../../base/objects/index.ts'
import type { LibraryPath } from '../../base/paths/index.ts'
import { commitRows } from '../../libraries/commits/index.ts'
import { oldestShown } from '../../libraries/history/index.ts'
import type { LibraryInfo } from '../../libraries/registry/index.ts'
import {
  type PreparedObject,
  prepareWholeDir,
  storedObjects,
  type Totals,
} from '../../libraries/tree/index.ts'
import { findWholeDir, olderFolders } from './older-folder.ts'
import type { IndexedName, RepairParts } from './repair-parts.ts'

const COMMITS_PER_STEP = 250
/** Accounts that are tried as the modifier of all files that are new. */
const MAX_AUTHORS = 50
/** Older versions of the folder that unchanged entries are taken from. */
const MAX_OLDER = 5

/**
 * A lost dir of the current tree, rebuilt from the search index, which has the names, ids, sizes and times. What it lacks, as the modifier of a file, comes from
 * older versions of the folder or from the author of the commit at that time. Only a result that hashes to the lost id counts.
 */
export async function rebuildDir(
  parts: RepairParts,
  library: LibraryInfo,
  path: LibraryPath,
  lost: DirId,
): Promise<PreparedObject | undefined> {
  const names = await parts.indexedEntries(library, path)
  if (names === undefined || names.length === 0) return undefined
  const older = await olderEntries(parts, library, path, lost)
  const authors = await authorsByTime(parts, library)
  const everyone = [...new Set(authors.values())].slice(0, MAX_AUTHORS)
  const guesses = [
    (name: IndexedName) => authors.get(name.mtime) ?? library.modifier,
    ...everyone.map((author) => () => author),
  ]
  for (const modifierOf of guesses) {
    const dir = Dir.of(names.map((name) => direntOf(name, older.get(name.name), modifierOf(name))))
    if (dir.id === lost) return prepare(parts, library.key, dir)
  }
  return undefined
}

function direntOf(name: IndexedName, older: Dirent | undefined, modifier: string): Dirent {
  const { objectId, mtime, size } = name
  if (name.isDir) {
    // The index does not follow the id and the time of a folder.
    if (older?.kind === 'dir') return older
    return dirDirent({ id: objectId as DirId, name: name.name, mtime })
  }
  if (older?.kind === 'file' && older.id === objectId && older.mtime === mtime) return older
  return fileDirent({ id: objectId as FileId, name: name.name, mtime, size, modifier })
}

/** Entries of older versions of the folder by name, the newest of each. */
async function olderEntries(
  parts: RepairParts,
  library: LibraryInfo,
  path: LibraryPath,
  lost: DirId,
): Promise<Map<string, Dirent>> {
  const found = new Map<string, Dirent>()
  let versions = 0
  for await (const { id } of olderFolders(parts, library, path, lost)) {
    const dir = await findWholeDir(parts, library.key, id)
    for (const entry of dir?.entries ?? []) if (!found.has(entry.name)) found.set(entry.name, entry)
    versions += 1
    if (versions === MAX_OLDER) break
  }
  return found
}

/** The authors of the kept commits by their time, which is the time of the files they added. */
async function authorsByTime({ db, core }: RepairParts, library: LibraryInfo): Promise<Map<number, string>> {
  const { now, defaultHistoryDays } = core
  const oldest = await oldestShown({ db, now, defaultHistoryDays }, library)
  const authors = new Map<number, string>()
  for (let from = library.headSeq; from >= oldest; from -= COMMITS_PER_STEP) {
    const to = Math.max(oldest, from - COMMITS_PER_STEP + 1)
    for (const { ctime, creatorName } of await commitRows.listDown(db, library, from, to)) {
      if (creatorName !== undefined && !authors.has(ctime)) authors.set(ctime, creatorName)
    }
  }
  return authors
}

async function prepare(
  { db }: RepairParts,
  libraryKey: number,
  dir: Dir,
): Promise<PreparedObject | undefined> {
  const dirs = dir.entries.filter((entry): entry is DirDirent => entry.kind === 'dir')
  const below = await storedObjects.findTotals(
    db,
    libraryKey,
    dirs.map(({ id }) => id),
  )
  let totals: Required<Totals> = { size: 0, fileCount: 0, dirCount: dirs.length }
  for (const entry of dir.entries) {
    const more =
      entry.kind === 'file'
        ? { size: entry.size, fileCount: 1, dirCount: 0 }
        : entry.id === EMPTY_ID
          ? { size: 0, fileCount: 0, dirCount: 0 }
          : below.get(entry.id)
    // A folder below is lost as well: its sums are unknown, so those of this one would be wrong.
    if (more === undefined) return undefined
    totals = {
      size: totals.size + more.size,
      fileCount: totals.fileCount + more.fileCount,
      dirCount:
        totals.dirCount === undefined || more.dirCount === undefined
          ? undefined
          : totals.dirCount + more.dirCount,
    }
  }
  const slices = prepareWholeDir({ dir, ...totals, depth: 0 })
  for (let step = slices.next(); ; step = slices.next()) if (step.done === true) return step.value
}
