import { fail } from '../../base/errors.ts'
import { type LibraryPath, parentOf, pathKey } from '../../base/paths/index.ts'
import { type MaybePromise, whenReady } from '../../base/scheduling/index.ts'
import type { LibraryDependent, PathBinding } from '../../libraries/registry/index.ts'
import type { AccountDependent } from '../../people/accounts/index.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'

/** A file that was annotated, at its path in the origin. The item may be deleted. */
export interface AnnotatedFile {
  readonly key: number
  readonly libraryKey: number
  readonly path: LibraryPath
  /** Unix seconds; 0 if the file was deleted at an unknown time, undefined if it was not. */
  readonly missingSince: number | undefined
}

/** Limit of a library. Commits that rename or move something read the paths of all of them. */
export const MAX_ANNOTATED_FILES = 20_000

/** The key by which the annotations in a folder are found. */
export function folderKey(path: LibraryPath): Buffer {
  return pathKey(parentOf(path))
}

const AT = 'library_key = ? and path_key = ?'

/**
 * Annotations follow the file through renames and moves. They are kept when it is deleted, so that restoring it brings them back. Until
 * then they are hidden: a new file at the same path may be visible to other people.
 */
export const annotationBinding: PathBinding = {
  rows: 'comments and tags',
  paths: 'select path, path_key from annotated_file where library_key = ?',
  // The rows of a deleted file stay, and are hidden.
  endsWithItem: false,

  async rekey(tx, libraryKey, path) {
    await tx.run(
      `update annotated_file set path_key = ? where library_key = ? and path = ? and not exists (
         select 1 from annotated_file other where other.library_key = ? and other.path_key = ?)`,
      pathKey(path),
      libraryKey,
      path,
      libraryKey,
      pathKey(path),
    )
  },

  async move(tx, libraryKey, from, to) {
    const [fromKey, toKey] = [pathKey(from), pathKey(to)]
    await tx.run(
      `delete from annotated_file where ${AT} and exists (
         select 1 from annotated_file other
         where other.library_key = ? and other.path_key = ? and other.missing_since is null)`,
      libraryKey,
      toKey,
      libraryKey,
      fromKey,
    )
    await tx.run(
      `update annotated_file set path = ?, path_key = ?, folder_key = ? where ${AT} and missing_since is null`,
      to,
      toKey,
      folderKey(to),
      libraryKey,
      fromKey,
    )
  },

  async drop(tx, libraryKey, path) {
    // A second file was deleted at the path. If that one is restored, it must not get the annotations of the first.
    await tx.run(
      `delete from annotated_file where ${AT} and missing_since is not null`,
      libraryKey,
      pathKey(path),
    )
    await tx.run(`update annotated_file set missing_since = 0 where ${AT}`, libraryKey, pathKey(path))
  },

  async listItems(reader, libraryKey) {
    const sql = 'select path from annotated_file where library_key = ? and missing_since is null'
    const rows = await reader.all<{ path: string }>(sql, libraryKey)
    return rows.map(({ path }) => ({ path: path as LibraryPath, isDir: false }))
  },

  async listDeleted(reader, libraryKey) {
    const sql = 'select path from annotated_file where library_key = ? and missing_since is not null'
    return (await reader.all<{ path: string }>(sql, libraryKey)).map(({ path }) => path as LibraryPath)
  },

  async restore(tx, libraryKey, path) {
    await tx.run(`update annotated_file set missing_since = null where ${AT}`, libraryKey, pathKey(path))
  },
}

/** Shows the annotations that are kept of a deleted file. False if there are none. */
export async function restoreDeleted(
  tx: Transaction,
  libraryKey: number,
  path: LibraryPath,
): Promise<boolean> {
  const sql = `update annotated_file set missing_since = null where ${AT} and missing_since is not null`
  return (await tx.run(sql, libraryKey, pathKey(path))) > 0
}

/** Undefined for a deleted file. */
export function findAnnotatedFile(
  reader: Reader,
  libraryKey: number,
  path: LibraryPath,
): MaybePromise<number | undefined> {
  return whenReady(reader.get<{ key: number }>(KEY_AT, libraryKey, pathKey(path)), (row) => row?.key)
}

const KEY_AT = `select key from annotated_file where ${AT} and missing_since is null`

/** The row of a file, inserted if there is none. Replaces that of a deleted file. Throws limit-reached. */
export async function putAnnotatedFile(
  tx: Transaction,
  libraryKey: number,
  path: LibraryPath,
): Promise<number> {
  await tx.run(
    `delete from annotated_file where ${AT} and missing_since is not null`,
    libraryKey,
    pathKey(path),
  )
  const columns = ['library_key', 'path_key', 'path', 'folder_key']
  const row = [libraryKey, pathKey(path), path, folderKey(path)]
  const isNew = (await tx.insertNew('annotated_file', columns, [row])) === 1
  if (isNew && (await countAnnotatedFiles(tx, libraryKey)) > MAX_ANNOTATED_FILES) {
    fail({ code: 'limit-reached', what: 'annotated-files', limit: MAX_ANNOTATED_FILES })
  }
  const key = await findAnnotatedFile(tx, libraryKey, path)
  if (key === undefined) throw new Error('the row that was inserted is missing')
  return key
}

export async function countAnnotatedFiles(reader: Reader, libraryKey: number): Promise<number> {
  const sql = 'select count(*) as n from annotated_file where library_key = ?'
  return (await reader.get<{ n: number }>(sql, libraryKey))?.n ?? 0
}

/** Annotated files of all libraries after a key, in the order of keys. */
export async function listAnnotatedFiles(
  reader: Reader,
  after: number,
  limit: number,
): Promise<AnnotatedFile[]> {
  const rows = await reader.all<{
    key: number
    library_key: number
    path: string
    missing_since: number | null
  }>(
    'select key, library_key, path, missing_since from annotated_file where key > ? order by key limit ?',
    after,
    limit,
  )
  return rows.map((row) => ({
    key: row.key,
    libraryKey: row.library_key,
    path: row.path as LibraryPath,
    missingSince: row.missing_since ?? undefined,
  }))
}

/** Notes that there is no file at the path; nothing if the row has moved since. */
export async function setMissingSince(
  tx: Transaction,
  { key, path }: Pick<AnnotatedFile, 'key' | 'path'>,
  since: number,
): Promise<void> {
  const sql = 'update annotated_file set missing_since = ? where key = ? and path_key = ?'
  await tx.run(sql, since, key, pathKey(path))
}

/** Deletes the annotations of files that are missing since a time before this. Returns the number of files. */
export function deleteMissingBefore(tx: Transaction, time: number): Promise<number> {
  return tx.run('delete from annotated_file where missing_since > 0 and missing_since < ?', time)
}

/** Comments and tags of libraries and accounts that are removed. */
export const annotationRows: LibraryDependent & AccountDependent = {
  async onPurged(tx, libraryKey) {
    await tx.run('delete from annotated_file where library_key = ?', libraryKey)
    await tx.run('delete from library_tag where library_key = ?', libraryKey)
  },

  async onAccountRemoved(tx, { key }) {
    await tx.run('update file_comment set author_key = null where author_key = ?', key)
    await tx.run('delete from file_participant where account_key = ?', key)
  },
}
