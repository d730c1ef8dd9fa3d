import type { LibraryId } from '../objects/ids.ts'
import type { LibraryPath } from '../objects/paths.ts'
import type { LibraryCore } from './core.ts'
import type { Actor, Library } from './library.ts'
import {
  deleteStar,
  hasStar,
  insertStar,
  listStars,
  type Star,
  starredLibraryKeys,
  starredPaths,
} from './star-store.ts'

/** What an account starred, newest first; some of it may be gone, or closed to it by now. */
export function starsOf(core: LibraryCore, actor: Actor): Promise<Star[]> {
  return listStars(core.db, actor.key)
}

/** The paths of a library that its holder starred. */
export function starredIn(core: LibraryCore, library: Library): Promise<Set<string>> {
  return starredPaths(core.db, library.actor.key, library.info.key)
}

/** The keys of the libraries that an account starred as a whole. */
export function starredLibraries(core: LibraryCore, actor: Actor): Promise<Set<number>> {
  return starredLibraryKeys(core.db, actor.key)
}

export function isStarred(core: LibraryCore, library: Library, path: LibraryPath): Promise<boolean> {
  return hasStar(core.db, library.actor.key, library.info.key, path)
}

/** Starring twice is fine. */
export async function addStar(
  core: LibraryCore,
  library: Library,
  path: LibraryPath,
  isDir: boolean,
): Promise<void> {
  const createdAt = core.now()
  const star = { accountKey: library.actor.key, libraryKey: library.info.key, path, isDir, createdAt }
  await core.db.write((tx) => insertStar(tx, star))
}

/** False if it was not starred. Needs no permission: one's stars are one's own, whatever became of the library. */
export function removeStar(
  core: LibraryCore,
  actor: Actor,
  libraryId: LibraryId,
  path: LibraryPath,
): Promise<boolean> {
  return core.db.write((tx) => deleteStar(tx, actor.key, libraryId, path))
}
