import { fail } from '../errors.ts'
import { type LibraryPath, selfAndAbove } from '../objects/paths.ts'
import type { LibraryCore } from './core.ts'
import type { Also } from './libraries.ts'
import type { EditableLibrary, Library } from './library.ts'
import { deleteLock, type FileLock, findLock, insertLock, listLocks, setLockExpiry } from './lock-store.ts'

const DEFAULT_LOCK_SECONDS = 12 * 3600

/** When a lock ends: 0 asks for the default, a negative number for never, else seconds from now. */
function expiry(now: number, seconds: number): number | null {
  if (seconds < 0) return null
  return now + (seconds === 0 ? DEFAULT_LOCK_SECONDS : seconds)
}

/** The locks of a library by path. */
export async function locksOf(core: LibraryCore, libraryKey: number): Promise<Map<string, FileLock>> {
  const locks = await listLocks(core.db, libraryKey, core.now())
  return new Map(locks.map((lock) => [lock.path, lock]))
}

/** The lock that holds at a path. */
export function findLockAt(
  core: LibraryCore,
  library: Library,
  path: LibraryPath,
): Promise<FileLock | undefined> {
  return findLock(core.db, library.info.key, path, core.now())
}

/** Throws path-not-found; already-locked, whoever holds it. */
export async function lockFile(
  core: LibraryCore,
  library: EditableLibrary,
  path: LibraryPath,
  seconds: number,
): Promise<void> {
  await library.tree.getFile(path)
  const now = core.now()
  const lock = { path, accountKey: library.actor.key, lockedAt: now, expiresAt: expiry(now, seconds) }
  const held = await core.db.write(async (tx) => {
    if (await insertLock(tx, library.info.key, lock, now)) return undefined
    return findLock(tx, library.info.key, path, now)
  })
  if (held !== undefined) {
    fail({ code: 'already-locked', path, byCaller: held.accountKey === library.actor.key })
  }
}

/**
 * Throws path-not-found, not-locked, lock-not-yours. The library's owner may take away any lock if `asOwner`;
 * `onForced` is then written with it.
 */
export async function unlockFile(
  core: LibraryCore,
  library: EditableLibrary,
  path: LibraryPath,
  options: { asOwner: boolean; onForced?: Also },
): Promise<void> {
  await library.tree.getFile(path)
  await core.db.write(async (tx) => {
    const held = await findLock(tx, library.info.key, path, core.now())
    if (held === undefined) return fail({ code: 'not-locked', path })
    const mayUnlock = held.accountKey === library.actor.key || (options.asOwner && library.isOwner)
    if (!mayUnlock) return fail({ code: 'lock-not-yours', path })
    if (held.accountKey !== library.actor.key) await options.onForced?.(tx)
    return deleteLock(tx, library.info.key, path)
  })
}

/** Begins the holder's time anew. Throws path-not-found, not-locked, lock-not-yours. */
export async function refreshLock(
  core: LibraryCore,
  library: EditableLibrary,
  path: LibraryPath,
  seconds: number,
): Promise<void> {
  await library.tree.getFile(path)
  await core.db.write(async (tx) => {
    const held = await findLock(tx, library.info.key, path, core.now())
    if (held === undefined) return fail({ code: 'not-locked', path })
    if (held.accountKey !== library.actor.key) return fail({ code: 'lock-not-yours', path })
    return setLockExpiry(tx, library.info.key, path, expiry(core.now(), seconds))
  })
}

/** Those of the paths at or below which somebody else holds a lock. */
export async function lockedAmong(
  core: LibraryCore,
  library: EditableLibrary,
  paths: readonly LibraryPath[],
): Promise<Set<LibraryPath>> {
  const held = await heldByOthers(core, library, paths)
  return new Set(held.map(({ touched }) => touched))
}

/** Throws locked if somebody else holds a lock at one of the paths, or on a file below it. */
export async function refuseLocked(
  core: LibraryCore,
  library: EditableLibrary,
  paths: readonly LibraryPath[],
): Promise<void> {
  const [first] = await heldByOthers(core, library, paths)
  if (first !== undefined) fail({ code: 'locked', path: first.lock.path })
}

async function heldByOthers(core: LibraryCore, library: EditableLibrary, paths: readonly LibraryPath[]) {
  const locks = await listLocks(core.db, library.info.key, core.now())
  const asked = new Set(paths)
  return locks.flatMap((lock) => {
    if (lock.accountKey === library.actor.key) return []
    const touched = selfAndAbove(lock.path).find((path) => asked.has(path))
    return touched === undefined ? [] : [{ lock, touched }]
  })
}
