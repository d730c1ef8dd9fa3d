import type { Reader } from '../database/database.ts'
import { type LibraryPath, ROOT } from '../objects/paths.ts'
import type { LibraryCore } from './core.ts'
import { pathKey } from './path-key.ts'

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
export async function starredLibraries(reader: Reader, accountKey: number): Promise<Set<number>> {
  const sql = 'select library_key from star where account_key = ? and path_key = ?'
  const rows = await reader.all<{ library_key: number }>(sql, accountKey, pathKey(ROOT))
  return new Set(rows.map((row) => row.library_key))
}

export async function isStarred(
  reader: Reader,
  accountKey: number,
  libraryKey: number,
  path: LibraryPath,
): Promise<boolean> {
  const sql = 'select 1 as starred from star where account_key = ? and library_key = ? and path_key = ?'
  return (await reader.get(sql, accountKey, libraryKey, pathKey(path))) !== undefined
}

/** Starring twice is fine. */
export async function addStar(
  core: LibraryCore,
  accountKey: number,
  libraryKey: number,
  path: LibraryPath,
  isDir: boolean,
): Promise<void> {
  const columns = ['account_key', 'library_key', 'path_key', 'path', 'is_dir', 'created_at']
  const row = [accountKey, libraryKey, pathKey(path), path, isDir ? 1 : 0, core.now()]
  await core.db.write((tx) => tx.insert('star', columns, [row], { ignoreExisting: true }))
}

/** False if it was not starred. */
export async function removeStar(
  core: LibraryCore,
  accountKey: number,
  libraryKey: number,
  path: LibraryPath,
): Promise<boolean> {
  const sql = 'delete from star where account_key = ? and library_key = ? and path_key = ?'
  return (await core.db.write((tx) => tx.run(sql, accountKey, libraryKey, pathKey(path)))) === 1
}
