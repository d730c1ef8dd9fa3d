import type { LibraryId } from '../../base/objects/index.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'

/** A name in the WebDAV root of an account, and the library or sub-library it stands for. */
export interface WebdavName {
  readonly name: string
  readonly libraryId: LibraryId
}

interface NameRow {
  folded_name: string
  name: string
  library_id: string
}

/** The form in which names are compared. */
export function foldName(name: string): string {
  return name.toLowerCase()
}

/** The assigned name that is equal but for case. */
export async function findWebdavName(
  reader: Reader,
  accountKey: number,
  name: string,
): Promise<WebdavName | undefined> {
  const sql =
    'select folded_name, name, library_id from webdav_name where account_key = ? and folded_name = ?'
  const row = await reader.get<NameRow>(sql, accountKey, foldName(name))
  return row && toName(row)
}

/** All names of an account, by their folded form. */
export async function listWebdavNames(reader: Reader, accountKey: number): Promise<Map<string, WebdavName>> {
  const sql = 'select folded_name, name, library_id from webdav_name where account_key = ?'
  const rows = await reader.all<NameRow>(sql, accountKey)
  return new Map(rows.map((row) => [row.folded_name, toName(row)]))
}

/** Assigns names that are free. One that another node has assigned meanwhile stays as it is. */
export async function insertWebdavNames(
  tx: Transaction,
  accountKey: number,
  names: readonly WebdavName[],
): Promise<void> {
  const columns = ['account_key', 'folded_name', 'name', 'library_id']
  const rows = names.map(({ name, libraryId }) => [accountKey, foldName(name), name, libraryId])
  await tx.insert('webdav_name', columns, rows, { ignoreExisting: true })
}

/** Assigns a name to another library, or writes it in another case, unless another node has changed it meanwhile. */
export async function replaceWebdavName(
  tx: Transaction,
  accountKey: number,
  before: WebdavName,
  { name, libraryId }: WebdavName,
): Promise<void> {
  await tx.run(
    'update webdav_name set name = ?, library_id = ? where account_key = ? and folded_name = ? and library_id = ?',
    name,
    libraryId,
    accountKey,
    foldName(name),
    before.libraryId,
  )
}

function toName(row: NameRow): WebdavName {
  return { name: row.name, libraryId: row.library_id as LibraryId }
}
