import type { LibraryId } from '../../base/objects/index.ts'
import { type LibraryPath, pathKey } from '../../base/paths/index.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'
import { libraryRows } from '../registry/index.ts'

/** The current target of a smart link. */
export interface SmartLink {
  readonly libraryId: LibraryId
  readonly path: LibraryPath
  readonly isDir: boolean
}

export async function findSmartLinkToken(
  reader: Reader,
  libraryKey: number,
  path: LibraryPath,
  isDir: boolean,
): Promise<string | undefined> {
  const row = await reader.get<{ token: string }>(
    'select token from smart_link where library_key = ? and path_key = ? and is_dir = ?',
    libraryKey,
    pathKey(path),
    isDir ? 1 : 0,
  )
  return row?.token
}

/** The number of smart links of a library; `most` at most. */
export async function countSmartLinks(reader: Reader, libraryKey: number, most: number): Promise<number> {
  const row = await reader.get<{ count: number }>(
    'select count(*) as count from (select 1 as one from smart_link where library_key = ? limit ?) counted',
    libraryKey,
    most,
  )
  return row?.count ?? 0
}

/** Does nothing if the path already has a link. */
export async function insertSmartLink(
  tx: Transaction,
  token: string,
  libraryKey: number,
  path: LibraryPath,
  isDir: boolean,
): Promise<void> {
  const row = [token, libraryKey, pathKey(path), path, isDir ? 1 : 0]
  await tx.insert('smart_link', ['token', 'library_key', 'path_key', 'path', 'is_dir'], [row], {
    ignoreExisting: true,
  })
}

export async function findSmartLink(reader: Reader, token: string): Promise<SmartLink | undefined> {
  const row = await reader.get<{ id: string; path: string; is_dir: number }>(
    `select l.id, s.path, s.is_dir from smart_link s join ${libraryRows.relation} l on l.key = s.library_key
     where s.token = ? and l.deleted_at is null`,
    token,
  )
  return row && { libraryId: row.id as LibraryId, path: row.path as LibraryPath, isDir: row.is_dir === 1 }
}
