import { fail } from '../../base/errors.ts'
import { isWithin, type LibraryPath } from '../../base/paths/index.ts'
import type { AuditActor } from '../../people/audit/index.ts'
import type { Transaction } from '../../platform/database/index.ts'
import { inOrigin, originOf } from '../registry/index.ts'
import { dbOf, type LibraryCore } from './core.ts'
import type { EditableLibrary } from './library.ts'
import {
  deleteLock,
  type FileLock,
  findLock,
  insertLock,
  listLocks,
  serializeLocking,
  setLockExpiry,
  setWebdavLock,
} from './lock-store.ts'
import { breakLock, endLapsedLocks, fileLocks, lockOriginOf, refuseTooManyLocks } from './locks.ts'

/** Holders of shared locks on an item, and on the folders above it and the items below it that they cover. */
const MAX_HOLDERS = 10

/** A lock as a WebDAV client asks for it. */
interface WantedLock {
  readonly token: string
  readonly scope: 'exclusive' | 'shared'
  readonly isDeep: boolean
  /** How the client describes itself: an XML element. */
  readonly owner: string
  readonly seconds: number
}

/** Whether an account holds a lock with this token. */
function holdsToken({ webdav }: FileLock, token: string, accountKey: number): boolean {
  return webdav?.holders.some((holder) => holder.token === token && holder.accountKey === accountKey) === true
}

/**
 * Locks an item of the library under a new token. A lock that the account took otherwise gets the token. Throws
 * already-locked unless it and every conflicting lock are shared.
 */
async function takeToken(
  core: LibraryCore,
  library: EditableLibrary,
  path: LibraryPath,
  wanted: WantedLock,
): Promise<void> {
  const { info, actor } = library
  const place = inOrigin(info, path)
  const now = core.now()
  const { token, scope, isDeep, owner } = wanted
  const holder = { token, ...lockOriginOf(actor), owner }
  const db = dbOf(core)
  await endLapsedLocks(core, info)
  await db.write(async (tx) => {
    await serializeLocking(tx, db.dialect, info.key)
    const locks = await listLocks(tx, info.key, now)
    const conflicting = locks.filter(
      (lock) => fileLocks.covers(lock, place) || (isDeep && isWithin(lock.path, place)),
    )
    const own = conflicting.find((lock) => lock.path === place)
    const isAdopted = (lock: FileLock) => lock.webdav === undefined && lock.accountKey === actor.key
    const refusing = conflicting.find(
      (lock) =>
        !(scope === 'shared' && lock.webdav?.scope === 'shared') && !(lock === own && isAdopted(lock)),
    )
    if (refusing !== undefined) return refuse(refusing)
    const holders = conflicting.reduce((sum, { webdav }) => sum + (webdav?.holders.length ?? 1), 0)
    if (holders >= MAX_HOLDERS) return refuse(own)
    const expiresAt = now + wanted.seconds
    if (own === undefined) {
      const webdav = { scope, isDeep, holders: [holder] }
      const lock = { path: place, ...lockOriginOf(actor), lockedAt: now, expiresAt, webdav }
      await refuseTooManyLocks(tx, actor.key, locks.length, now)
      if (!(await insertLock(tx, info.key, lock, now))) return refuse()
    } else {
      const before = own.webdav
      // A lock that the account took otherwise ends with what it was taken with.
      const added = before === undefined ? { ...holder, scopedTokenKey: own.scopedTokenKey } : holder
      const holders = [...(before?.holders ?? []), added]
      const after = { scope, isDeep: isDeep || before?.isDeep === true, holders }
      if (!(await setWebdavLock(tx, info.key, place, { before, after }))) return refuse()
      await prolong(tx, info.key, own, expiresAt)
    }
    return core.events.record(tx, { kind: 'locked', library: originOf(info), actor, path: place })
  })

  function refuse(lock?: FileLock): never {
    return fail({ code: 'already-locked', path, byCaller: lock?.accountKey === actor.key })
  }
}

/** Renews the lock with this token that covers the path. Resolves to it; undefined if there is none. */
async function refreshToken(
  core: LibraryCore,
  library: EditableLibrary,
  path: LibraryPath,
  token: string,
  seconds: number,
): Promise<FileLock | undefined> {
  const { info, actor } = library
  const place = inOrigin(info, path)
  const now = core.now()
  return dbOf(core).write(async (tx) => {
    const lock = (await listLocks(tx, info.key, now)).find(
      (one) => isWithin(place, one.path) && holdsToken(one, token, actor.key),
    )
    if (lock === undefined) return undefined
    const { holders = [] } = lock.webdav ?? {}
    // The other holders of a shared lock must not lose it early.
    if (holders.length > 1) await prolong(tx, info.key, lock, now + seconds)
    else await setLockExpiry(tx, info.key, lock.path, now + seconds)
    return findLock(tx, info.key, lock.path, now)
  })
}

/** Ends the hold of a token on the lock that covers the path. Resolves to whether there was one. Throws lock-not-yours. */
async function dropToken(
  core: LibraryCore,
  library: EditableLibrary,
  path: LibraryPath,
  token: string,
  breaker: AuditActor | undefined,
): Promise<boolean> {
  const { info, actor } = library
  const place = inOrigin(info, path)
  return dbOf(core).write(async (tx) => {
    const lock = (await listLocks(tx, info.key, core.now())).find(
      (one) => isWithin(place, one.path) && one.webdav?.holders.some((holder) => holder.token === token),
    )
    const before = lock?.webdav
    if (lock === undefined || before === undefined) return false
    if (!holdsToken(lock, token, actor.key)) await breakLock(core, tx, library, path, breaker)
    const holders = before.holders.filter((holder) => holder.token !== token)
    if (holders.length === 0) await deleteLock(tx, info.key, lock.path)
    else if (!(await setWebdavLock(tx, info.key, lock.path, { before, after: { ...before, holders } }))) {
      return false
    }
    await core.events.record(tx, { kind: 'unlocked', library: originOf(info), actor, path: lock.path })
    return true
  })
}

async function prolong(
  tx: Transaction,
  libraryKey: number,
  lock: FileLock,
  expiresAt: number,
): Promise<void> {
  const { path, expiresAt: before } = lock
  if (before !== null && before < expiresAt) await setLockExpiry(tx, libraryKey, path, expiresAt)
}

/** Lock tokens of WebDAV clients. */
export const lockTokens = {
  maxHolders: MAX_HOLDERS,
  isHeld: holdsToken,
  take: takeToken,
  refresh: refreshToken,
  drop: dropToken,
}
