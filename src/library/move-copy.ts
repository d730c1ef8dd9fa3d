import { fail } from '../errors.ts'
import type { Dirent } from '../objects/dirent.ts'
import { isWithin, joinPath, type LibraryPath } from '../objects/paths.ts'
import { dropLocks, followMove } from './bound-paths-store.ts'
import type { LibraryCore } from './core.ts'
import { describeAdded, describeDeleted, describeMoved } from './describe.ts'
import type { Placed } from './entries.ts'
import type { EditableLibrary, Library } from './library.ts'
import type { LibraryInfo } from './library-info.ts'
import { refuseLocked } from './locks.ts'
import type { Totals } from './object-store.ts'
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
  await refuseLocked(core, source, pathsOf(selection))
  const entries = await select(source.tree, selection)
  const placed = await copyAcross(core, source, entries, target, folder, roomLeft)
  // What was changed since it was copied must not be lost: it stays here too, and the caller is told.
  const removed = await takeAway(core, source, selection.parent, entries)
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
    const entries = await select(source.tree, selection)
    return copyAcross(core, source, entries, target, folder, roomLeft)
  }
  refuseIntoItself(selection, folder)
  const { result } = await target.commit(async (tree, library) => {
    const entries = await select(tree, selection)
    await refuseOverQuota(core, library, library.key, entries, roomLeft)
    const placed = await place(tree, folder, entries, target.actor.email)
    return { description: describeAdded(entries), result: placed }
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
    const entries = await select(tree, selection)
    if (selection.parent === folder) {
      return {
        description: '',
        result: entries.map((entry) => ({ path: joinPath(folder, entry.name), entry })),
      }
    }
    await refuseLocked(core, library, pathsOf(selection))
    for (const entry of entries) await tree.take(joinPath(selection.parent, entry.name))
    const placed = await place(tree, folder, entries, library.actor.email)
    return {
      description: describeMoved(entries),
      result: placed,
      async also(tx) {
        for (const [index, { path }] of placed.entries()) {
          const from = joinPath(selection.parent, entries[index]?.name ?? '')
          await followMove(tx, library.info.key, from, path)
        }
      },
    }
  })
  return result
}

async function copyAcross(
  core: LibraryCore,
  source: Library,
  entries: readonly Dirent[],
  target: EditableLibrary,
  folder: LibraryPath,
  roomLeft: RoomLeft,
): Promise<Placed[]> {
  if ((await target.tree.findDir(folder)) === undefined) {
    fail({ code: 'path-not-found', path: folder, wanted: 'Folder' })
  }
  await refuseOverQuota(core, target.info, source.info.key, entries, roomLeft)
  for (const entry of entries) await transplant(core, source.info.key, target.info.key, entry)
  const { result } = await target.commit(async (tree, library) => {
    await refuseOverQuota(core, library, source.info.key, entries, roomLeft)
    const placed = await place(tree, folder, entries, target.actor.email)
    return { description: describeAdded(entries), result: placed }
  })
  return result
}

/** Deletes entries that are still what they were. False, and nothing done, if one is not. */
async function takeAway(
  core: LibraryCore,
  library: EditableLibrary,
  parent: LibraryPath,
  entries: readonly Dirent[],
): Promise<boolean> {
  const paths = entries.map((entry) => joinPath(parent, entry.name))
  const { result } = await library.commit(async (tree) => {
    await refuseLocked(core, library, paths)
    for (const entry of entries) {
      const now = await tree.find(joinPath(parent, entry.name))
      if (now?.id !== entry.id || now.kind !== entry.kind) return { description: '', result: false }
    }
    for (const path of paths) await tree.take(path)
    return {
      description: describeDeleted(entries),
      result: true,
      async also(tx) {
        for (const path of paths) await dropLocks(tx, library.info.key, path)
      },
    }
  })
  return result
}

/** Puts entries into a folder under free names. Their times stay; files are now the actor's. */
async function place(
  tree: WorkingTree,
  folder: LibraryPath,
  entries: readonly Dirent[],
  actor: string,
): Promise<Placed[]> {
  const placed: Placed[] = []
  for (const entry of entries) {
    const name = await tree.freeNameIn(folder, entry.name)
    const put: Dirent = entry.kind === 'file' ? { ...entry, name, modifier: actor } : { ...entry, name }
    await tree.put(folder, put)
    placed.push({ path: joinPath(folder, name), entry: put })
  }
  return placed
}

async function select(
  tree: { find(path: LibraryPath): Promise<Dirent | undefined> },
  selection: Selection,
): Promise<Dirent[]> {
  const entries: Dirent[] = []
  for (const path of pathsOf(selection)) {
    entries.push((await tree.find(path)) ?? fail({ code: 'path-not-found', path, wanted: 'Item' }))
  }
  return entries
}

function pathsOf({ parent, names }: Selection): LibraryPath[] {
  return [...new Set(names)].map((name) => joinPath(parent, name))
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
  entries: readonly Dirent[],
  roomLeft: RoomLeft,
): Promise<void> {
  const room = await roomLeft(target)
  if (room === undefined) return
  const totals: Totals[] = await Promise.all(entries.map((entry) => core.objects.totalsOf(sourceKey, entry)))
  const bytes = totals.reduce((sum, one) => sum + one.size, 0)
  if (bytes >= room.left) fail({ code: 'quota-exceeded', limit: room.limit })
}
