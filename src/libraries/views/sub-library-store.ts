import { refuseAtLimit } from '../../base/errors.ts'
import { type LibraryId, newLibraryId } from '../../base/objects/index.ts'
import { type LibraryPath, pathKey } from '../../base/paths/index.ts'
import { inGroups, type Reader, type Transaction, type Value } from '../../platform/database/index.ts'
import {
  type LibraryDependent,
  type LibraryInfo,
  type LibraryRow,
  libraryRows,
  type PathBinding,
  type SubLibrary,
  tableBinding,
} from '../registry/index.ts'

interface SubLibraryRow {
  key: number
  id: string
  library_key: number
  path: string
  since_seq: number
  is_file: number
  password_check: string | null
}

const COLUMNS = 's.key, s.id, s.library_key, s.path, s.since_seq, s.is_file, s.password_check'
const STORED = `select ${COLUMNS} from sub_library s join ${libraryRows.relation} l on l.key = s.library_key
  where l.deleted_at is null and`

export function findSubLibrary(reader: Reader, id: LibraryId): Promise<SubLibrary | undefined> {
  return one(reader, `${STORED} s.id = ?`, id)
}

export function findSubLibraryByKey(reader: Reader, key: number): Promise<SubLibrary | undefined> {
  return one(reader, `${STORED} s.key = ?`, key)
}

export function findSubLibraryAt(
  reader: Reader,
  libraryKey: number,
  path: LibraryPath,
): Promise<SubLibrary | undefined> {
  return one(reader, `${STORED} s.library_key = ? and s.path_key = ?`, libraryKey, pathKey(path))
}

/** A sub-library and its origin, from one query. */
interface WithOrigin {
  readonly sub: SubLibrary
  readonly origin: LibraryInfo
}

/** The sub-libraries among keys or ids, unordered. One query reads both, because the folder may be moved concurrently. */
export async function findWithOrigin(
  reader: Reader,
  column: 'key' | 'id',
  values: readonly Value[],
): Promise<WithOrigin[]> {
  const found: WithOrigin[] = []
  for (let start = 0; start < values.length; start += 500) {
    const some = values.slice(start, start + 500)
    const rows = await reader.all<
      LibraryRow & {
        sub_key: number
        sub_id: string
        sub_path: string
        sub_since: number
        sub_is_file: number
        sub_password_check: string | null
      }
    >(
      `select l.*, s.key as sub_key, s.id as sub_id, s.path as sub_path, s.since_seq as sub_since,
         s.is_file as sub_is_file, s.password_check as sub_password_check
       from sub_library s join ${libraryRows.wholeRelation} l on l.key = s.library_key
       where l.deleted_at is null and s.${column} in (${some.map(() => '?').join(', ')})`,
      ...some,
    )
    for (const row of rows) {
      const { sub_key: key, sub_id: id, sub_path: path, sub_since: since_seq, sub_is_file: is_file } = row
      const password_check = row.sub_password_check
      const sub = toSubLibrary({ key, id, library_key: row.key, path, since_seq, is_file, password_check })
      found.push({ sub, origin: libraryRows.read(row) })
    }
  }
  return found
}

export async function listSubLibraries(reader: Reader, libraryKey: number): Promise<SubLibrary[]> {
  const sql = `select ${COLUMNS} from sub_library s where s.library_key = ?`
  return (await reader.all<SubLibraryRow>(sql, libraryKey)).map(toSubLibrary)
}

/** The sub-library of a folder or file, created if there is none. Throws limit-reached. */
export async function putSubLibrary(
  tx: Transaction,
  libraryKey: number,
  path: LibraryPath,
  sinceSeq: number,
  { isFile, id = newLibraryId() }: { isFile: boolean; id?: LibraryId },
): Promise<SubLibrary> {
  const other = await findSubLibraryAt(tx, libraryKey, path)
  // A folder was replaced by a file of the same name, or the other way round.
  if (other !== undefined && other.isFile !== isFile) await deleteSubLibrary(tx, other.key)
  const columns = ['id', 'library_key', 'path_key', 'path', 'since_seq', 'is_file']
  const row = [id, libraryKey, pathKey(path), path, sinceSeq, isFile ? 1 : 0]
  const isNew = (await tx.insertNew('sub_library', columns, [row])) === 1
  if (isNew) await refuseAtLimit('views', (most) => countOthers(tx, libraryKey, most))
  const created = await findSubLibraryAt(tx, libraryKey, path)
  if (created === undefined) throw new Error('a sub-library was created and is not there')
  return created
}

/** The number of sub-libraries of a library besides a new one; `most` at most. */
async function countOthers(reader: Reader, libraryKey: number, most: number): Promise<number> {
  const row = await reader.get<{ count: number }>(
    'select count(*) as count from (select 1 as one from sub_library where library_key = ? limit ?) counted',
    libraryKey,
    most + 1,
  )
  return (row?.count ?? 1) - 1
}

/** Restarts the history of the view at a commit. Deletes the objects that earlier recipients could read. */
export async function restartSubLibrary(tx: Transaction, key: number, sinceSeq: number): Promise<void> {
  await tx.run('update sub_library set since_seq = ? where key = ?', sinceSeq, key)
  await tx.run('delete from sub_object where sub_key = ?', key)
}

export async function setSubLibraryPath(tx: Transaction, key: number, path: LibraryPath): Promise<void> {
  await tx.run('update sub_library set path = ?, path_key = ? where key = ?', path, pathKey(path), key)
}

/** Replaces the check values of all views of a library. Those that are not listed lose theirs, so that no password opens them. */
export async function replacePasswordChecks(
  tx: Transaction,
  libraryKey: number,
  checks: ReadonlyMap<number, string>,
): Promise<void> {
  await tx.run(
    'update sub_library set password_check = null where library_key = ? and password_check is not null',
    libraryKey,
  )
  for (const [key, check] of checks) await setPasswordCheck(tx, key, check)
}

export async function setPasswordCheck(tx: Transaction, key: number, check: string): Promise<void> {
  await tx.run('update sub_library set password_check = ? where key = ?', check, key)
}

/** The schema deletes its shares, tickets and stars with it. */
export async function deleteSubLibrary(tx: Transaction, key: number): Promise<void> {
  await tx.run('delete from sub_library where key = ?', key)
}

async function one(reader: Reader, sql: string, ...values: Value[]): Promise<SubLibrary | undefined> {
  const row = await reader.get<SubLibraryRow>(sql, ...values)
  return row && toSubLibrary(row)
}

function toSubLibrary(row: SubLibraryRow): SubLibrary {
  return {
    key: row.key,
    id: row.id as LibraryId,
    libraryKey: row.library_key,
    path: row.path as LibraryPath,
    sinceSeq: row.since_seq,
    isFile: row.is_file === 1,
    passwordCheck: row.password_check ?? undefined,
  }
}

/** Deletes the views of shared folders. `access` deletes their shares and links first. */
export const viewRows: LibraryDependent = {
  onDeleted: deleteViews,
  async onTransferred(tx, { libraryKeys, shares }) {
    if (shares === 'drop') await deleteViews(tx, libraryKeys)
  },
  onPurged: (tx, libraryKey) => deleteViews(tx, [libraryKey]),
}

/** A view follows its folder through moves and is deleted with it. */
export const viewBinding: PathBinding = tableBinding('sub_library', { rows: 'shares', endsWithItem: true })

async function deleteViews(tx: Transaction, libraryKeys: readonly number[]): Promise<void> {
  for (const { some, marks } of inGroups(libraryKeys)) {
    const views = `select key from sub_library where library_key in (${marks})`
    await tx.run(`delete from sub_commit where sub_key in (${views})`, ...some)
    await tx.run(`delete from sub_object where sub_key in (${views})`, ...some)
    await tx.run(`delete from sub_library where library_key in (${marks})`, ...some)
  }
}

// Subqueries that other modules join instead of naming the tables. Their columns are part of the public interface.

/** Views of shared folders. */
export const viewRelation =
  '(select key, id, library_key, path, path_key, since_seq, is_file from sub_library)'

/** Commits that clients sent to views. Those not pushed yet have `received_at`. */
export const viewCommitRelation = '(select sub_key, description, received_at from sub_commit)'
