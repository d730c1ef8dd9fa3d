import { type LibraryPath, pathKey } from '../../base/paths/index.ts'
import { type Dialect, inGroups, type Reader, type Transaction } from '../../platform/database/index.ts'
import { type PathBinding, tableBinding } from '../registry/index.ts'

/** A lock in effect. */
export interface FileLock {
  readonly path: LibraryPath
  readonly accountKey: number
  /** Unix seconds. */
  readonly lockedAt: number
  /** Null for a lock that does not expire. */
  readonly expiresAt: number | null
  /** The personal or library token that it was taken with; undefined for none. */
  readonly scopedTokenKey?: number | undefined
  /** Undefined for a lock that was not taken by WebDAV. */
  readonly webdav?: WebdavLock | undefined
}

/** What a lock of WebDAV is in addition. It may be on a folder, and a shared one has several holders. */
interface WebdavLock {
  readonly scope: 'exclusive' | 'shared'
  /** Whether it covers everything below a folder. */
  readonly isDeep: boolean
  readonly holders: readonly LockHolder[]
}

/** What the right to hold a lock comes from. */
export interface LockOrigin {
  readonly accountKey: number
  /** The personal or library token of the holder; undefined for none. */
  readonly scopedTokenKey?: number | undefined
}

/** One holder of a lock. The token proves it. */
interface LockHolder extends LockOrigin {
  readonly token: string
  /** How the client describes itself: an XML element. */
  readonly owner: string
}

interface LockRow {
  path: string
  account_key: number
  locked_at: number
  expires_at: number | null
  webdav: string | null
  scoped_token_key: number | null
}

/** Distinguishes these advisory locks of PostgreSQL from others. */
const LOCK_CLASS = 0x6461_766c
const MAX_INT = 2 ** 31

const COLUMNS = 'path, account_key, locked_at, expires_at, webdav, scoped_token_key'

/**
 * All locks of a library that have not expired. Every upload reads them, so the time is not a parameter: the statement would be another one
 * every second, and its rows would not be cached.
 */
export async function listLocks(reader: Reader, libraryKey: number, now: number): Promise<FileLock[]> {
  const rows = await reader.all<LockRow>(`select ${COLUMNS} from file_lock where library_key = ?`, libraryKey)
  return rows.filter(({ expires_at: end }) => end === null || end > now).map(toLock)
}

export async function findLock(
  reader: Reader,
  libraryKey: number,
  path: LibraryPath,
  now: number,
): Promise<FileLock | undefined> {
  const row = await reader.get<LockRow>(
    `select ${COLUMNS} from file_lock
     where library_key = ? and path_key = ? and (expires_at is null or expires_at > ?)`,
    libraryKey,
    pathKey(path),
    now,
  )
  return row && toLock(row)
}

/**
 * Makes transactions that add locks to a library run one after another. A lock of a folder with its content conflicts with rows of
 * other paths, which no unique key prevents. Called before the locks are read. SQLite has one writer at a time anyway.
 */
export async function serializeLocking(tx: Transaction, dialect: Dialect, libraryKey: number): Promise<void> {
  if (dialect !== 'postgres') return
  await tx.get('select pg_advisory_xact_lock(?::int, ?::int)', LOCK_CLASS, libraryKey % MAX_INT)
}

/** False if there is a lock in effect, also one of the caller. An expired lock is replaced. */
export async function insertLock(
  tx: Transaction,
  libraryKey: number,
  lock: FileLock,
  now: number,
): Promise<boolean> {
  const key = pathKey(lock.path)
  await tx.run(
    'delete from file_lock where library_key = ? and path_key = ? and expires_at is not null and expires_at <= ?',
    libraryKey,
    key,
    now,
  )
  const row = {
    library_key: libraryKey,
    path_key: key,
    path: lock.path,
    account_key: lock.accountKey,
    locked_at: lock.lockedAt,
    expires_at: lock.expiresAt,
    webdav: packed(lock.webdav),
    scoped_token_key: lock.scopedTokenKey ?? null,
  }
  return (await tx.insertNew('file_lock', Object.keys(row), [Object.values(row)])) === 1
}

export async function setLockExpiry(
  tx: Transaction,
  libraryKey: number,
  path: LibraryPath,
  expiresAt: number | null,
): Promise<void> {
  await tx.run(
    'update file_lock set expires_at = ? where library_key = ? and path_key = ?',
    expiresAt,
    libraryKey,
    pathKey(path),
  )
}

/** Replaces what a lock is in addition. False if it is not `before` any more. */
export async function setWebdavLock(
  tx: Transaction,
  libraryKey: number,
  path: LibraryPath,
  { before, after }: { before: WebdavLock | undefined; after: WebdavLock },
): Promise<boolean> {
  const changed = await tx.run(
    "update file_lock set webdav = ? where library_key = ? and path_key = ? and coalesce(webdav, '') = ?",
    packed(after),
    libraryKey,
    pathKey(path),
    packed(before) ?? '',
  )
  return changed === 1
}

export async function deleteLock(tx: Transaction, libraryKey: number, path: LibraryPath): Promise<void> {
  await tx.run('delete from file_lock where library_key = ? and path_key = ?', libraryKey, pathKey(path))
}

/** Replaces a lock by `after`, or deletes it, unless it was changed since `before` was read. */
export async function endLock(
  tx: Transaction,
  libraryKey: number,
  before: FileLock,
  after: FileLock | undefined,
): Promise<void> {
  if (after?.webdav !== undefined) {
    await setWebdavLock(tx, libraryKey, before.path, { before: before.webdav, after: after.webdav })
    return
  }
  await tx.run(
    `delete from file_lock where library_key = ? and path_key = ? and account_key = ? and locked_at = ?
       and coalesce(webdav, '') = ?`,
    libraryKey,
    pathKey(before.path),
    before.accountKey,
    before.lockedAt,
    packed(before.webdav) ?? '',
  )
}

/** The locks in effect that an account has, on the whole server. Those of other holders of shared locks are not counted. */
export async function countLocksOf(reader: Reader, accountKey: number, now: number): Promise<number> {
  const row = await reader.get<{ count: number }>(
    'select count(*) as count from file_lock where account_key = ? and (expires_at is null or expires_at > ?)',
    accountKey,
    now,
  )
  return row?.count ?? 0
}

/** Startup and maintenance: deletes expired locks. */
export async function deleteExpiredLocks(tx: Transaction, now: number): Promise<number> {
  return tx.run('delete from file_lock where expires_at is not null and expires_at <= ?', now)
}

function toLock(row: LockRow): FileLock {
  return {
    path: row.path as LibraryPath,
    accountKey: row.account_key,
    lockedAt: row.locked_at,
    expiresAt: row.expires_at,
    ...(row.scoped_token_key !== null && { scopedTokenKey: row.scoped_token_key }),
    ...(row.webdav !== null && { webdav: JSON.parse(row.webdav) as WebdavLock }),
  }
}

function packed(lock: WebdavLock | undefined): string | null {
  if (lock === undefined) return null
  const { scope, isDeep, holders } = lock
  const all = holders.map(({ token, accountKey, owner, scopedTokenKey }) => ({
    token,
    accountKey,
    owner,
    ...(scopedTokenKey !== undefined && { scopedTokenKey }),
  }))
  return JSON.stringify({ scope, isDeep, holders: all })
}

/** The locks of libraries and accounts that are deleted. */
export const lockRows = {
  async onDeleted(tx: Transaction, libraryKeys: readonly number[]): Promise<void> {
    for (const { some, marks } of inGroups(libraryKeys)) {
      await tx.run(`delete from file_lock where library_key in (${marks})`, ...some)
    }
  },
  async onPurged(tx: Transaction, libraryKey: number): Promise<void> {
    await tx.run('delete from file_lock where library_key = ?', libraryKey)
  },
  async deleteOfAccount(tx: Transaction, accountKey: number): Promise<void> {
    await tx.run('delete from file_lock where account_key = ?', accountKey)
  },
}

/** Locks follow the item at their path. */
export const lockBinding: PathBinding = tableBinding('file_lock', { rows: 'locks', endsWithItem: true })
