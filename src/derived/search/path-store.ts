import { baseName, type LibraryPath, parentOf, segmentsOf } from '../../base/paths/index.ts'
import type { Database, Reader } from '../../platform/database/index.ts'
import { type Entry, findEntriesIn } from './entry-store.ts'
import { keysIn, libraryKeyOf, rootKeyOf } from './keys.ts'

/** One component of the path of an entry. */
export interface Step {
  readonly key: number
  readonly name: string
}

/** The path of each entry from the root, itself last. Deleted entries, and those in a folder being deleted, are omitted. */
export async function findPaths(db: Database, keys: readonly number[]): Promise<Map<number, Step[]>> {
  const ways = new Map<number, Step[]>()
  if (keys.length === 0) return ways
  const among = keysIn(db.dialect, 'key', keys)
  const rows = await db.all<{ start_key: number; key: number; parent_key: number; name: string }>(
    `with recursive up (start_key, key, parent_key, name, height) as (
       select key, key, parent_key, name, 0 from search_entry where ${among.sql}
       union all select up.start_key, p.key, p.parent_key, p.name, up.height + 1
         from up join search_entry p on p.key = up.parent_key
     ) select start_key, key, parent_key, name from up order by start_key, height desc`,
    among.value,
  )
  for (const { start_key, key, parent_key, name } of rows) {
    const way = ways.get(start_key)
    if (way !== undefined) way.push({ key, name })
    else if (parent_key === rootKeyOf(libraryKeyOf(key))) ways.set(start_key, [{ key, name }])
  }
  return ways
}

/** The key of the file at a path; undefined if the index has none. */
export async function findFileKey(
  reader: Reader,
  libraryKey: number,
  path: LibraryPath,
): Promise<number | undefined> {
  const parentKey = await findFolderKey(reader, libraryKey, parentOf(path))
  const found = parentKey === undefined ? [] : await findNamed(reader, parentKey, baseName(path))
  return found.find((entry) => !entry.isDir)?.key
}

/** The key of the folder at a path; undefined if the index has none. */
export async function findFolderKey(
  reader: Reader,
  libraryKey: number,
  path: LibraryPath,
): Promise<number | undefined> {
  let key = rootKeyOf(libraryKey)
  for (const name of segmentsOf(path)) {
    const folder = (await findNamed(reader, key, name)).find((entry) => entry.isDir)
    if (folder === undefined) return undefined
    key = folder.key
  }
  return key
}

/** The entries of a folder with a name. Synced trees may contain names that are not NFC. */
function findNamed(reader: Reader, folderKey: number, name: string): Promise<Entry[]> {
  return findEntriesIn(reader, new Map([[folderKey, [...new Set([name, name.normalize('NFD')])]]]))
}
