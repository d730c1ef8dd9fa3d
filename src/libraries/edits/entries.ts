import { setImmediate as nextTurn } from 'node:timers/promises'
import { DomainError, fail } from '../../base/errors.ts'
import { type Dirent, dirDirent, EMPTY_ID, fileDirent } from '../../base/objects/index.ts'
import { baseName, joinPath, type LibraryPath, parentOf, ROOT } from '../../base/paths/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import type { Committed } from '../commits/index.ts'
import { commitMessages } from '../commits/index.ts'
import { type EditableLibrary, fileLocks, type LibraryCore } from '../library/index.ts'
import type { WorkingTree } from '../tree/index.ts'
import { dropBound, followMove } from './bound-paths-store.ts'

/** About a millisecond of work between yields (I10). */
const FOLDERS_PER_TURN = 200

/** An entry and its current path. */
export interface Placed {
  readonly path: LibraryPath
  readonly entry: Dirent
}

/** Creates an empty file; a taken name gets ` (n)`. Throws path-not-found for the folder. */
export function createFile(library: EditableLibrary, path: LibraryPath): Promise<Committed<Placed>> {
  return library.commit(async (tree) => {
    const parent = parentOf(path)
    await library.refuseLockedFolder(parent)
    const name = await tree.freeNameIn(parent, baseName(path))
    const entry = fileDirent({ id: EMPTY_ID, name, mtime: tree.now, size: 0, modifier: library.actor.email })
    await tree.put(parent, entry)
    return { description: commitMessages.added([entry]), result: { path: joinPath(parent, name), entry } }
  })
}

/** Creates a folder; a taken name gets ` (n)`. Throws path-not-found for the parent. */
export function makeFolder(library: EditableLibrary, path: LibraryPath): Promise<Committed<Placed>> {
  return library.commit(async (tree) => {
    const parent = parentOf(path)
    await library.refuseLockedFolder(parent)
    const name = await tree.freeNameIn(parent, baseName(path))
    const entry = dirDirent({ id: EMPTY_ID, name, mtime: tree.now })
    await tree.put(parent, entry)
    return { description: commitMessages.added([entry]), result: { path: joinPath(parent, name), entry } }
  })
}

/**
 * Creates all missing folders of a path. Idempotent. Throws path-not-found if a file has the path of a
 * folder, name-invalid for a new folder with an invalid name.
 */
export function makeFolders(library: EditableLibrary, path: LibraryPath): Promise<Committed<LibraryPath>> {
  return library.commit(async (tree) => {
    await library.refuseLockedFolder(parentOf(path))
    await tree.makeDirs(path)
    return { description: commitMessages.addedDirs(path.slice(1)), result: path }
  })
}

/** The result for one path of makeManyFolders. */
type FolderOutcome = 'created' | 'exists' | 'refused'

/** As makeFolders, for many paths in one commit. A path that cannot be created is refused alone. */
export function makeManyFolders(
  library: EditableLibrary,
  paths: readonly LibraryPath[],
): Promise<Committed<FolderOutcome[]>> {
  return library.commit(async (tree) => {
    const outcomes: FolderOutcome[] = []
    const created: LibraryPath[] = []
    const locked = new Map<LibraryPath, Promise<boolean>>()
    // Once for each folder: a library may have thousands of locks, and a call thousands of paths.
    const isLocked = (folder: LibraryPath) => {
      const known = locked.get(folder) ?? isRefused(library.refuseLockedFolder(folder))
      locked.set(folder, known)
      return known
    }
    for (const path of paths) {
      const isOpen = !(await isLocked(parentOf(path)))
      const outcome = isOpen ? await makeOne(tree, path) : 'refused'
      outcomes.push(outcome)
      if (outcome === 'created') created.push(path)
      if (outcomes.length % FOLDERS_PER_TURN === 0) await nextTurn()
    }
    const described = created.map((path) => ({ kind: 'dir' as const, name: path.slice(1) }))
    return { description: commitMessages.added(described), result: outcomes }
  })
}

async function isRefused(asked: Promise<void>): Promise<boolean> {
  try {
    await asked
    return false
  } catch (error) {
    if (error instanceof DomainError) return true
    throw error
  }
}

async function makeOne(tree: WorkingTree, path: LibraryPath): Promise<FolderOutcome> {
  try {
    return (await tree.makeDirs(path)).length > 0 ? 'created' : 'exists'
  } catch (error) {
    if (error instanceof DomainError) return 'refused'
    throw error
  }
}

/**
 * Renames a file or folder; a taken name gets ` (n)`. Its time and modifier stay, and locks, stars and links
 * follow. The same name changes nothing. Throws path-not-found, locked.
 */
export function rename(
  core: LibraryCore,
  library: EditableLibrary,
  path: LibraryPath,
  newName: string,
): Promise<Committed<Placed>> {
  return library.commit(async (tree) => {
    await fileLocks.refuse(core, library, [path])
    const entry = (await tree.find(path)) ?? fail({ code: 'path-not-found', path, wanted: 'Item' })
    if (entry.name === newName) return { description: '', result: { path, entry } }
    const parent = parentOf(path)
    const name = await tree.freeNameIn(parent, newName)
    const renamed: Dirent = { ...(await tree.take(path, { touch: false })), name }
    await tree.put(parent, renamed, { touch: false })
    const target = joinPath(parent, name)
    return {
      description: commitMessages.renamed(entry),
      result: { path: target, entry: renamed },
      also: (tx) => followMove(core.pathBindings, tx, library.info, path, target),
    }
  })
}

/**
 * Deletes those of `names` that exist in a folder, in one commit; without a commit if none exists. Resolves
 * to the deleted entries. Throws locked.
 */
export function remove(
  core: LibraryCore,
  library: EditableLibrary,
  parent: LibraryPath,
  names: readonly string[],
): Promise<Committed<Dirent[]>> {
  return library.commit(async (tree) => {
    const paths = names.map((name) => joinPath(parent, name))
    await fileLocks.refuse(core, library, paths)
    const removed: Dirent[] = []
    const slicer = new TimeSlicer()
    for (const path of paths) {
      if ((await tree.find(path)) !== undefined) removed.push(await tree.take(path))
      if (slicer.isDue) await slicer.rest()
    }
    return {
      description: commitMessages.deleted(removed),
      result: removed,
      also: (tx) => dropBound(core.pathBindings, tx, library.info, paths),
    }
  })
}

/**
 * Deletes one file or folder. The result is undefined if it did not exist. Throws root-not-allowed, locked.
 */
export async function removeOne(
  core: LibraryCore,
  library: EditableLibrary,
  path: LibraryPath,
): Promise<Committed<Dirent[]>> {
  if (path === ROOT) fail({ code: 'root-not-allowed' })
  return remove(core, library, parentOf(path), [baseName(path)])
}
