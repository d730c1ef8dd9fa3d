import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Dir, Dirent } from '../../base/objects/index.ts'
import { compareNames, comparesNatively } from '../../base/paths/index.ts'

/** The entries of a dir in display order: folders, then files, each by lower-cased name. */
export interface ShownDir {
  readonly entries: readonly Dirent[]
  /** Number of folders. */
  readonly folders: number
  /** The distinct modifiers of its files. */
  readonly modifiers: readonly string[]
}

interface Keyed {
  readonly key: string
  readonly entry: Dirent
}

type Order = (a: Keyed, b: Keyed) => number

// Sorting one run takes about a millisecond. Longer lists are sorted in several turns of the event loop (I10).
const RUN_LENGTH = 2048
const MERGED_PER_TURN = 8192

// Cache of sorted dirs. Dirs are immutable, so it is never invalidated. An entry is collected with its dir.
const sortedDirs = new WeakMap<Dir, ShownDir | Promise<ShownDir>>()

/** Not a promise for a dir that is small or already sorted. */
export function shownDir(dir: Dir): ShownDir | Promise<ShownDir> {
  const found = sortedDirs.get(dir)
  if (found !== undefined) return found
  if (dir.size <= RUN_LENGTH) {
    const { folders, files } = split(dir.entries.map(keyed))
    const order = orderOf(dir.entries)
    const shown = toShown(folders.sort(order), files.sort(order))
    sortedDirs.set(dir, shown)
    return shown
  }
  const sorting = sortInTurns(dir)
  sortedDirs.set(dir, sorting)
  return sorting
}

async function sortInTurns(dir: Dir): Promise<ShownDir> {
  const folderRuns: Keyed[][] = []
  const fileRuns: Keyed[][] = []
  const order = orderOf(dir.entries)
  for (let start = 0; start < dir.size; start += RUN_LENGTH) {
    const { folders, files } = split(dir.entries.slice(start, start + RUN_LENGTH).map(keyed))
    folderRuns.push(folders.sort(order))
    fileRuns.push(files.sort(order))
    await nextTurn()
  }
  const shown = toShown(await mergeAll(folderRuns, order), await mergeAll(fileRuns, order))
  sortedDirs.set(dir, shown)
  return shown
}

async function mergeAll(runs: Keyed[][], order: Order): Promise<Keyed[]> {
  let open = runs
  while (open.length > 1) {
    const merged: Keyed[][] = []
    for (let at = 0; at < open.length; at += 2) {
      merged.push(await merge(open[at] ?? [], open[at + 1] ?? [], order))
    }
    open = merged
  }
  return open[0] ?? []
}

async function merge(a: Keyed[], b: Keyed[], order: Order): Promise<Keyed[]> {
  if (a.length === 0 || b.length === 0) return a.length === 0 ? b : a
  const merged: Keyed[] = []
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    const left = a[i]
    const right = b[j]
    if (right === undefined || (left !== undefined && order(left, right) <= 0)) {
      merged.push(left as Keyed)
      i++
    } else {
      merged.push(right)
      j++
    }
    if (merged.length % MERGED_PER_TURN === 0) await nextTurn()
  }
  return merged
}

function keyed(entry: Dirent): Keyed {
  return { key: entry.name.toLowerCase(), entry }
}

function split(all: readonly Keyed[]): { folders: Keyed[]; files: Keyed[] } {
  const folders: Keyed[] = []
  const files: Keyed[] = []
  // Stored order is descending. Reversed, it is nearly sorted.
  for (let at = all.length - 1; at >= 0; at--) {
    const one = all[at] as Keyed
    if (one.entry.kind === 'dir') folders.push(one)
    else files.push(one)
  }
  return { folders, files }
}

function orderOf(entries: readonly Dirent[]): Order {
  return entries.every(({ name }) => comparesNatively(name)) ? natively : byCodePoints
}

// The lower-cased form of a name that compares natively also compares natively.
const natively: Order = (a, b) => {
  if (a.key !== b.key) return a.key < b.key ? -1 : 1
  return a.entry.name < b.entry.name ? -1 : 1
}

const byCodePoints: Order = (a, b) => compareNames(a.key, b.key) || compareNames(a.entry.name, b.entry.name)

function toShown(folders: readonly Keyed[], files: readonly Keyed[]): ShownDir {
  const entries: Dirent[] = []
  const modifiers = new Set<string>()
  for (const { entry } of folders) entries.push(entry)
  for (const { entry } of files) {
    entries.push(entry)
    modifiers.add(entry.modifier)
  }
  return { entries, folders: folders.length, modifiers: [...modifiers] }
}
