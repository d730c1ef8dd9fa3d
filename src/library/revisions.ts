import { fail } from '../errors.ts'
import type { CommitId } from '../objects/ids.ts'
import type { LibraryPath } from '../objects/paths.ts'
import { findCommit } from './commit-store.ts'
import type { LibraryCore } from './core.ts'
import { oldestShown } from './history.ts'
import type { LibraryInfo } from './library-info.ts'
import { findFirstSeen } from './path-index-store.ts'
import { Tree } from './tree.ts'

/** The tree of a commit that the history still shows. Throws commit-not-found. */
export async function getTreeAt(core: LibraryCore, library: LibraryInfo, id: CommitId): Promise<Tree> {
  const commit = await findCommit(core.db, library, id)
  if (commit === undefined || commit.seq < (await oldestShown(core, library))) {
    return fail({ code: 'commit-not-found', id })
  }
  return new Tree(core.objects, library.key, commit.rootId)
}

/** Who brought a path into the library and when; undefined when that is not known any more. */
export async function findOrigin(
  core: LibraryCore,
  library: LibraryInfo,
  path: LibraryPath,
): Promise<{ author: string; addedAt: number } | undefined> {
  await core.pathIndex.catchUp(library)
  return findFirstSeen(core.db, library.key, path)
}
