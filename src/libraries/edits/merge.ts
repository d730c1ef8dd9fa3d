import { fail } from '../../base/errors.ts'
import { baseName, type LibraryPath, parentOf } from '../../base/paths/index.ts'
import { commitMessages } from '../commits/index.ts'
import { type EditableLibrary, fileLocks, type LibraryCore } from '../library/index.ts'
import { inOrigin } from '../registry/index.ts'
import { dropBound, followMoves } from './bound-paths-store.ts'
import { copyBetweenLibraries, deleteCopied, refuseUndecrypted } from './cross-library-copy.ts'
import { inCommonOrigin } from './same-origin.ts'
import { entriesOf, place, type RoomLeft, refuseIntoItself, select, takeAll } from './selection.ts'

/**
 * Moves a folder into another. Folders of the same name are merged, and only files get ` (n)`. A move into
 * the same folder changes nothing. Throws as move does.
 */
export async function moveMerging(
  core: LibraryCore,
  source: EditableLibrary,
  path: LibraryPath,
  target: EditableLibrary,
  folder: LibraryPath,
  roomLeft: RoomLeft,
): Promise<void> {
  const selection = { parent: parentOf(path), names: [baseName(path)] }
  if (source.info.key === target.info.key && source.info.id !== target.info.id) {
    await inCommonOrigin(core, { source, selection }, { target, folder }, async (operation) => {
      const { library } = operation
      await moveMerging(core, library, inOrigin(source.info, path), library, operation.folder, roomLeft)
      return []
    })
    return
  }
  const chosen = await select(source.tree, selection)
  if (source.info.key !== target.info.key) {
    await refuseUndecrypted(core, source, target)
    await fileLocks.refuse(core, source, [path])
    await copyBetweenLibraries(core, { source, chosen, target, folder, roomLeft, merge: true })
    return deleteCopied(core, source, chosen)
  }
  refuseIntoItself(selection, folder)
  if (selection.parent === folder) return
  await source.commit(async (tree) => {
    await fileLocks.refuse(core, source, [path])
    // Only entries that are unchanged can be read from the tree that was opened.
    const [now] = await select(tree, selection)
    if (now?.entry.id !== chosen[0]?.entry.id) fail({ code: 'source-changed', path: selection.parent })
    await takeAll(tree, chosen)
    const contentOf = source.tree.dirOf.bind(source.tree)
    const placed = await place(tree, folder, chosen, source.actor.email, contentOf)
    return {
      description: commitMessages.moved(entriesOf(chosen)),
      result: undefined,
      async also(tx) {
        await followMoves(core.pathBindings, tx, source.info, placed)
        // The source of a merged folder no longer exists.
        await dropBound(core.pathBindings, tx, source.info, [path])
      },
    }
  })
}
