import type { Reader, Transaction } from '../database/database.ts'
import type { LibraryId } from '../objects/ids.ts'
import { type LibraryPath, ROOT } from '../objects/paths.ts'
import { pathKey } from './path-key.ts'

/** A library, folder or file that an account starred; the path of a library is the root. */
export interface Star {
  readonly libraryId: LibraryId
  readonly path: LibraryPath
  readonly isDir: boolean
}

/** What an account starred in libraries that are not deleted, newest first. */
export async function listStars(reader: Reader, accountKey: number): Promise<Star[]> {
  const rows = await reader.all<{ id: string; path: string; is_dir: number }>(
    `select l.id, s.path, s.is_dir from star s join library l on l.key = s.library_key
     where s.account_key = ? and l.deleted_at is null order by s.created_at desc, l.key desc, s.path`,
    accountKey,
  )
  return rows.map((row) => ({
    libraryId: row.id as LibraryId,
    path: row.path as LibraryPath,
    isDir: row.is_dir === 1,
  }))
}

/** The paths of a library that an account starred. */
export async function starredPaths(
  reader: Reader,
  accountKey: number,
  libraryKey: number,
): Promise<Set<string>> {
  const rows = await reader.all<{ path: string }>(
    'select path from star where account_key = ? and library_key = ?',
    accountKey,
    libraryKey,
  )
  return new Set(rows.map((row) => row.path))
}

/** The keys of the libraries that an account starred as a whole. */
export async function starredLibraryKeys(reader: Reader, accountKey: number): Promise<Set<number>> {
  const sql = 'select library_key from star where account_key = ? and path_key = ?'
  const rows = await reader.all<{ library_key: number }>(sql, accountKey, pathKey(ROOT))
  return new Set(rows.map((row) => row.library_key))
}

export async function hasStar(
  reader: Reader,
  accountKey: number,
  libraryKey: number,
  path: LibraryPath,
): Promise<boolean> {
  const sql = 'select 1 as starred from star where account_key = ? and library_key = ? and path_key = ?'
  return (await reader.get(sql, accountKey, libraryKey, pathKey(path))) !== undefined
}

/** Does nothing if it is there already. */
export async function insertStar(
  tx: Transaction,
  star: { accountKey: number; libraryKey: number; path: LibraryPath; isDir: boolean; createdAt: number },
): Promise<void> {
  const columns = ['account_key', 'library_key', 'path_key', 'path', 'is_dir', 'created_at']
  const { accountKey, libraryKey, path, isDir, createdAt } = star
  const row = [accountKey, libraryKey, pathKey(path), path, isDir ? 1 : 0, createdAt]
  await tx.insert('star', columns, [row], { ignoreExisting: true })
}

/** False if there was none. */
export async function deleteStar(
  tx: Transaction,
  accountKey: number,
  libraryId: LibraryId,
  path: LibraryPath,
): Promise<boolean> {
  const sql = `delete from star where account_key = ? and path_key = ?
    and library_key in (select key from library where id = ?)`
  return (await tx.run(sql, accountKey, pathKey(path), libraryId)) === 1
}
