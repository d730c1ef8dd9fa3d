import type { LibraryId } from '../../base/objects/index.ts'
import { type LibraryPath, parentOf, pathKey, ROOT, seenFrom } from '../../base/paths/index.ts'
import { type MaybePromise, whenReady } from '../../base/scheduling/index.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'
import { libraryRows } from '../registry/index.ts'
import { viewRelation } from '../views/index.ts'

/** A starred library, folder or file. The path of a library is the root. */
export interface Star {
  readonly libraryId: LibraryId
  readonly path: LibraryPath
  readonly isDir: boolean
  /** The library and the path that it is stored with, which differ in a sub-library. */
  readonly stored: { readonly libraryKey: number; readonly path: LibraryPath }
}

/** The stars of an account in libraries that are not deleted, newest first. */
export async function listStars(reader: Reader, accountKey: number): Promise<Star[]> {
  const rows = await reader.all<{
    id: string
    path: string
    is_dir: number
    library_key: number
    sub_id: string | null
    base: string | null
    is_file: number | null
  }>(
    `select l.id, s.path, s.is_dir, s.library_key, sub.id as sub_id, sub.path as base, sub.is_file
     from star s join ${libraryRows.relation} l on l.key = s.library_key
     left join ${viewRelation} sub on sub.key = s.sub_key
     where s.account_key = ? and l.deleted_at is null order by s.created_at desc, l.key desc, s.path`,
    accountKey,
  )
  return rows.flatMap((row) => {
    const base = (row.base ?? ROOT) as LibraryPath
    // In a view of one file, the file is below the root.
    const path = seenFrom(row.is_file === 1 ? parentOf(base) : base, row.path as LibraryPath)
    // The item was moved out of the sub-library it was starred in, so it is not visible there.
    if (path === undefined) return []
    const stored = { libraryKey: row.library_key, path: row.path as LibraryPath }
    return { libraryId: (row.sub_id ?? row.id) as LibraryId, path, isDir: row.is_dir === 1, stored }
  })
}

/** The starred paths of an account in a library. */
export async function starredPaths(
  reader: Reader,
  accountKey: number,
  libraryKey: number,
): Promise<LibraryPath[]> {
  const rows = await reader.all<{ path: string }>(
    'select path from star where account_key = ? and library_key = ?',
    accountKey,
    libraryKey,
  )
  return rows.map((row) => row.path as LibraryPath)
}

/** The ids of the libraries and sub-libraries that an account has starred as a whole. */
export async function starredLibraryIds(reader: Reader, accountKey: number): Promise<Set<LibraryId>> {
  const rows = await reader.all<{ id: string }>(
    `select l.id from star s join ${libraryRows.relation} l on l.key = s.library_key
     where s.account_key = ? and s.path_key = ?
     union all
     select sub.id from star s join ${viewRelation} sub on sub.key = s.sub_key and sub.path_key = s.path_key
     where s.account_key = ?`,
    accountKey,
    pathKey(ROOT),
    accountKey,
  )
  return new Set(rows.map((row) => row.id as LibraryId))
}

export function hasStar(
  reader: Reader,
  accountKey: number,
  libraryKey: number,
  path: LibraryPath,
): MaybePromise<boolean> {
  const sql = 'select 1 as starred from star where account_key = ? and library_key = ? and path_key = ?'
  return whenReady(reader.get(sql, accountKey, libraryKey, pathKey(path)), (row) => row !== undefined)
}

/** Idempotent. */
export async function insertStar(
  tx: Transaction,
  star: {
    accountKey: number
    libraryKey: number
    /** The sub-library it was starred in. */
    subKey: number | undefined
    path: LibraryPath
    isDir: boolean
    createdAt: number
  },
): Promise<boolean> {
  const columns = ['account_key', 'library_key', 'sub_key', 'path_key', 'path', 'is_dir', 'created_at']
  const { accountKey, libraryKey, subKey, path, isDir, createdAt } = star
  const row = [accountKey, libraryKey, subKey ?? null, pathKey(path), path, isDir ? 1 : 0, createdAt]
  return (await tx.insertNew('star', columns, [row])) === 1
}

/** The number of stars of an account; `most` at most. */
export async function countStars(reader: Reader, accountKey: number, most: number): Promise<number> {
  const row = await reader.get<{ count: number }>(
    'select count(*) as count from (select 1 as one from star where account_key = ? limit ?) counted',
    accountKey,
    most,
  )
  return row?.count ?? 0
}

/** False if it does not exist. */
export async function deleteStar(
  tx: Transaction,
  accountKey: number,
  libraryId: LibraryId,
  path: LibraryPath,
): Promise<boolean> {
  const sql = `delete from star where account_key = ? and path_key = ?
    and library_key in (select l.key from ${libraryRows.relation} l where l.id = ?)`
  return (await tx.run(sql, accountKey, pathKey(path), libraryId)) === 1
}

/** As deleteStar, by library key. */
export async function deleteStarIn(
  tx: Transaction,
  accountKey: number,
  libraryKey: number,
  path: LibraryPath,
): Promise<boolean> {
  const sql = 'delete from star where account_key = ? and path_key = ? and library_key = ?'
  return (await tx.run(sql, accountKey, pathKey(path), libraryKey)) === 1
}
