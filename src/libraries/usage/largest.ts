import type { Dir, DirDirent, Dirent } from '../../base/objects/index.ts'
import { joinPath, type LibraryPath } from '../../base/paths/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import type { Reader } from '../../platform/database/index.ts'
import type { Library } from '../library/index.ts'
import { type StoredDir, storedObjects } from '../tree/index.ts'

/** Folders of one folder whose sizes are read. */
const MAX_FOLDERS = 20_000
/** Folders that are opened to find the largest files below a folder, and entries that are compared. */
const MAX_OPENED = 500
const MAX_COMPARED = 500_000

/** A file or folder with what is below it. */
interface SizedEntry {
  readonly path: LibraryPath
  readonly entry: Dirent
  readonly size: number
  /** 1 for a file. */
  readonly fileCount: number
}

/** The largest entries, largest first. */
export interface Largest {
  readonly entries: readonly SizedEntry[]
  /** Whether none can be larger. False if there were more folders than one request looks at. */
  readonly isComplete: boolean
}

/** The largest files and folders in a folder. The size of a folder is stored with it, so nothing below is read. */
export async function largestIn(
  reader: Reader,
  library: Library,
  { path, dir }: { readonly path: LibraryPath; readonly dir: Dir },
  limit: number,
): Promise<Largest> {
  const slicer = new TimeSlicer()
  const largest = new Top<SizedEntry>(limit)
  const folders: DirDirent[] = []
  let isComplete = true
  for (const entry of dir.entries) {
    if (slicer.isDue) await slicer.rest()
    if (entry.kind === 'file') largest.add(entry.size, () => sized(path, entry, entry.size, 1))
    else if (folders.length < MAX_FOLDERS) folders.push(entry)
    else isComplete = false
  }
  const totals = await totalsOf(reader, library, folders)
  for (const entry of folders) {
    if (slicer.isDue) await slicer.rest()
    const { size = 0, fileCount = 0 } = totals.get(entry.id) ?? {}
    largest.add(size, () => sized(path, entry, size, fileCount))
  }
  return { entries: largest.sorted(), isComplete }
}

/**
 * The largest files anywhere below a folder. The largest folder is opened first, and one that is smaller than the files that were found is not opened at all:
 * a file is not larger than its folder.
 */
export async function largestFilesBelow(
  reader: Reader,
  library: Library,
  { path, stored }: { readonly path: LibraryPath; readonly stored: StoredDir },
  limit: number,
): Promise<Largest> {
  const slicer = new TimeSlicer()
  const largest = new Top<SizedEntry>(limit)
  const waiting: { path: LibraryPath; size: number; dir: DirDirent | undefined }[] = [
    { path, size: stored.size, dir: undefined },
  ]
  let compared = 0
  for (let opened = 0; ; opened++) {
    if (slicer.isDue) await slicer.rest()
    const next = takeLargest(waiting)
    if (next === undefined || next.size <= largest.least)
      return { entries: largest.sorted(), isComplete: true }
    if (opened >= MAX_OPENED || compared >= MAX_COMPARED)
      return { entries: largest.sorted(), isComplete: false }
    const { dir } = next.dir === undefined ? stored : await library.tree.dirOf(next.dir)
    const folders: DirDirent[] = []
    compared += dir.size
    for (const entry of dir.entries) {
      if (slicer.isDue) await slicer.rest()
      if (entry.kind === 'dir') folders.push(entry)
      else largest.add(entry.size, () => sized(next.path, entry, entry.size, 1))
    }
    if (folders.length > MAX_FOLDERS) return { entries: largest.sorted(), isComplete: false }
    const totals = await totalsOf(reader, library, folders)
    for (const entry of folders) {
      if (slicer.isDue) await slicer.rest()
      const { size = 0 } = totals.get(entry.id) ?? {}
      if (size > largest.least) waiting.push({ path: joinPath(next.path, entry.name), size, dir: entry })
    }
  }
}

/** An empty dir has no row. */
function totalsOf(reader: Reader, { info }: Library, folders: readonly DirDirent[]) {
  const ids = [...new Set(folders.map(({ id }) => id))]
  return storedObjects.findTotals(reader, info.key, ids)
}

function sized(parent: LibraryPath, entry: Dirent, size: number, fileCount: number): SizedEntry {
  return { path: joinPath(parent, entry.name), entry, size, fileCount }
}

function takeLargest<T extends { readonly size: number }>(waiting: T[]): T | undefined {
  let at = 0
  for (let index = 1; index < waiting.length; index++) {
    if ((waiting[index] as T).size > (waiting[at] as T).size) at = index
  }
  return waiting.splice(at, 1)[0]
}

/** The values with the greatest sizes, in memory for a few times as many. */
class Top<T> {
  readonly #limit: number
  #kept: { size: number; value: T }[] = []
  /** Nothing of this size or a smaller one is kept any more. */
  least = -1

  constructor(limit: number) {
    this.#limit = limit
  }

  add(size: number, value: () => T): void {
    if (size <= this.least) return
    this.#kept.push({ size, value: value() })
    if (this.#kept.length >= 4 * this.#limit) this.#cut()
  }

  sorted(): T[] {
    this.#cut()
    return this.#kept.map(({ value }) => value)
  }

  #cut(): void {
    this.#kept = this.#kept.toSorted((a, b) => b.size - a.size).slice(0, this.#limit)
    if (this.#kept.length === this.#limit) this.least = this.#kept.at(-1)?.size ?? -1
  }
}
