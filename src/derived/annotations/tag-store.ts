import { type LibraryPath, pathKey } from '../../base/paths/index.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'

/** A tag of a library. */
export interface Tag {
  readonly id: number
  readonly name: string
  /** A CSS color: `#ff8000`, or a name. */
  readonly color: string
}

/** A tag of a file. */
export interface FileTag {
  readonly id: number
  /** Of the file, in the origin. */
  readonly path: LibraryPath
  /** The file was deleted. There may be another one at the path. */
  readonly isDeleted: boolean
  readonly tag: Tag
}

interface TagRow {
  key: number
  name: string
  color: string
}

interface FileTagRow extends TagRow {
  file_tag_key: number
  path: string
  missing_since: number | null
}

const FILE_TAGS = `select ft.key as file_tag_key, f.path, f.missing_since, t.key, t.name, t.color
  from file_tag ft join annotated_file f on f.key = ft.file_key join library_tag t on t.key = ft.tag_key`

/** The tags of a library, oldest first. */
export async function listTags(reader: Reader, libraryKey: number): Promise<Tag[]> {
  const sql = 'select key, name, color from library_tag where library_key = ? order by key'
  return (await reader.all<TagRow>(sql, libraryKey)).map(toTag)
}

export async function findTag(reader: Reader, libraryKey: number, id: number): Promise<Tag | undefined> {
  const sql = 'select key, name, color from library_tag where library_key = ? and key = ?'
  const row = await reader.get<TagRow>(sql, libraryKey, id)
  return row && toTag(row)
}

export async function findTagByName(
  reader: Reader,
  libraryKey: number,
  folded: string,
): Promise<Tag | undefined> {
  const sql = 'select key, name, color from library_tag where library_key = ? and name_folded = ?'
  const row = await reader.get<TagRow>(sql, libraryKey, folded)
  return row && toTag(row)
}

/** False if the name is taken. */
export async function insertTag(
  tx: Transaction,
  libraryKey: number,
  { name, folded, color }: { name: string; folded: string; color: string },
): Promise<boolean> {
  const columns = ['library_key', 'name', 'name_folded', 'color']
  const row = [libraryKey, name, folded, color]
  return (await tx.insertNew('library_tag', columns, [row])) === 1
}

export async function updateTag(
  tx: Transaction,
  { id, name, folded, color }: Tag & { folded: string },
): Promise<void> {
  const sql = 'update library_tag set name = ?, name_folded = ?, color = ? where key = ?'
  await tx.run(sql, name, folded, color, id)
}

/** Gives all files with a tag another one, unless they have it. */
export async function copyFileTags(tx: Transaction, from: number, to: number): Promise<void> {
  await tx.run(
    `insert into file_tag (file_key, tag_key) select file_key, ? from file_tag a where tag_key = ?
     and not exists (select 1 from file_tag b where b.file_key = a.file_key and b.tag_key = ?)`,
    to,
    from,
    to,
  )
}

export async function deleteTag(tx: Transaction, id: number): Promise<void> {
  await tx.run('delete from library_tag where key = ?', id)
}

/** The tags of a file, in the order in which they were added. */
export async function listFileTags(reader: Reader, fileKey: number): Promise<FileTag[]> {
  const rows = await reader.all<FileTagRow>(`${FILE_TAGS} where ft.file_key = ? order by ft.key`, fileKey)
  return rows.map(toFileTag)
}

/** The tags of all files of a library, and of its deleted files. */
export async function listFileTagsOf(reader: Reader, libraryKey: number): Promise<FileTag[]> {
  const rows = await reader.all<FileTagRow>(
    `${FILE_TAGS} where f.library_key = ? order by ft.key`,
    libraryKey,
  )
  return rows.map(toFileTag)
}

/** The tags of the files directly in a folder. */
export async function listFileTagsIn(
  reader: Reader,
  libraryKey: number,
  folder: LibraryPath,
): Promise<FileTag[]> {
  const rows = await reader.all<FileTagRow>(
    `${FILE_TAGS} where f.library_key = ? and f.folder_key = ? order by ft.key`,
    libraryKey,
    pathKey(folder),
  )
  return rows.map(toFileTag)
}

export async function findFileTag(
  reader: Reader,
  libraryKey: number,
  id: number,
): Promise<FileTag | undefined> {
  const row = await reader.get<FileTagRow>(
    `${FILE_TAGS} where f.library_key = ? and ft.key = ?`,
    libraryKey,
    id,
  )
  return row && toFileTag(row)
}

/** False if the file has the tag. */
export async function insertFileTag(tx: Transaction, fileKey: number, tagKey: number): Promise<boolean> {
  const row = [fileKey, tagKey]
  return (await tx.insertNew('file_tag', ['file_key', 'tag_key'], [row])) === 1
}

/** False if the file does not have the tag. */
export async function deleteTagOfFile(tx: Transaction, fileKey: number, tagKey: number): Promise<boolean> {
  return (await tx.run('delete from file_tag where file_key = ? and tag_key = ?', fileKey, tagKey)) > 0
}

export async function deleteFileTag(tx: Transaction, id: number): Promise<void> {
  await tx.run('delete from file_tag where key = ?', id)
}

function toTag({ key, name, color }: TagRow): Tag {
  return { id: key, name, color }
}

function toFileTag(row: FileTagRow): FileTag {
  const isDeleted = row.missing_since !== null
  return { id: row.file_tag_key, path: row.path as LibraryPath, isDeleted, tag: toTag(row) }
}

/** Folds text for comparison: texts that differ only in case or composition are equal. */
export function foldName(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}
