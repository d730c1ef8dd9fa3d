import { type FsId, idFromBytes } from '../../base/objects/index.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'

const KEYS_PER_QUERY = 500

/** A row of the path index at a path. */
interface IndexedRow {
  readonly seq: number
  readonly objectId: FsId | undefined
}

interface StoredRow {
  path_key: Uint8Array
  seq: number
  object_id: Uint8Array | null
}

/** Origins that a commit has at paths, by the hex of the key of the path. */
export function findOriginsOf(reader: Reader, libraryKey: number, seq: number, keys: readonly Uint8Array[]) {
  const sql = 'select path_key, seq, object_id from path_origin where library_key = ? and seq = ?'
  return findRows(reader, sql, [libraryKey, seq], keys)
}

/** Edits that a commit has at paths. */
export function findEditsOf(reader: Reader, libraryKey: number, seq: number, keys: readonly Uint8Array[]) {
  const sql = 'select path_key, seq, object_id from file_edit where library_key = ? and seq = ?'
  return findRows(reader, sql, [libraryKey, seq], keys)
}

/** The latest deletion at paths. */
export function findDeletionsOf(reader: Reader, libraryKey: number, keys: readonly Uint8Array[]) {
  const sql = 'select path_key, seq, object_id from trash_item where library_key = ?'
  return findRows(reader, sql, [libraryKey], keys)
}

/** The first authors of paths. */
export function findFirstSeenOf(reader: Reader, libraryKey: number, keys: readonly Uint8Array[]) {
  const sql = 'select path_key, 0 as seq, null as object_id from first_seen where library_key = ?'
  return findRows(reader, sql, [libraryKey], keys)
}

async function findRows(
  reader: Reader,
  sql: string,
  values: readonly number[],
  keys: readonly Uint8Array[],
): Promise<Map<string, IndexedRow>> {
  const found = new Map<string, IndexedRow>()
  for (let start = 0; start < keys.length; start += KEYS_PER_QUERY) {
    const some = keys.slice(start, start + KEYS_PER_QUERY)
    const rows = await reader.all<StoredRow>(
      `${sql} and path_key in (${some.map(() => '?').join(', ')})`,
      ...values,
      ...some,
    )
    for (const { path_key, seq, object_id } of rows) {
      const objectId = object_id === null ? undefined : idFromBytes<FsId>(object_id)
      found.set(Buffer.from(path_key).toString('hex'), { seq, objectId })
    }
  }
  return found
}

/** A page of the trash of a library with the `present` flags, after a path key. */
export async function listTrashPresence(
  reader: Reader,
  libraryKey: number,
  afterSeq: number,
  afterKey: Uint8Array,
  limit: number,
): Promise<{ pathKey: Uint8Array; path: string; isDir: boolean; present: boolean }[]> {
  const rows = await reader.all<{ path_key: Uint8Array; path: string; is_dir: number; present: number }>(
    `select path_key, path, is_dir, present from trash_item
     where library_key = ? and seq > ? and path_key > ? order by path_key limit ?`,
    libraryKey,
    afterSeq,
    afterKey,
    limit,
  )
  return rows.map((row) => ({
    pathKey: row.path_key,
    path: row.path,
    isDir: row.is_dir === 1,
    present: row.present === 1,
  }))
}

/** Rows of the trash and the path index with a time after `limit`, in Unix seconds. */
export async function countFutureHistory(
  reader: Reader,
  limit: number,
): Promise<{ trashItems: number; paths: number }> {
  const trash = await reader.get<{ n: number }>(
    'select count(*) as n from trash_item where deleted_at > ?',
    limit,
  )
  const paths = await reader.get<{ n: number }>(
    'select count(*) as n from first_seen where added_at > ?',
    limit,
  )
  return { trashItems: trash?.n ?? 0, paths: paths?.n ?? 0 }
}

export async function repairFutureHistory(tx: Transaction, limit: number, now: number): Promise<void> {
  await tx.run('update trash_item set deleted_at = ? where deleted_at > ?', now, limit)
  await tx.run('update first_seen set added_at = ? where added_at > ?', now, limit)
}
