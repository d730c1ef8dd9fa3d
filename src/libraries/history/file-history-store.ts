import { type FileId, idFromBytes, idToBytes } from '../../base/objects/index.ts'
import { type LibraryPath, pathKey, ROOT, selfAndAbove, toNfc } from '../../base/paths/index.ts'
import { inGroups, type Reader, type Transaction, type Value } from '../../platform/database/index.ts'

const KEYS_PER_QUERY = 500

/** The content of a file as of a commit. */
interface RevisionContent {
  readonly objectId: FileId
  readonly size: number
}

/** The commit that added an entry at a path, or moved it there from `oldPath`. */
export interface OriginRow {
  readonly path: LibraryPath
  readonly seq: number
  readonly oldPath: LibraryPath | undefined
  /** Undefined for a folder. */
  readonly content: RevisionContent | undefined
}

/** A change of the content of a file. */
export interface EditRow extends RevisionContent {
  readonly path: LibraryPath
  readonly seq: number
}

/** The newest origin of a path or of one of its ancestors, up to a commit. */
export async function findOrigin(
  reader: Reader,
  libraryKey: number,
  path: LibraryPath,
  upTo: number,
): Promise<OriginRow | undefined> {
  const paths = selfAndAbove(path).filter((one) => one !== ROOT)
  let newest: OriginRow | undefined
  for (let start = 0; start < paths.length; start += KEYS_PER_QUERY) {
    const some = paths.slice(start, start + KEYS_PER_QUERY)
    const keys = some.map(originKey)
    const row = await reader.get<StoredOrigin>(
      `select path_key, seq, old_path, object_id, size from path_origin
       where library_key = ? and seq <= ? and path_key in (${keys.map(() => '?').join(', ')})
       order by seq desc limit 1`,
      libraryKey,
      upTo,
      ...keys,
    )
    const at = row && some[keys.findIndex((key) => key.equals(row.path_key))]
    if (row !== undefined && at !== undefined && row.seq > (newest?.seq ?? 0)) newest = toOrigin(at, row)
  }
  return newest
}

/** Changes of the content of a file by commits after `after` up to `upTo`, newest first. */
export async function listEdits(
  reader: Reader,
  libraryKey: number,
  path: LibraryPath,
  range: { after: number; upTo: number; skip: number; limit: number },
): Promise<EditRow[]> {
  const rows = await reader.all<StoredEdit>(
    `select seq, object_id, size from file_edit where library_key = ? and path_key = ? and seq > ? and seq <= ?
     order by seq desc limit ? offset ?`,
    libraryKey,
    originKey(path),
    range.after,
    range.upTo,
    range.limit,
    range.skip,
  )
  return rows.map(({ seq, object_id, size }) => ({
    path,
    seq,
    objectId: idFromBytes<FileId>(object_id),
    size,
  }))
}

export async function countEdits(
  reader: Reader,
  libraryKey: number,
  path: LibraryPath,
  range: { after: number; upTo: number },
): Promise<number> {
  const row = await reader.get<{ count: number }>(
    'select count(*) as count from file_edit where library_key = ? and path_key = ? and seq > ? and seq <= ?',
    libraryKey,
    originKey(path),
    range.after,
    range.upTo,
  )
  return row?.count ?? 0
}

/** The content that each of some paths began with, by their keys in hexadecimal. */
export async function listFirstContents(
  reader: Reader,
  libraryKey: number,
  keys: readonly Uint8Array[],
): Promise<Map<string, FileId>> {
  const found = new Map<string, FileId>()
  for (const { some, marks } of inGroups(keys)) {
    const rows = await reader.all<{ path_key: Uint8Array; object_id: Uint8Array | null }>(
      `select path_key, object_id from path_origin where library_key = ? and path_key in (${marks}) order by seq`,
      libraryKey,
      ...some,
    )
    for (const row of rows) {
      if (row.object_id !== null) found.set(hexOf(row.path_key), idFromBytes<FileId>(row.object_id))
    }
  }
  return found
}

export async function putOrigins(
  tx: Transaction,
  libraryKey: number,
  rows: readonly OriginRow[],
): Promise<void> {
  const columns = ['library_key', 'path_key', 'seq', 'old_path', 'object_id', 'size']
  const values = rows.map(({ path, seq, oldPath, content }): Value[] => {
    const object = content === undefined ? null : idToBytes(content.objectId)
    return [libraryKey, originKey(path), seq, oldPath ?? null, object, content?.size ?? 0]
  })
  await tx.insert('path_origin', columns, values, { ignoreExisting: true })
}

export async function putEdits(tx: Transaction, libraryKey: number, rows: readonly EditRow[]): Promise<void> {
  const columns = ['library_key', 'path_key', 'seq', 'object_id', 'size']
  const values = rows.map(({ path, seq, objectId, size }): Value[] => [
    libraryKey,
    originKey(path),
    seq,
    idToBytes(objectId),
    size,
  ])
  await tx.insert('file_edit', columns, values, { ignoreExisting: true })
}

interface StoredOrigin {
  path_key: Uint8Array
  seq: number
  old_path: string | null
  object_id: Uint8Array | null
  size: number
}

interface StoredEdit {
  seq: number
  object_id: Uint8Array
  size: number
}

function toOrigin(path: LibraryPath, row: StoredOrigin): OriginRow {
  const { object_id, size } = row
  return {
    path,
    seq: row.seq,
    oldPath: (row.old_path ?? undefined) as LibraryPath | undefined,
    content: object_id === null ? undefined : { objectId: idFromBytes<FileId>(object_id), size },
  }
}

/**
 * The key of a path in `path_origin`, `file_edit` and `first_seen`. Normalized, because names of synced trees need not be NFC, but paths of
 * queries are.
 */
export function originKey(path: LibraryPath): Buffer {
  return pathKey(toNfc(path) as LibraryPath)
}

function hexOf(key: Uint8Array): string {
  return Buffer.from(key).toString('hex')
}
