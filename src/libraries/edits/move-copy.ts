import type { LibraryPath } from '../../base/paths/index.ts'
import { commitMessages } from '../commits/index.ts'
import { type EditableLibrary, fileLocks, type Library, type LibraryCore } from '../library/index.ts'
import { copyBound, followMoves } from './bound-paths-store.ts'
import { copyBetweenLibraries, deleteCopied, refuseUndecrypted } from './cross-library-copy.ts'
import type { Placed } from './entries.ts'
import { inCommonOrigin } from './same-origin.ts'
import {
  entriesOf,
  pathsOf,
  place,
  type RoomLeft,
  refuseIntoItself,
  refuseOverQuota,
  type Selection,
  select,
  takeAll,
  totalsOf,
} from './selection.ts'

/**
 * Moves entries into a folder, under their names or numbered ones. Within one library this is one commit.
 * Across libraries it is a commit in the target, then one in the source, which deletes only what was copied.
 * A move into the same folder changes nothing. Throws path-not-found, into-itself, locked, password-needed,
 * quota-exceeded, source-changed.
 */
export async function move(
  core: LibraryCore,
  source: EditableLibrary,
  selection: Selection,
  target: EditableLibrary,
  folder: LibraryPath,
  roomLeft: RoomLeft,
): Promise<Placed[]> {
  if (source.info.id === target.info.id) return moveWithin(core, source, selection, folder)
  if (source.info.key === target.info.key) {
    return inCommonOrigin(core, { source, selection }, { target, folder }, (operation) =>
      moveWithin(core, operation.library, operation.selection, operation.folder),
    )
  }
  await refuseUndecrypted(core, source, target)
  const chosen = await select(source.tree, selection)
  await fileLocks.refuse(core, source, pathsOf(chosen))
  const placed = await copyBetweenLibraries(core, { source, chosen, target, folder, roomLeft })
  await deleteCopied(core, source, chosen)
  return placed
}

/**
 * Copies entries into a folder, under their names or numbered ones. Objects are shared. Bytes are copied only
 * between libraries of which one is encrypted. Throws path-not-found, into-itself, password-needed,
 * quota-exceeded.
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
    await refuseUndecrypted(core, source, target)
    const chosen = await select(source.tree, selection)
    return copyBetweenLibraries(core, { source, chosen, target, folder, roomLeft })
  }
  if (source.info.id !== target.info.id) {
    return inCommonOrigin(core, { source, selection }, { target, folder }, (operation) =>
      copyWithin(core, operation.library, operation.selection, operation.folder, roomLeft),
    )
  }
  return copyWithin(core, target, selection, folder, roomLeft)
}

async function copyWithin(
  core: LibraryCore,
  target: EditableLibrary,
  selection: Selection,
  folder: LibraryPath,
  roomLeft: RoomLeft,
): Promise<Placed[]> {
  refuseIntoItself(selection, folder)
  const { result } = await target.commit(async (tree, library) => {
    const chosen = await select(tree, selection)
    await target.refuseLockedFolder(folder)
    const { size } = await totalsOf(chosen, (entry) => tree.totalsOf(entry))
    await refuseOverQuota(library, size, roomLeft)
    const placed = await place(tree, folder, chosen, target.actor.email)
    return {
      description: commitMessages.added(entriesOf(chosen)),
      result: placed,
      also: (tx) => copyBound(core, tx, target.info, target.info, placed),
    }
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
    await fileLocks.refuse(core, library, pathsOf(chosen))
    await library.refuseLockedFolder(folder)
    await takeAll(tree, chosen)
    const placed = await place(tree, folder, chosen, library.actor.email)
    return {
      description: commitMessages.moved(entriesOf(chosen)),
      result: placed,
      also: (tx) => followMoves(core.pathBindings, tx, library.info, placed),
    }
  })
  return result
}
