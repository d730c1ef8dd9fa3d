import { fail } from '../../base/errors.ts'
import type { DirDirent, Dirent } from '../../base/objects/index.ts'
import {
  baseName,
  isStorableName,
  joinPath,
  type LibraryPath,
  parentOf,
  selfAndAbove,
  toNfc,
} from '../../base/paths/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import type { LibraryInfo } from '../registry/index.ts'
import type { StoredDir, Totals, WorkingTree } from '../tree/index.ts'
import type { Placed } from './entries.ts'

/** Entries of one folder that are moved or copied together. */
export interface Selection {
  readonly parent: LibraryPath
  readonly names: readonly string[]
}

/** Bytes an owner may still add; undefined for no limit. Never throws. */
export type RoomLeft = (library: LibraryInfo) => Promise<{ left: number; limit: number } | undefined>

/** The entries of a selection, without duplicates. Throws path-not-found, also for an invalid name. */
export async function select(
  tree: { find(path: LibraryPath): Promise<Dirent | undefined> },
  { parent, names }: Selection,
): Promise<Placed[]> {
  const chosen = new Map<LibraryPath, Placed>()
  const slicer = new TimeSlicer()
  for (const name of names) {
    const path = joinPath(parent, toNfc(name))
    const entry = isStorableName(name) ? await tree.find(path) : undefined
    if (entry === undefined) fail({ code: 'path-not-found', path, wanted: 'Item' })
    chosen.set(path, { path, entry })
    if (slicer.isDue) await slicer.rest()
  }
  return [...chosen.values()]
}

export function pathsOf(chosen: readonly Placed[]): LibraryPath[] {
  return chosen.map(({ path }) => path)
}

export function entriesOf(chosen: readonly Placed[]): Dirent[] {
  return chosen.map(({ entry }) => entry)
}

/** Removes all from the tree. Throws path-not-found. */
export async function takeAll(tree: WorkingTree, chosen: readonly Placed[]): Promise<void> {
  const slicer = new TimeSlicer()
  for (const { path } of chosen) {
    await tree.take(path)
    if (slicer.isDue) await slicer.rest()
  }
}

/** A placed entry and its previous path. */
interface Put extends Placed {
  readonly from: LibraryPath
}

/** The content of a folder that is merged with another of its name. */
type ContentOf = (dirent: DirDirent) => StoredDir | Promise<StoredDir>

/**
 * Places entries in a folder under free names. Their times stay; the actor becomes the modifier of files.
 * With `contentOf`, folders of the same name are merged instead of numbered.
 */
export async function place(
  tree: WorkingTree,
  folder: LibraryPath,
  chosen: readonly Placed[],
  actor: string,
  contentOf?: ContentOf,
): Promise<Put[]> {
  const placed: Put[] = []
  const slicer = new TimeSlicer()
  const open = chosen.map(({ path, entry }) => ({ from: path, entry, into: folder })).toReversed()
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { from, entry, into } = next
    if (slicer.isDue) await slicer.rest()
    const there = contentOf && entry.kind === 'dir' ? await tree.find(joinPath(into, entry.name)) : undefined
    if (contentOf && entry.kind === 'dir' && there?.kind === 'dir') {
      const below = joinPath(into, there.name)
      for (const child of (await contentOf(entry)).dir.entries) {
        open.push({ from: joinPath(from, child.name), entry: child, into: below })
      }
      continue
    }
    const name = await tree.freeNameIn(into, entry.name)
    const put: Dirent = entry.kind === 'file' ? { ...entry, name, modifier: actor } : { ...entry, name }
    await tree.put(into, put)
    placed.push({ from, path: joinPath(into, name), entry: put })
  }
  return placed
}

/** Bytes, files and folders of the chosen entries, according to the tree they come from. */
export async function totalsOf(
  chosen: readonly Placed[],
  one: (entry: Dirent) => Promise<Totals>,
): Promise<Totals> {
  let size = 0
  let fileCount = 0
  let dirCount: number | undefined = 0
  const slicer = new TimeSlicer()
  for (const { entry } of chosen) {
    const totals = await one(entry)
    size += totals.size
    fileCount += totals.fileCount
    if (entry.kind === 'dir') dirCount += 1 + (totals.dirCount ?? 0)
    if (slicer.isDue) await slicer.rest()
  }
  return { size, fileCount, dirCount }
}

/** Throws into-itself. */
export function refuseIntoItself({ parent, names }: Selection, folder: LibraryPath): void {
  // Only one entry of the parent can contain the folder.
  const source = selfAndAbove(folder).find((path) => path !== parent && parentOf(path) === parent)
  if (source !== undefined && names.some((name) => toNfc(name) === baseName(source))) {
    fail({ code: 'into-itself', source, destination: folder })
  }
}

/** Throws quota-exceeded if the bytes would reach the quota of the owner. */
export async function refuseOverQuota(target: LibraryInfo, bytes: number, roomLeft: RoomLeft): Promise<void> {
  const room = await roomLeft(target)
  if (room !== undefined && bytes >= room.left) fail({ code: 'quota-exceeded', limit: room.limit })
}
