import { fail } from '../../base/errors.ts'
import type { Dirent } from '../../base/objects/index.ts'
import { isWithin, joinPath, type LibraryPath, ROOT, selfAndAbove } from '../../base/paths/index.ts'
import { type AuditActor, libraryAction } from '../../people/audit/index.ts'
import type { Transaction } from '../../platform/database/index.ts'
import { asSeen, inOrigin, type LibraryInfo, originOf } from '../registry/index.ts'
import { dbOf, type LibraryCore } from './core.ts'
import type { Actor, EditableLibrary, Library } from './library.ts'
import { covers } from './lock-rights.ts'
import {
  countLocksOf,
  deleteExpiredLocks,
  deleteLock,
  endLock,
  type FileLock,
  findLock,
  insertLock,
  type LockOrigin,
  listLocks,
  serializeLocking,
  setLockExpiry,
} from './lock-store.ts'

const DEFAULT_LOCK_SECONDS = 12 * 3600
/** Every change of a library looks at all its locks. */
const MAX_IN_LIBRARY = 2000
/** On the whole server. */
const MAX_OF_ACCOUNT = 500

/** Expiry of a lock: 0 requests the default, a negative number none, else seconds from now. */
function expiry(now: number, seconds: number): number | null {
  if (seconds < 0) return null
  return now + (seconds === 0 ? DEFAULT_LOCK_SECONDS : seconds)
}

/**
 * The locks in effect in a library, with paths as it shows them. Only those that `concerns` accepts are looked at; whether their holders
 * may still write takes time.
 */
async function seenLocks(
  core: LibraryCore,
  library: LibraryInfo,
  concerns: (lock: FileLock) => boolean = () => true,
): Promise<FileLock[]> {
  const locks = await listLocks(dbOf(core), library.key, core.now())
  if (locks.length === 0) return locks
  const places = new Map<LibraryPath, FileLock>()
  for (const lock of locks) {
    const seen = asShown(library, lock)
    if (seen !== undefined && concerns(seen)) places.set(lock.path, seen)
  }
  const kept = await core.lockRights.inEffect(
    library.key,
    locks.filter(({ path }) => places.has(path)),
  )
  return kept.map((lock) => ({ ...lock, path: places.get(lock.path)?.path ?? lock.path }))
}

/** A lock as a library shows it; undefined if it is elsewhere. A shared folder shows the lock of a folder above it with all its content as its own. */
function asShown(library: LibraryInfo, lock: FileLock): FileLock | undefined {
  if (library.sub === undefined) return lock
  const path = asSeen(library, lock.path)
  if (path !== undefined) return { ...lock, path }
  return fileLocks.covers(lock, library.sub.path) ? { ...lock, path: ROOT } : undefined
}

/** The lock in effect on the item at a path. */
async function findLockAt(
  core: LibraryCore,
  library: Library,
  path: LibraryPath,
): Promise<FileLock | undefined> {
  const { info } = library
  const lock = await findLock(dbOf(core), info.key, inOrigin(info, path), core.now())
  return lock && (await core.lockRights.inEffect(info.key, [lock]))[0]
}

/** Deletes the locks of a library whose holders may no longer write, so that others can lock the items. */
export async function endLapsedLocks(core: LibraryCore, library: LibraryInfo): Promise<void> {
  const db = dbOf(core)
  const locks = await listLocks(db, library.key, core.now())
  const kept = new Map((await core.lockRights.inEffect(library.key, locks)).map((lock) => [lock.path, lock]))
  const lapsed = locks.filter((lock) => kept.get(lock.path) !== lock)
  if (lapsed.length === 0) return
  await db.write(async (tx) => {
    for (const lock of lapsed) await endLock(tx, library.key, lock, kept.get(lock.path))
  })
}

/** Throws limit-reached if the account or the library has as many locks as are allowed. */
export async function refuseTooManyLocks(
  tx: Transaction,
  accountKey: number,
  inLibrary: number,
  now: number,
): Promise<void> {
  const isFull = inLibrary >= MAX_IN_LIBRARY
  const limit = isFull ? MAX_IN_LIBRARY : MAX_OF_ACCOUNT
  if (isFull || (await countLocksOf(tx, accountKey, now)) >= MAX_OF_ACCOUNT) {
    fail({ code: 'limit-reached', what: 'locks', limit })
  }
}

/** The origin of a lock that an actor takes. The lock of a session outlives it, as a link does. */
export function lockOriginOf({ key, scope }: Actor): LockOrigin {
  return { accountKey: key, scopedTokenKey: scope?.tokenKey }
}

/**
 * Throws path-not-found; already-locked, also if the caller has the lock, or if another account has the lock of a folder above with all
 * its content.
 */
async function lockFile(
  core: LibraryCore,
  library: EditableLibrary,
  path: LibraryPath,
  seconds: number,
): Promise<void> {
  await library.tree.getFile(path)
  const now = core.now()
  const place = inOrigin(library.info, path)
  const { info, actor } = library
  const lock = { path: place, ...lockOriginOf(actor), lockedAt: now, expiresAt: expiry(now, seconds) }
  const db = dbOf(core)
  await endLapsedLocks(core, info)
  const held = await db.write(async (tx) => {
    await serializeLocking(tx, db.dialect, info.key)
    const locks = await listLocks(tx, info.key, now)
    const above = locks.find(
      (one) => one.webdav?.isDeep === true && isWithin(place, one.path) && !isHeldBy(one, actor.key),
    )
    if (above !== undefined) return above
    if (!locks.some((one) => one.path === place)) {
      await refuseTooManyLocks(tx, actor.key, locks.length, now)
    }
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

/** Removes the lock of a file or folder. `breaker` may end that of others; undefined if the caller may not. Throws path-not-found, not-locked, lock-not-yours. */
async function unlock(
  core: LibraryCore,
  library: Library,
  path: LibraryPath,
  breaker: AuditActor | undefined,
): Promise<void> {
  const { info, actor, tree } = library
  if (path !== ROOT && (await tree.find(path)) === undefined) {
    fail({ code: 'path-not-found', path, wanted: 'Item' })
  }
  const place = inOrigin(info, path)
  await endLapsedLocks(core, info)
  await dbOf(core).write(async (tx) => {
    const held = await findLock(tx, info.key, place, core.now())
    if (held === undefined) return fail({ code: 'not-locked', path })
    const isMine = isHeldBy(held, actor.key)
    if (!isMine) await breakLock(core, tx, library, path, breaker)
    await deleteLock(tx, info.key, place)
    return core.events.record(tx, { kind: 'unlocked', library: originOf(info), actor, path: place })
  })
}

/** Records that a lock of others is ended. Throws lock-not-yours. */
export async function breakLock(
  core: LibraryCore,
  tx: Transaction,
  { info }: Library,
  path: LibraryPath,
  breaker: AuditActor | undefined,
): Promise<void> {
  if (breaker === undefined) return fail({ code: 'lock-not-yours', path })
  await core.audit.record(tx, breaker, { ...libraryAction('lock-forced', info), path })
}

/** Renews the holder's lock. Throws path-not-found, not-locked, lock-not-yours. */
async function refreshLock(
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
async function lockedAmong(
  core: LibraryCore,
  library: EditableLibrary,
  paths: readonly LibraryPath[],
): Promise<Set<LibraryPath>> {
  const held = await heldByOthers(core, library, paths)
  return new Set(held.map(({ touched }) => touched))
}

/** Throws locked if another account has a lock at one of the paths, on an item below it, or on a folder above it with all its content. */
async function refuseLocked(
  core: LibraryCore,
  library: EditableLibrary,
  paths: readonly LibraryPath[],
): Promise<void> {
  const [first] = await heldByOthers(core, library, paths)
  if (first !== undefined) fail({ code: 'locked', path: first.lock.path })
}

async function heldByOthers(core: LibraryCore, library: EditableLibrary, paths: readonly LibraryPath[]) {
  const asked = new Set(paths)
  const touchedBy = (lock: FileLock) =>
    selfAndAbove(lock.path).find((path) => asked.has(path)) ??
    (lock.webdav?.isDeep === true ? paths.find((path) => isWithin(path, lock.path)) : undefined)
  const isOfOthers = (lock: FileLock) => !isHeldBy(lock, library.actor.key) && touchedBy(lock) !== undefined
  const locks = await seenLocks(core, library.info, isOfOthers)
  return locks.flatMap((lock) => {
    const touched = touchedBy(lock)
    return touched === undefined ? [] : [{ lock, touched }]
  })
}

/** Whether an item can have a lock: a file any, a folder that of a WebDAV client. Undefined stands for no item, except at the root. */
export function isLockable({ path, webdav }: FileLock, item: Pick<Dirent, 'kind'> | undefined): boolean {
  return path === ROOT || item?.kind === 'file' || (item?.kind === 'dir' && webdav !== undefined)
}

/** Stands for every new entry of a folder: only a lock of the folder with all its content protects it. No item has this path. */
export function newEntryIn(folder: LibraryPath): LibraryPath {
  return joinPath(folder, '/')
}

/** Whether an account holds a lock, alone or with others. */
function isHeldBy({ accountKey, webdav }: FileLock, account: number): boolean {
  if (webdav === undefined) return accountKey === account
  return webdav.holders.some((holder) => holder.accountKey === account)
}

/** The locks of the files and folders of a library. */
export const fileLocks = {
  list: seenLocks,
  at: findLockAt,
  among: lockedAmong,
  isHeldBy,
  covers,
  lock: lockFile,
  refresh: refreshLock,
  refuse: refuseLocked,
  unlock,
  deleteExpired: deleteExpiredLocks,
}
