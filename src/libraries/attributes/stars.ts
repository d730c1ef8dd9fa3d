import { refuseAtLimit } from '../../base/errors.ts'
import type { LibraryId } from '../../base/objects/index.ts'
import { below, type LibraryPath } from '../../base/paths/index.ts'
import type { MaybePromise } from '../../base/scheduling/index.ts'
import { dbOf } from '../library/for-operations.ts'
import type { Actor, Library, LibraryCore } from '../library/index.ts'
import { asSeen, inOrigin, type LibraryInfo } from '../registry/index.ts'
import { findSubLibrary } from '../views/index.ts'
import {
  countStars,
  deleteStar,
  deleteStarIn,
  hasStar,
  insertStar,
  listStars,
  type Star,
  starredLibraryIds,
  starredPaths,
} from './star-store.ts'

/** The stars of an account, newest first. An item may be gone, or not readable any more. */
export function starsOf(core: LibraryCore, actor: Actor): Promise<Star[]> {
  return listStars(dbOf(core), actor.key)
}

/** The paths of a library that an account has starred. */
export async function starredIn(
  core: LibraryCore,
  { actor, info }: { readonly actor: Actor; readonly info: Pick<LibraryInfo, 'key' | 'sub'> },
): Promise<Set<string>> {
  const paths = await starredPaths(dbOf(core), actor.key, info.key)
  if (info.sub === undefined) return new Set(paths)
  return new Set(paths.flatMap((path) => asSeen(info, path) ?? []))
}

/** The ids of the libraries and sub-libraries that an account has starred as a whole. */
export function starredLibraries(core: LibraryCore, actor: Actor): Promise<Set<LibraryId>> {
  return starredLibraryIds(dbOf(core), actor.key)
}

export function isStarred(core: LibraryCore, library: Library, path: LibraryPath): MaybePromise<boolean> {
  return hasStar(dbOf(core), library.actor.key, library.info.key, inOrigin(library.info, path))
}

/** Idempotent. Throws limit-reached. */
export async function addStar(
  core: LibraryCore,
  library: Library,
  path: LibraryPath,
  isDir: boolean,
): Promise<void> {
  const { info, actor } = library
  const star = {
    accountKey: actor.key,
    libraryKey: info.key,
    subKey: info.sub?.key,
    path: inOrigin(info, path),
    isDir,
    createdAt: core.now(),
  }
  await dbOf(core).write(async (tx) => {
    if (!(await insertStar(tx, star))) return
    await refuseAtLimit('stars', async (most) => (await countStars(tx, actor.key, most + 1)) - 1)
  })
}

/**
 * False if it was not starred. Needs no permission, so that stars in inaccessible libraries can be removed.
 */
export function removeStar(
  core: LibraryCore,
  actor: Actor,
  libraryId: LibraryId,
  path: LibraryPath,
): Promise<boolean> {
  return dbOf(core).write(async (tx) => {
    const sub = await findSubLibrary(tx, libraryId)
    if (sub === undefined) return deleteStar(tx, actor.key, libraryId, path)
    return deleteStarIn(tx, actor.key, sub.libraryKey, below(sub.path, path))
  })
}
