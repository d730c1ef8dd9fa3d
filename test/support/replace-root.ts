import type { DirId } from '../../src/base/objects/index.ts'
import type { LibraryPath } from '../../src/base/paths/index.ts'
import type { Committed } from '../../src/libraries/commits/index.ts'
import { dropBound } from '../../src/libraries/edits/bound-paths-store.ts'
import type { LibraryCore } from '../../src/libraries/library/core.ts'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import type { EditableLibrary } from '../../src/libraries/library/library.ts'
import { fileLocks, isLockable } from '../../src/libraries/library/locks.ts'
import { Tree } from '../../src/libraries/tree/index.ts'
import { updateSubLibraryPaths } from '../../src/libraries/views/index.ts'

/** A new tree for a library, or for the folder of a sub-library. */
interface NewRoot {
  readonly description: string
  /**
   * The root that replaces `now`, which may be newer than the one the caller has read. Its objects must be
   * stored.
   */
  readonly root: (now: DirId) => Promise<DirId>
  /** The new path of a folder of the origin that the new tree does not have at its old path. */
  readonly movedTo?: (path: LibraryPath) => LibraryPath | undefined
}

/**
 * Replaces the tree in one commit: that of a library, or of the folder of a sub-library. Locks and
 * sub-libraries of items that it does not contain are deleted in the same transaction. Locks of other
 * accounts are not checked: that is up to the caller.
 */
export function commitRoot(
  core: LibraryCore,
  library: EditableLibrary,
  { description, root, movedTo }: NewRoot,
): Promise<Committed<DirId>> {
  return library.commit(async (tree, info) => {
    const next = await root(await tree.rootId())
    await tree.replaceRoot(next)
    const then = new Tree(storesOf(core).objects, info.key, next)
    const gone: LibraryPath[] = []
    for (const lock of await fileLocks.list(core, info)) {
      if (!isLockable(lock, await then.find(lock.path))) gone.push(lock.path)
    }
    const settled = await storesOf(core).views.locateSubLibraries(info, next, movedTo)
    return {
      description,
      result: next,
      async also(tx) {
        await dropBound(core.pathBindings, tx, info, gone)
        await updateSubLibraryPaths(tx, settled)
      },
    }
  })
}
