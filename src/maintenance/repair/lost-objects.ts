import {
  type DirId,
  type FileId,
  type FileObject,
  type FsId,
  fileId,
  idFromBytes,
} from '../../base/objects/index.ts'
import type { LibraryPath } from '../../base/paths/index.ts'
import { blockRows } from '../../libraries/content/index.ts'
import type { LibraryInfo } from '../../libraries/registry/index.ts'
import {
  DIR,
  type PreparedObject,
  prepareFile,
  prepareWholeDir,
  storedObjects,
} from '../../libraries/tree/index.ts'
import { lostObject } from './backup-rows.ts'
import { rebuildDir } from './rebuilt-dir.ts'
import type { OpenRepair } from './repair-parts.ts'

/**
 * Restores a file object: from another library, from a backup, or, for a file of one block, by trying the blocks of its size. Resolves to the source;
 * undefined if there is none, or the object is a dir.
 */
export async function restoreFile(
  parts: OpenRepair,
  libraryKey: number,
  id: FileId,
  size: number | undefined,
): Promise<string | undefined> {
  const found =
    (await fileElsewhere(parts, libraryKey, id)) ?? (await fileOfOneBlock(parts, libraryKey, id, size))
  if (found !== undefined) return replace(parts, libraryKey, prepareFile(id, found.file), found.source)
  return fromBackup(parts, libraryKey, id, async () => {
    const file = (await storedObjects.inspectFiles(parts.db, libraryKey, [id])).get(id)
    return file !== undefined && !('problem' in file)
  })
}

async function fileElsewhere(
  { db }: OpenRepair,
  libraryKey: number,
  id: FileId,
): Promise<{ file: FileObject; source: string } | undefined> {
  for (const other of await storedObjects.listLibrariesWith(db, id, libraryKey)) {
    const file = (await storedObjects.inspectFiles(db, other, [id])).get(id)
    if (file !== undefined && !('problem' in file)) return { file, source: 'another library' }
  }
  return undefined
}

async function fileOfOneBlock(
  { db }: OpenRepair,
  libraryKey: number,
  id: FileId,
  size: number | undefined,
): Promise<{ file: FileObject; source: string } | undefined> {
  if (size === undefined) return undefined
  for (const block of await blockRows.listHeldOfSize(db, libraryKey, size)) {
    const file = { blockIds: [block], size }
    if (fileId(file) === id) return { file, source: 'its block' }
  }
  return undefined
}

/** Restores a dir from another library, a backup or the search index. `path`: where it is in the current tree, if it is. */
export async function restoreDir(
  parts: OpenRepair,
  library: LibraryInfo,
  id: DirId,
  path: LibraryPath | undefined,
): Promise<string | undefined> {
  const { key: libraryKey } = library
  const { db } = parts
  for (const other of await storedObjects.listLibrariesWith(db, id, libraryKey)) {
    const found = await storedObjects.inspectDir(db, other, id)
    if ('problem' in found) continue
    const { dir, size, fileCount, dirCount } = found
    const slices = prepareWholeDir({ dir, size, fileCount, dirCount, depth: 0 })
    for (let step = slices.next(); ; step = slices.next()) {
      if (step.done === true) return replace(parts, libraryKey, step.value, 'another library')
    }
  }
  const isWhole = async () => !('problem' in (await storedObjects.inspectDir(db, libraryKey, id)))
  const backup = await fromBackup(parts, libraryKey, id, isWhole)
  if (backup !== undefined || path === undefined) return backup
  const rebuilt = await rebuildDir(parts, library, path, id)
  return rebuilt && replace(parts, libraryKey, rebuilt, 'the search index')
}

async function replace(
  { db, quarantine, isDryRun }: OpenRepair,
  libraryKey: number,
  object: PreparedObject,
  source: string,
): Promise<string> {
  if (isDryRun) return source
  const damaged = await storedObjects.findBytes(db, libraryKey, object.id)
  if (damaged !== undefined) await quarantine(`object-${libraryKey}-${object.id}`, damaged)
  await db.write((tx) => storedObjects.replace(tx, libraryKey, object))
  return source
}

/** The row of the same library in a backup. One that does not make the object whole stays: it may be a difference whose base is restored later. */
async function fromBackup(
  parts: OpenRepair,
  libraryKey: number,
  id: FsId,
  isWhole: () => Promise<boolean>,
): Promise<string | undefined> {
  for (const { row, source } of parts.backupRows.of(lostObject(libraryKey, id))) {
    const base = row['base'] as Uint8Array | null
    const object: PreparedObject = {
      id,
      kind: Number(row['kind'] ?? DIR),
      encoding: Number(row['encoding']),
      base: base === null ? undefined : idFromBytes<FsId>(base),
      depth: Number(row['depth']),
      size: Number(row['size']),
      fileCount: Number(row['file_count']),
      dirCount: row['dir_count'] == null ? undefined : Number(row['dir_count']),
      data: row['data'] as Uint8Array,
    }
    await replace(parts, libraryKey, object, source)
    if (parts.isDryRun || (await isWhole())) return source
  }
  return undefined
}
