import { type PathBinding, tableBinding } from '../commits/index.ts'
import type { Reader, Transaction } from '../database/index.ts'
import { type LibraryPath, pathKey } from '../objects/index.ts'

/** A file that was annotated, at its path in the origin. The item may be deleted. */
export interface AnnotatedFile {
  readonly key: number
  readonly libraryKey: number
  readonly path: LibraryPath
  /** Unix seconds; undefined while there is a file at the path. */
  readonly missingSince: number | undefined
}

/**
 * Annotations follow the file through renames and moves. They stay when it is deleted, so that restoring it brings
 * them back; `deleteMissingBefore` ends them.
 */
export const annotationBinding: PathBinding = tableBinding('annotated_file', { endsWithItem: false })

export async function findAnnotatedFile(
  reader: Reader,
  libraryKey: number,
  path: LibraryPath,
): Promise<number | undefined> {
  const sql = 'select key from annotated_file where library_key = ? and path_key = ?'
  return (await reader.get<{ key: number }>(sql, libraryKey, pathKey(path)))?.key
}

/** The row of a file, inserted if there is none. */
export async function putAnnotatedFile(
  tx: Transaction,
  libraryKey: number,
  path: LibraryPath,
): Promise<number> {
  const row = [libraryKey, pathKey(path), path]
  await tx.insert('annotated_file', ['library_key', 'path_key', 'path'], [row], { ignoreExisting: true })
  const key = await findAnnotatedFile(tx, libraryKey, path)
  if (key === undefined) throw new Error('the row that was inserted is missing')
  return key
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

/** Notes whether there is a file at the path; nothing if the row has moved since. */
export async function setMissingSince(
  tx: Transaction,
  { key, path }: Pick<AnnotatedFile, 'key' | 'path'>,
  since: number | null,
): Promise<void> {
  const sql = 'update annotated_file set missing_since = ? where key = ? and path_key = ?'
  await tx.run(sql, since, key, pathKey(path))
}

/** Deletes the annotations of files that are missing since a time before this. Returns the number of files. */
export function deleteMissingBefore(tx: Transaction, time: number): Promise<number> {
  return tx.run('delete from annotated_file where missing_since < ?', time)
}
