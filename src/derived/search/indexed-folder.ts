import { joinPath, type LibraryPath, segmentsOf } from '../../base/paths/index.ts'
import type { Reader } from '../../platform/database/index.ts'
import { type Entry, findEntriesIn, listEntriesIn } from './entry-store.ts'
import { rootKeyOf } from './keys.ts'

/** An entry of a folder, as the index has it. */
export interface IndexedEntry extends Omit<Entry, 'key' | 'parentKey'> {
  readonly path: LibraryPath
}

/** The indexed entries of a folder. They outlive its dir object, which may be lost. Undefined if the folder is not indexed. */
export async function listIndexed(
  reader: Reader,
  libraryKey: number,
  folder: LibraryPath,
): Promise<IndexedEntry[] | undefined> {
  const key = await keyOfFolder(reader, libraryKey, folder)
  if (key === undefined) return undefined
  return (await listEntriesIn(reader, key)).map(({ name, isDir, objectId, size, mtime }) => ({
    name,
    isDir,
    objectId,
    size,
    mtime,
    path: joinPath(folder, name),
  }))
}

async function keyOfFolder(
  reader: Reader,
  libraryKey: number,
  folder: LibraryPath,
): Promise<number | undefined> {
  let key = rootKeyOf(libraryKey)
  for (const name of segmentsOf(folder)) {
    const [found] = await findEntriesIn(reader, new Map([[key, [name]]]))
    if (found?.isDir !== true) return undefined
    key = found.key
  }
  return key
}
