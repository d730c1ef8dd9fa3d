import type { Committed } from '../commits/index.ts'
import type { DirId, LibraryPath } from '../objects/index.ts'
import { Tree } from '../tree/index.ts'
import { updateSubLibraryPaths } from '../views/index.ts'
import { dropBound } from './bound-paths-store.ts'
import type { LibraryCore } from './core.ts'
import type { EditableLibrary } from './library.ts'
import { seenLocks } from './locks.ts'

/** A whole tree that is to become that of a library, or of the folder a sub-library shows. */
export interface NewRoot {
  readonly description: string
  /** The root to put in place of `now`, which may be newer than the one the caller has seen. Its objects must be stored. */
  readonly root: (now: DirId) => Promise<DirId>
  /** Where a folder of the origin went that the new tree does not have where it was. */
  readonly movedTo?: (path: LibraryPath) => LibraryPath | undefined
}

/**
 * Replaces the tree in one commit: all of a library, or all below the folder of a sub-library. Locks of files that
 * are not in it, and sub-libraries of folders that are not, go in the same transaction. Locks of others are not looked
 * at: the caller decides about them.
 */
export function commitRoot(
  core: LibraryCore,
  library: EditableLibrary,
  { description, root, movedTo }: NewRoot,
): Promise<Committed<DirId>> {
  return library.commit(async (tree, info) => {
    const next = await root(await tree.rootId())
    await tree.replaceRoot(next)
    const then = new Tree(core.objects, info.key, next)
    const gone: LibraryPath[] = []
    for (const { path } of await seenLocks(core, info)) {
      if ((await then.find(path))?.kind !== 'file') gone.push(path)
    }
    const settled = await core.views.locateSubLibraries(info, next, movedTo)
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
