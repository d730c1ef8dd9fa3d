import type { Reader } from '../../platform/database/index.ts'
import { libraryRows } from '../registry/index.ts'

/** What the rows of a library follow from. */
export interface LibraryState {
  readonly key: number
  /** About how many rows it has in each table of its content. */
  readonly weight: number
  /** Differs after a commit, a deletion of objects or history, and progress of consumers of commits. */
  readonly state: string
}

interface StateRow {
  key: number
  id: string
  head: Uint8Array
  head_seq: number
  root: Uint8Array
  valid_since_seq: number
  /** Earlier schemas do not have it. */
  objects_epoch?: number
  deleted_at: number | null
  file_count: number
}

/** The states of libraries by ascending key, those in the trash included. */
export async function listLibraryStates(
  reader: Reader,
  afterKey: number,
  limit: number,
): Promise<LibraryState[]> {
  const sql = `select * from ${libraryRows.wholeRelation} l where key > ? order by key limit ?`
  const rows = await reader.all<StateRow>(sql, afterKey, limit)
  const last = rows.at(-1)
  if (last === undefined) return []
  const positions = await reader.all<{ library_key: number; name: string; seq: number }>(
    'select library_key, name, seq from follower where library_key > ? and library_key <= ? order by library_key, name',
    afterKey,
    last.key,
  )
  const ofLibrary = Map.groupBy(positions, ({ library_key }) => library_key)
  return rows.map((row) => ({
    key: row.key,
    weight: Math.max(1, row.head_seq + row.file_count),
    state: JSON.stringify([
      row.key,
      row.id,
      hexOf(row.head),
      row.head_seq,
      hexOf(row.root),
      row.valid_since_seq,
      row.objects_epoch,
      row.deleted_at,
      (ofLibrary.get(row.key) ?? []).map(({ name, seq }) => [name, seq]),
    ]),
  }))
}

function hexOf(id: Uint8Array): string {
  return Buffer.from(id.buffer, id.byteOffset, id.length).toString('hex')
}
