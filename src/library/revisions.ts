import { fail } from '../errors.ts'
import { below, type CommitId, type LibraryPath } from '../objects/index.ts'
import { findCommit, listCommitsDown, type NumberedCommit, seqAtTime } from './commit-store.ts'
import type { LibraryCore } from './core.ts'
import { oldestRevisionShown, revisionWhenShared } from './file-history.ts'
import { getCommit, oldestShown } from './history.ts'
import type { LibraryInfo } from './library-info.ts'
import { findFirstSeen } from './path-index-store.ts'
import { inOrigin, originOf } from './scope.ts'
import { folderAsOf, treeAsOf } from './sub-history.ts'
import type { Tree } from './tree.ts'

/** The tree of a commit that the history still shows. Throws commit-not-found. */
export async function getTreeAt(core: LibraryCore, library: LibraryInfo, id: CommitId): Promise<Tree> {
  return treeOf(core, library, await getCommit(core, library, id))
}

/**
 * As getTreeAt by a time in Unix seconds: the tree of the newest commit that is not after it. Throws
 * commit-not-found, naming the time as `shown`.
 */
export async function getTreeAtTime(
  core: LibraryCore,
  library: LibraryInfo,
  time: number,
  shown: string,
): Promise<Tree> {
  const seq = await seqAtTime(core.db, library.key, time)
  const isShown = seq > 0 && seq >= (await oldestShown(core, library))
  const [commit] = isShown ? await listCommitsDown(core.db, library, seq, seq) : []
  return commit === undefined ? fail({ code: 'commit-not-found', id: shown }) : treeOf(core, library, commit)
}

/**
 * A commit for what it says about one path: one that the history shows, or that the history of the
 * file still lists. Throws commit-not-found.
 */
export async function getCommitFor(
  core: LibraryCore,
  library: LibraryInfo,
  id: CommitId,
  path: LibraryPath,
): Promise<NumberedCommit> {
  const commit = await findCommit(core.db, library, id)
  if (commit === undefined) return fail({ code: 'commit-not-found', id })
  if (commit.seq >= (await oldestShown(core, library))) return commit
  if (library.sub !== undefined && commit.seq < library.sub.sinceSeq) {
    const first = await revisionWhenShared(core, library, path)
    const folder = await folderAsOf(core, library, commit.seq)
    const isFirst = first?.seq === commit.seq && folder !== undefined && below(folder, path) === first.path
    return isFirst ? commit : fail({ code: 'commit-not-found', id })
  }
  return commit.seq >= (await oldestRevisionShown(core, library, path))
    ? commit
    : fail({ code: 'commit-not-found', id })
}

/** The tree of a commit. Throws commit-not-found if it has nothing of the library, which may be a part of another. */
export function treeOf(core: LibraryCore, library: LibraryInfo, commit: NumberedCommit): Promise<Tree> {
  return treeAsOf(core, library, commit)
}

/** Who brought a path into the library and when; undefined when that is not known any more. */
export async function findOrigin(
  core: LibraryCore,
  library: LibraryInfo,
  path: LibraryPath,
): Promise<{ author: string; addedAt: number } | undefined> {
  await core.pathIndex.catchUp(originOf(library))
  return findFirstSeen(core.db, library.key, inOrigin(library, path))
}
