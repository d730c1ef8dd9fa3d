import { fail } from '../errors.ts'
import type { Dirent } from '../objects/dirent.ts'
import { isStorableName, toNfc } from '../objects/names.ts'
import { isWithin, joinPath, type LibraryPath } from '../objects/paths.ts'
import { dropLocks, followMoves } from './bound-paths-store.ts'
import type { LibraryCore } from './core.ts'
import { describeAdded, describeDeleted, describeMoved } from './describe.ts'
import type { Placed } from './entries.ts'
import type { EditableLibrary, Library } from './library.ts'
import type { LibraryInfo } from './library-info.ts'
import { refuseLocked } from './locks.ts'
import type { Totals } from './object-store.ts'
import { Pace } from './pace.ts'
import { transplant } from './transplant.ts'
import type { WorkingTree } from './working-tree.ts'

/** Entries of one folder, to be moved or copied together. */
export interface Selection {
  readonly parent: LibraryPath
  readonly names: readonly string[]
}

/** Bytes an owner may still add; undefined for no limit. Throws nothing. */
export type RoomLeft = (library: LibraryInfo) => Promise<{ left: number; limit: number } | undefined>

/**
 * Moves entries into a folder, each under its name or, if that is taken, with ` (n)`. One commit in
 * one library; across libraries one there and then one here, which takes away only what was
 * copied. Into the folder they are in: no change. Throws path-not-found, into-itself, locked,
 * encrypted-mismatch, quota-exceeded, source-changed.
 */
export async function move(
  core: LibraryCore,
  source: EditableLibrary,
  selection: Selection,
  target: EditableLibrary,
  folder: LibraryPath,
  roomLeft: RoomLeft,
): Promise<Placed[]> {
  if (source.info.key === target.info.key) return moveWithin(core, source, selection, folder)
  refuseEncrypted(source, target)
  const chosen = await select(source.tree, selection)
  await refuseLocked(core, source, pathsOf(selection))
  const placed = await copyAcross(core, source, chosen, target, folder, roomLeft)
  // What was changed since it was copied must not be lost: it stays here too, and the caller is told.
  const removed = await takeAway(core, source, chosen)
  return removed ? placed : fail({ code: 'source-changed', path: selection.parent })
}

/**
 * Copies entries into a folder, each under its name or with ` (n)`; the objects are shared, no bytes
 * are copied. Throws path-not-found, into-itself, encrypted-mismatch, quota-exceeded.
 */
export async function copy(
  core: LibraryCore,
  source: Library,
  selection: Selection,
  target: EditableLibrary,
  folder: LibraryPath,
  roomLeft: RoomLeft,
): Promise<Placed[]> {
  if (source.info.key !== target.info.key) {
    refuseEncrypted(source, target)
    const chosen = await select(source.tree, selection)
    return copyAcross(core, source, chosen, target, folder, roomLeft)
  }
  refuseIntoItself(selection, folder)
  const { result } = await target.commit(async (tree, library) => {
    const chosen = await select(tree, selection)
    await refuseOverQuota(core, library, library.key, chosen, roomLeft)
    const placed = await place(tree, folder, chosen, target.actor.email)
    return { description: describeAdded(entriesOf(chosen)), result: placed }
  })
  return result
}

async function moveWithin(
  core: LibraryCore,
  library: EditableLibrary,
  selection: Selection,
  folder: LibraryPath,
): Promise<Placed[]> {
  refuseIntoItself(selection, folder)
  const { result } = await library.commit(async (tree) => {
    const chosen = await select(tree, selection)
    if (selection.parent === folder) return { description: '', result: chosen }
    await refuseLocked(core, library, pathsOf(selection))
    await takeAll(tree, chosen)
    const placed = await place(tree, folder, chosen, library.actor.email)
    const moves = placed.map(({ path }, index) => ({ from: (chosen[index] as Placed).path, to: path }))
    return {
      description: describeMoved(entriesOf(chosen)),
      result: placed,
      also: (tx) => followMoves(tx, library.info.key, moves),
    }
  })
  return result
}

async function copyAcross(
  core: LibraryCore,
  source: Library,
  chosen: readonly Placed[],
  target: EditableLibrary,
  folder: LibraryPath,
  roomLeft: RoomLeft,
): Promise<Placed[]> {
  if ((await target.tree.findDir(folder)) === undefined) {
    fail({ code: 'path-not-found', path: folder, wanted: 'Folder' })
  }
  await refuseOverQuota(core, target.info, source.info.key, chosen, roomLeft)
  for (const { entry } of chosen) await transplant(core, source.info.key, target.info.key, entry)
  const { result } = await target.commit(async (tree, library) => {
    await refuseOverQuota(core, library, source.info.key, chosen, roomLeft)
    const placed = await place(tree, folder, chosen, target.actor.email)
    return { description: describeAdded(entriesOf(chosen)), result: placed }
  })
  return result
}

/** Deletes entries that are still what they were. False, and nothing done, if one is not. */
async function takeAway(
  core: LibraryCore,
  library: EditableLibrary,
  chosen: readonly Placed[],
): Promise<boolean> {
  const paths = chosen.map(({ path }) => path)
  const { result } = await library.commit(async (tree) => {
    await refuseLocked(core, library, paths)
    const pace = new Pace()
    for (const { path, entry } of chosen) {
      const now = await tree.find(path)
      if (now?.id !== entry.id || now.kind !== entry.kind) return { description: '', result: false }
      if (pace.isDue) await pace.rest()
    }
    await takeAll(tree, chosen)
    return {
      description: describeDeleted(entriesOf(chosen)),
      result: true,
      also: (tx) => dropLocks(tx, library.info.key, paths),
    }
  })
  return result
}

async function takeAll(tree: WorkingTree, chosen: readonly Placed[]): Promise<void> {
  const pace = new Pace()
  for (const { path } of chosen) {
    await tree.take(path)
    if (pace.isDue) await pace.rest()
  }
}

/** Puts entries into a folder under free names. Their times stay; files are now the actor's. */
async function place(
  tree: WorkingTree,
  folder: LibraryPath,
  chosen: readonly Placed[],
  actor: string,
): Promise<Placed[]> {
  const placed: Placed[] = []
  const pace = new Pace()
  for (const { entry } of chosen) {
    const name = await tree.freeNameIn(folder, entry.name)
    const put: Dirent = entry.kind === 'file' ? { ...entry, name, modifier: actor } : { ...entry, name }
    await tree.put(folder, put)
    placed.push({ path: joinPath(folder, name), entry: put })
    if (pace.isDue) await pace.rest()
  }
  return placed
}

async function select(
  tree: { find(path: LibraryPath): Promise<Dirent | undefined> },
  selection: Selection,
): Promise<Placed[]> {
  const chosen: Placed[] = []
  const pace = new Pace()
  for (const path of pathsOf(selection)) {
    const entry = (await tree.find(path)) ?? fail({ code: 'path-not-found', path, wanted: 'Item' })
    chosen.push({ path, entry })
    if (pace.isDue) await pace.rest()
  }
  return chosen
}

function entriesOf(chosen: readonly Placed[]): Dirent[] {
  return chosen.map(({ entry }) => entry)
}

/** Throws path-not-found for what cannot be a name. */
function pathsOf({ parent, names }: Selection): LibraryPath[] {
  return [...new Set(names)].map((name) => {
    const path = joinPath(parent, toNfc(name))
    return isStorableName(name) ? path : fail({ code: 'path-not-found', path, wanted: 'Item' })
  })
}

function refuseIntoItself(selection: Selection, folder: LibraryPath): void {
  for (const path of pathsOf(selection)) {
    if (isWithin(folder, path)) fail({ code: 'into-itself', source: path, destination: folder })
  }
}

// Blocks of an encrypted library are encrypted with its own key: elsewhere they are garbage.
function refuseEncrypted(source: Library, target: Library): void {
  if (source.info.encryption !== undefined || target.info.encryption !== undefined) {
    fail({ code: 'encrypted-mismatch' })
  }
}

async function refuseOverQuota(
  core: LibraryCore,
  target: LibraryInfo,
  sourceKey: number,
  chosen: readonly Placed[],
  roomLeft: RoomLeft,
): Promise<void> {
  const room = await roomLeft(target)
  if (room === undefined) return
  const totals: Totals[] = await Promise.all(
    chosen.map(({ entry }) => core.objects.totalsOf(sourceKey, entry)),
  )
  const bytes = totals.reduce((sum, one) => sum + one.size, 0)
  if (bytes >= room.left) fail({ code: 'quota-exceeded', limit: room.limit })
}
