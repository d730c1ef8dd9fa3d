import type { Database, Reader } from '../database/database.ts'
import { type CommitId, type FsId, idFromBytes, idToBytes } from '../objects/ids.ts'
import { type LibraryPath, parentOf, ROOT, withSlash } from '../objects/paths.ts'
import { pathKey } from './path-key.ts'

const FOLLOWER = 'paths'

/** Something that was deleted, and the commit that still had it. */
export interface TrashRow {
  readonly path: LibraryPath
  readonly isDir: boolean
  readonly objectId: FsId
  readonly size: number
  readonly deletedAt: number
  readonly deletedBy: string
  /** The number of the deleting commit, and the place among its deletions. */
  readonly seq: number
  readonly position: number
  readonly commitBefore: CommitId
}

export interface FirstSeenRow {
  readonly path: LibraryPath
  readonly author: string
  readonly addedAt: number
}

/** What a run of commits adds to the index. */
export interface Advance {
  readonly from: number
  readonly upTo: number
  readonly trash: readonly TrashRow[]
  readonly firstSeen: readonly FirstSeenRow[]
}

export async function followedSeq(reader: Reader, libraryKey: number): Promise<number> {
  const sql = 'select seq from follower where library_key = ? and name = ?'
  return (await reader.get<{ seq: number }>(sql, libraryKey, FOLLOWER))?.seq ?? 0
}

/** False if the follower is not at `from` any more: another process did this step. */
export function advance(db: Database, libraryKey: number, step: Advance): Promise<boolean> {
  return db.write(
    async (tx) => {
      const columns = ['library_key', 'name', 'seq']
      await tx.insert('follower', columns, [[libraryKey, FOLLOWER, 0]], { ignoreExisting: true })
      const moved = await tx.run(
        'update follower set seq = ? where library_key = ? and name = ? and seq = ?',
        step.upTo,
        libraryKey,
        FOLLOWER,
        step.from,
      )
      if (moved === 0) return false
      // The latest deletion of a path is the one shown; the first to add it keeps the credit.
      for (const item of step.trash) {
        await tx.run(
          'delete from trash_item where library_key = ? and path_key = ?',
          libraryKey,
          pathKey(item.path),
        )
        await tx.insert('trash_item', TRASH_COLUMNS, [trashValues(libraryKey, item)])
      }
      await tx.insert(
        'first_seen',
        ['library_key', 'path_key', 'author', 'added_at'],
        step.firstSeen.map((row) => [libraryKey, pathKey(row.path), row.author, row.addedAt]),
        { ignoreExisting: true },
      )
      return true
    },
    // Derived: what a power cut takes is made again from the commits.
    { durable: false },
  )
}

/** Who added a path first: the path itself, or the folder it came with. */
export async function findFirstSeen(
  reader: Reader,
  libraryKey: number,
  path: LibraryPath,
): Promise<{ author: string; addedAt: number } | undefined> {
  for (let at = path; at !== ROOT; at = parentOf(at)) {
    const row = await reader.get<{ author: string; added_at: number }>(
      'select author, added_at from first_seen where library_key = ? and path_key = ?',
      libraryKey,
      pathKey(at),
    )
    if (row !== undefined) return { author: row.author, addedAt: row.added_at }
  }
  return undefined
}

/** Where a listing of the trash goes on. */
export interface TrashCursor {
  readonly seq: number
  readonly position: number
}

/** Latest deletion first: those below `folder`, deleted by commits after `afterSeq` and since `sinceTime`. */
export async function listTrash(
  reader: Reader,
  libraryKey: number,
  query: {
    folder: LibraryPath
    afterSeq: number
    sinceTime: number
    cursor: TrashCursor | undefined
    limit: number
  },
): Promise<TrashRow[]> {
  const below = withSlash(query.folder)
  const { seq, position } = query.cursor ?? { seq: Number.MAX_SAFE_INTEGER, position: 0 }
  const rows = await reader.all<StoredTrashRow>(
    `select path, is_dir, object_id, size, deleted_at, deleted_by, seq, position, commit_before from trash_item
     where library_key = ? and seq > ? and deleted_at >= ? and (seq < ? or (seq = ? and position > ?))
       and substr(path, 1, ?) = ?
     order by seq desc, position limit ?`,
    libraryKey,
    query.afterSeq,
    query.sinceTime,
    seq,
    seq,
    position,
    Array.from(below).length,
    below,
    query.limit,
  )
  return rows.map(toTrashRow)
}

interface StoredTrashRow {
  path: string
  is_dir: number
  object_id: Uint8Array
  size: number
  deleted_at: number
  deleted_by: string
  seq: number
  position: number
  commit_before: Uint8Array
}

const TRASH_COLUMNS = [
  'library_key',
  'path_key',
  'path',
  'is_dir',
  'object_id',
  'size',
  'deleted_at',
  'deleted_by',
  'seq',
  'position',
  'commit_before',
]

function trashValues(libraryKey: number, item: TrashRow) {
  return [
    libraryKey,
    pathKey(item.path),
    item.path,
    item.isDir ? 1 : 0,
    idToBytes(item.objectId),
    item.size,
    item.deletedAt,
    item.deletedBy,
    item.seq,
    item.position,
    idToBytes(item.commitBefore),
  ]
}

function toTrashRow(row: StoredTrashRow): TrashRow {
  return {
    path: row.path as LibraryPath,
    isDir: row.is_dir === 1,
    objectId: idFromBytes<FsId>(row.object_id),
    size: row.size,
    deletedAt: row.deleted_at,
    deletedBy: row.deleted_by,
    seq: row.seq,
    position: row.position,
    commitBefore: idFromBytes<CommitId>(row.commit_before),
  }
}
