import {
  type CommitId,
  type DirId,
  idFromBytes,
  idToBytes,
  type LibraryId,
} from '../../base/objects/index.ts'
import type { Dialect, Reader, Transaction } from '../../platform/database/index.ts'
import { objectRows } from '../tree/index.ts'
import type { LibraryInfo } from './library-info.ts'
import type { LibraryRow } from './library-store.ts'
import { libraryRows } from './library-store.ts'

/** The libraries of an owner with a certain head. */
async function listLibrariesAt(reader: Reader, ownerKey: number, head: Uint8Array): Promise<LibraryInfo[]> {
  const rows = await reader.all<LibraryRow>(
    'select * from library where owner_key = ? and head = ? and deleted_at is null order by key',
    ownerKey,
    head,
  )
  return rows.map(libraryRows.read)
}

/** The head of a library. */
type LibraryHead = Pick<LibraryInfo, 'key' | 'id' | 'head' | 'headSeq'>

/** A page of all libraries that are not deleted, ordered by key. */
async function listLibraryHeads(reader: Reader, afterKey: number, limit: number): Promise<LibraryHead[]> {
  const rows = await reader.all<{ key: number; id: string; head: Uint8Array; head_seq: number }>(
    `select key, id, head, head_seq from library
     where key > ? and deleted_at is null order by key limit ?`,
    afterKey,
    limit,
  )
  return rows.map((row) => ({
    key: row.key,
    id: row.id as LibraryId,
    head: idFromBytes<CommitId>(row.head),
    headSeq: row.head_seq,
  }))
}

/**
 * A page of all libraries that are not deleted, ordered by key: their roots, and whether the folders below
 * are counted.
 */
async function listRootsAfter(
  reader: Reader,
  afterKey: number,
  limit: number,
): Promise<{ key: number; root: DirId; isCounted: boolean }[]> {
  const rows = await reader.all<{ key: number; root: Uint8Array; uncounted: Uint8Array | null }>(
    `select l.key, l.root, f.id as uncounted from library l
       left join ${objectRows.relation} f on f.library_key = l.key and f.id = l.root and f.dir_count is null
     where l.key > ? and l.deleted_at is null order by l.key limit ?`,
    afterKey,
    limit,
  )
  return rows.map(({ key, root, uncounted }) => ({
    key,
    root: idFromBytes<DirId>(root),
    isCounted: uncounted === null,
  }))
}

/** Unix time of the most recent change of any library; 0 if there is none. */
async function newestChange(reader: Reader): Promise<number> {
  const row = await reader.get<{ at: number | null }>('select max(updated_at) as at from library')
  return row?.at ?? 0
}

/** The columns that change together with a head (I2). */
interface HeadMove {
  readonly key: number
  readonly from: CommitId
  readonly to: CommitId
  readonly seq: number
  readonly root: DirId
  readonly size: number
  readonly fileCount: number
  readonly at: number
  readonly modifier: string
  readonly modifierViaLink: boolean
}

/** The owner of a library whose head moved, and the account's own quota; null if there is no account. */
interface MovedHead {
  readonly ownerKey: number
  readonly quota: number | null
}

/**
 * Undefined if the head has moved since, or the library was deleted (I2). `quotaOf` is the SQL expression for the quota of an account, given the column with its
 * key: found together with the owner, because every commit needs both.
 */
async function moveHead(
  tx: Transaction,
  move: HeadMove,
  quotaOf: (owner: string) => string,
  dialect: Dialect,
): Promise<MovedHead | undefined> {
  const update = `update library set head = ?, head_seq = ?, root = ?, size = ?, file_count = ?, updated_at = ?, modifier = ?,
       modifier_via_link = ?
     where key = ? and head = ? and deleted_at is null`
  const parameters = [
    idToBytes(move.to),
    move.seq,
    idToBytes(move.root),
    move.size,
    move.fileCount,
    move.at,
    move.modifier,
    move.modifierViaLink ? 1 : 0,
    move.key,
    idToBytes(move.from),
  ]
  const found = `owner_key as "ownerKey", ${quotaOf('library.owner_key')} as quota`
  if (dialect === 'postgres') return tx.get<MovedHead>(`${update} returning ${found}`, ...parameters)
  // To return rows SQLite makes a temporary table, whose pages it allocates each time. That takes several times as long as a second statement.
  if ((await tx.run(update, ...parameters)) === 0) return undefined
  return tx.get<MovedHead>(`select ${found} from library where key = ?`, move.key)
}

/** Locks the head until the end of the transaction. False if it is not `head` any more. */
async function holdHead(tx: Transaction, key: number, head: CommitId): Promise<boolean> {
  const sql = 'update library set head = head where key = ? and head = ? and deleted_at is null'
  return (await tx.run(sql, key, idToBytes(head))) === 1
}

/** The mark only increases. False if it is there or beyond already. */
async function raiseValidSince(tx: Transaction, key: number, seq: number): Promise<boolean> {
  const sql = 'update library set valid_since_seq = ? where key = ? and valid_since_seq < ?'
  return (await tx.run(sql, seq, key, seq)) === 1
}

/** Must be in the transaction that deletes or corrects objects or blocks of the library. Resolves to the new value; undefined if the library is gone. */
async function raiseObjectsEpoch(tx: Transaction, key: number): Promise<number | undefined> {
  const sql = 'update library set objects_epoch = objects_epoch + 1 where key = ? returning objects_epoch'
  return (await tx.get<{ objects_epoch: number }>(sql, key))?.objects_epoch
}

/** Heads of libraries, and the marks that move with deletions of history and objects. */
export const libraryHeads = {
  list: listLibraryHeads,
  listRootsAfter,
  /** Of an owner. */
  listLibrariesAt,
  newestChange,
  move: moveHead,
  hold: holdHead,
  raiseValidSince,
  raiseObjectsEpoch,
}
