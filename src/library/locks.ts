import { asSeen, inOrigin, type LibraryInfo, originOf, type TransactionHook } from '../commits/index.ts'
import { fail } from '../errors.ts'
import { isWithin, joinPath, type LibraryPath, selfAndAbove } from '../objects/index.ts'
import { dbOf, type LibraryCore } from './core.ts'
import type { EditableLibrary, Library } from './library.ts'
import {
  deleteLock,
  type FileLock,
  findLock,
  insertLock,
  listLocks,
  serializeLocking,
  setLockExpiry,
} from './lock-store.ts'

const DEFAULT_LOCK_SECONDS = 12 * 3600

/** Expiry of a lock: 0 requests the default, a negative number none, else seconds from now. */
function expiry(now: number, seconds: number): number | null {
  if (seconds < 0) return null
  return now + (seconds === 0 ? DEFAULT_LOCK_SECONDS : seconds)
}

/** The locks in effect in a library, with paths as it shows them. */
export async function seenLocks(core: LibraryCore, library: LibraryInfo): Promise<FileLock[]> {
  const locks = await listLocks(dbOf(core), library.key, core.now())
  if (library.sub === undefined) return locks
  return locks.flatMap((lock) => {
    const path = asSeen(library, lock.path)
    return path === undefined ? [] : [{ ...lock, path }]
  })
}

/** The lock in effect at a path. */
export function findLockAt(
  core: LibraryCore,
  library: Library,
  path: LibraryPath,
): Promise<FileLock | undefined> {
  return findLock(dbOf(core), library.info.key, inOrigin(library.info, path), core.now())
}

/**
 * Throws path-not-found; already-locked, also if the caller has the lock, or if another account has the lock of a folder above with all
 * its content.
 */
export async function lockFile(
  core: LibraryCore,
  library: EditableLibrary,
  path: LibraryPath,
  seconds: number,
): Promise<void> {
  await library.tree.getFile(path)
  const now = core.now()
  const place = inOrigin(library.info, path)
  const lock = { path: place, accountKey: library.actor.key, lockedAt: now, expiresAt: expiry(now, seconds) }
  const { info, actor } = library
  const db = dbOf(core)
  const held = await db.write(async (tx) => {
    await serializeLocking(tx, db.dialect, info.key)
    const above = (await listLocks(tx, info.key, now)).find(
      (one) => one.webdav?.isDeep === true && isWithin(place, one.path) && !isHeldBy(one, actor.key),
    )
    if (above !== undefined) return above
    if (await insertLock(tx, info.key, lock, now)) {
      await core.events.record(tx, { kind: 'locked', library: originOf(info), actor, path: place })
      return undefined
    }
    return findLock(tx, info.key, place, now)
  })
  if (held !== undefined) {
    fail({ code: 'already-locked', path, byCaller: held.accountKey === library.actor.key })
  }
}

/**
 * Throws path-not-found, not-locked, lock-not-yours. With `asOwner`, the owner of the library may remove any
 * lock; `onForced` is then written in the same transaction.
 */
export async function unlockFile(
  core: LibraryCore,
  library: EditableLibrary,
  path: LibraryPath,
  options: { asOwner: boolean; onForced?: TransactionHook },
): Promise<void> {
  await library.tree.getFile(path)
  const place = inOrigin(library.info, path)
  await dbOf(core).write(async (tx) => {
    const held = await findLock(tx, library.info.key, place, core.now())
    if (held === undefined) return fail({ code: 'not-locked', path })
    const isMine = isHeldBy(held, library.actor.key)
    if (!isMine && !(options.asOwner && library.isOwner)) return fail({ code: 'lock-not-yours', path })
    if (!isMine) await options.onForced?.(tx)
    await deleteLock(tx, library.info.key, place)
    const { info, actor } = library
    return core.events.record(tx, { kind: 'unlocked', library: originOf(info), actor, path: place })
  })
}

/** Renews the holder's lock. Throws path-not-found, not-locked, lock-not-yours. */
export async function refreshLock(
  core: LibraryCore,
  library: EditableLibrary,
  path: LibraryPath,
  seconds: number,
): Promise<void> {
  await library.tree.getFile(path)
  const place = inOrigin(library.info, path)
  await dbOf(core).write(async (tx) => {
    const held = await findLock(tx, library.info.key, place, core.now())
    if (held === undefined) return fail({ code: 'not-locked', path })
    if (held.accountKey !== library.actor.key) return fail({ code: 'lock-not-yours', path })
    return setLockExpiry(tx, library.info.key, place, expiry(core.now(), seconds))
  })
}

/** Those of the paths that a lock of another account protects. */
export async function lockedAmong(
  core: LibraryCore,
  library: EditableLibrary,
  paths: readonly LibraryPath[],
): Promise<Set<LibraryPath>> {
  const held = await heldByOthers(core, library, paths)
  return new Set(held.map(({ touched }) => touched))
}

/** Throws locked if another account has a lock at one of the paths, on an item below it, or on a folder above it with all its content. */
export async function refuseLocked(
  core: LibraryCore,
  library: EditableLibrary,
  paths: readonly LibraryPath[],
): Promise<void> {
  const [first] = await heldByOthers(core, library, paths)
  if (first !== undefined) fail({ code: 'locked', path: first.lock.path })
}

async function heldByOthers(core: LibraryCore, library: EditableLibrary, paths: readonly LibraryPath[]) {
  const locks = await seenLocks(core, library.info)
  const asked = new Set(paths)
  return locks.flatMap((lock) => {
    if (isHeldBy(lock, library.actor.key)) return []
    const isBelow = (path: LibraryPath) => lock.webdav?.isDeep === true && isWithin(path, lock.path)
    const touched = selfAndAbove(lock.path).find((path) => asked.has(path)) ?? paths.find(isBelow)
    return touched === undefined ? [] : [{ lock, touched }]
  })
}

/** Stands for every new entry of a folder: only a lock of the folder with all its content protects it. No item has this path. */
export function newEntryIn(folder: LibraryPath): LibraryPath {
  return joinPath(folder, '/')
}

/** Whether an account holds a lock, alone or with others. */
export function isHeldBy({ accountKey, webdav }: FileLock, account: number): boolean {
  if (webdav === undefined) return accountKey === account
  return webdav.holders.some((holder) => holder.accountKey === account)
}
