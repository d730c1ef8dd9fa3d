import { listHeldOfSize } from '../content/index.ts'
import { type DirId, type FileId, type FileObject, type FsId, fileId, idFromBytes } from '../objects/index.ts'
import {
  DIR,
  findObjectBytes,
  inspectDir,
  inspectFiles,
  listLibrariesWith,
  type PreparedObject,
  prepareFile,
  prepareWholeDir,
  replaceObject,
} from '../tree/index.ts'
import type { RepairParts } from './repair-parts.ts'

/**
 * Restores a file object: from another library, from a backup, or, for a file of one block, by trying the blocks of its size. Resolves to the source;
 * undefined if there is none, or the object is a dir.
 */
export async function restoreFile(
  parts: RepairParts,
  libraryKey: number,
  id: FileId,
  size: number | undefined,
): Promise<string | undefined> {
  const found =
    (await fileElsewhere(parts, libraryKey, id)) ?? (await fileOfOneBlock(parts, libraryKey, id, size))
  if (found !== undefined) return replace(parts, libraryKey, prepareFile(id, found.file), found.source)
  return fromBackup(parts, libraryKey, id, async () => {
    const file = (await inspectFiles(parts.db, libraryKey, [id])).get(id)
    return file !== undefined && !('problem' in file)
  })
}

async function fileElsewhere(
  { db }: RepairParts,
  libraryKey: number,
  id: FileId,
): Promise<{ file: FileObject; source: string } | undefined> {
  for (const other of await listLibrariesWith(db, id, libraryKey)) {
    const file = (await inspectFiles(db, other, [id])).get(id)
    if (file !== undefined && !('problem' in file)) return { file, source: 'another library' }
  }
  return undefined
}

async function fileOfOneBlock(
  { db }: RepairParts,
  libraryKey: number,
  id: FileId,
  size: number | undefined,
): Promise<{ file: FileObject; source: string } | undefined> {
  if (size === undefined) return undefined
  for (const block of await listHeldOfSize(db, libraryKey, size)) {
    const file = { blockIds: [block], size }
    if (fileId(file) === id) return { file, source: 'its block' }
  }
  return undefined
}

/** Restores a dir from another library or a backup. */
export async function restoreDir(
  parts: RepairParts,
  libraryKey: number,
  id: DirId,
): Promise<string | undefined> {
  const { db } = parts
  for (const other of await listLibrariesWith(db, id, libraryKey)) {
    const found = await inspectDir(db, other, id)
    if ('problem' in found) continue
    const { dir, size, fileCount, dirCount } = found
    const slices = prepareWholeDir({ dir, size, fileCount, dirCount, depth: 0 })
    for (let step = slices.next(); ; step = slices.next()) {
      if (step.done === true) return replace(parts, libraryKey, step.value, 'another library')
    }
  }
  return fromBackup(parts, libraryKey, id, async () => !('problem' in (await inspectDir(db, libraryKey, id))))
}

async function replace(
  { db, quarantine, isDryRun }: RepairParts,
  libraryKey: number,
  object: PreparedObject,
  source: string,
): Promise<string> {
  if (isDryRun) return source
  const damaged = await findObjectBytes(db, libraryKey, object.id)
  if (damaged !== undefined) await quarantine(`object-${libraryKey}-${object.id}`, damaged)
  await db.write((tx) => replaceObject(tx, libraryKey, object))
  return source
}

/** The row of the same library in a backup. It is taken back if it does not make the object whole. */
async function fromBackup(
  parts: RepairParts,
  libraryKey: number,
  id: FsId,
  isWhole: () => Promise<boolean>,
): Promise<string | undefined> {
  for (const source of parts.sources) {
    for await (const row of source.records('fs_object')) {
      if (row['library_key'] !== libraryKey || idFromBytes<FsId>(row['id'] as Uint8Array) !== id) continue
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
      await replace(parts, libraryKey, object, source.name)
      if (parts.isDryRun || (await isWhole())) return source.name
    }
  }
  return undefined
}
