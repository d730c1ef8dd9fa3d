import type { LibraryPath } from '../../base/paths/index.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'
import { folderKey } from './annotated-file-store.ts'
import { foldName } from './tag-store.ts'

interface TagRow {
  key: number
  name: string
  name_folded: string
}

/** What the comments and tags of a library have wrong: folders and names that they cannot be found by, and tags of another library. */
export async function findAnnotationFaults(reader: Reader, libraryKey: number): Promise<string[]> {
  const misfolded = (await listTagRows(reader, libraryKey)).filter(isMisfolded)
  const foreign = await reader.all<{ path: string; name: string }>(
    `select f.path, t.name from annotated_file f join file_tag ft on ft.file_key = f.key
       join library_tag t on t.key = ft.tag_key where f.library_key = ? and t.library_key <> f.library_key`,
    libraryKey,
  )
  const misplaced = (await listFiles(reader, libraryKey)).filter(isMisplaced)
  return [
    ...misplaced.map(({ path }) => `comments and tags of ${path} cannot be found by its folder`),
    ...misfolded.map(({ name }) => `the tag ${name} cannot be found by its name`),
    ...foreign.map(({ path, name }) => `${path} has the tag ${name} of another library`),
  ]
}

/** Repair: derives what folders and names are found by again, unless another tag has the name. Tags of another library stay, and are listed. */
export async function repairAnnotations(tx: Transaction, libraryKey: number): Promise<void> {
  const rows = await listTagRows(tx, libraryKey)
  const taken = new Set(rows.map((row) => row.name_folded))
  for (const { key, name } of rows.filter(isMisfolded)) {
    const folded = foldName(name)
    if (taken.has(folded)) continue
    taken.add(folded)
    await tx.run('update library_tag set name_folded = ? where key = ?', folded, key)
  }
  for (const { key, path } of (await listFiles(tx, libraryKey)).filter(isMisplaced)) {
    await tx.run('update annotated_file set folder_key = ? where key = ?', folderKey(path), key)
  }
}

async function listTagRows(reader: Reader, libraryKey: number): Promise<TagRow[]> {
  return reader.all<TagRow>(
    'select key, name, name_folded from library_tag where library_key = ?',
    libraryKey,
  )
}

function isMisfolded({ name, name_folded }: TagRow): boolean {
  return name_folded !== foldName(name)
}

interface FileRow {
  key: number
  path: LibraryPath
  folder_key: Uint8Array | null
}

async function listFiles(reader: Reader, libraryKey: number): Promise<FileRow[]> {
  return reader.all<FileRow>(
    'select key, path, folder_key from annotated_file where library_key = ?',
    libraryKey,
  )
}

function isMisplaced({ path, folder_key }: FileRow): boolean {
  return folder_key === null || !folderKey(path).equals(folder_key)
}
