import { type FsId, idFromBytes, idToBytes } from '../../base/objects/index.ts'
import { deleteBatch, deleteBatches, type Reader, type Transaction } from '../../platform/database/index.ts'
import type { LibraryDependent } from '../registry/index.ts'
import { objectRows, type Totals } from '../tree/index.ts'

const IDS_PER_QUERY = 500

/** A dir or file received before the commit that refers to it. */
export interface ReceivedObject {
  readonly id: FsId
  readonly kind: number
  readonly encoding: number
  /** Of a file, as stated in it; 0 for a dir. */
  readonly size: number
  readonly data: Uint8Array
}

interface ReceivedRow {
  id: Uint8Array
  kind: number
  encoding: number
  size: number
  data: Uint8Array
}

/** An object a library holds: its kind and its totals. */
export interface HeldObject extends Totals {
  readonly kind: number
}

export async function insertReceived(
  tx: Transaction,
  libraryKey: number,
  objects: readonly ReceivedObject[],
  { at, isGuest }: { readonly at: number; readonly isGuest: boolean },
): Promise<void> {
  await tx.insert(
    'received_object',
    ['library_key', 'id', 'kind', 'encoding', 'size', 'data', 'guest', 'received_at'],
    objects.map(({ id, kind, encoding, size, data }) => [
      libraryKey,
      idToBytes(id),
      kind,
      encoding,
      size,
      data,
      isGuest ? 1 : 0,
      at,
    ]),
    { ignoreExisting: true },
  )
}

/** Those of `ids` that were received and not admitted yet, with their bytes. */
export async function findReceived(
  reader: Reader,
  libraryKey: number,
  ids: readonly FsId[],
): Promise<Map<FsId, ReceivedObject>> {
  const found = new Map<FsId, ReceivedObject>()
  for (const { some, marks } of batches(ids)) {
    const rows = await reader.all<ReceivedRow>(
      `select id, kind, encoding, size, data from received_object where library_key = ? and id in (${marks})`,
      libraryKey,
      ...some.map(idToBytes),
    )
    for (const row of rows) {
      const id = idFromBytes<FsId>(row.id)
      found.set(id, { id, kind: row.kind, encoding: row.encoding, size: row.size, data: row.data })
    }
  }
  return found
}

/**
 * Those received among the first ids, and those held among the second, except for condemned ones. Received objects are read first,
 * because an object only moves from received to held.
 */
export async function findPresent(
  reader: Reader,
  libraryKey: number,
  ids: { readonly held: readonly FsId[]; readonly received: readonly FsId[] },
): Promise<Set<FsId>> {
  const present = new Set<FsId>()
  const collect = async (relation: string, asked: readonly FsId[]) => {
    for (const { some, marks } of batches(asked.filter((id) => !present.has(id)))) {
      const rows = await reader.all<{ id: Uint8Array }>(
        `select id from ${relation} o where library_key = ? and id in (${marks})`,
        libraryKey,
        ...some.map(idToBytes),
      )
      for (const row of rows) present.add(idFromBytes<FsId>(row.id))
    }
  }
  await collect('(select library_key, id from received_object)', ids.received)
  await collect(objectRows.keptRelation, ids.held)
  return present
}

/** Those of `ids` the library holds, with their totals. A condemned object may only be read, not relied on. */
export async function findHeld(
  reader: Reader,
  libraryKey: number,
  ids: readonly FsId[],
  { orCondemned }: { readonly orCondemned: boolean },
): Promise<Map<FsId, HeldObject>> {
  const relation = orCondemned ? objectRows.relation : objectRows.keptRelation
  const held = new Map<FsId, HeldObject>()
  for (const { some, marks } of batches(ids)) {
    const rows = await reader.all<{
      id: Uint8Array
      kind: number
      size: number
      file_count: number
      dir_count: number | null
    }>(
      `select id, kind, size, file_count, dir_count from ${relation} o where library_key = ? and id in (${marks})`,
      libraryKey,
      ...some.map(idToBytes),
    )
    for (const { id, kind, size, file_count: fileCount, dir_count } of rows) {
      held.set(idFromBytes<FsId>(id), { kind, size, fileCount, dirCount: dir_count ?? undefined })
    }
  }
  return held
}

/**
 * Marks objects that were admitted for a received commit. Their rows are deleted with the commit, so that a
 * rejected push does not release quota.
 */
export async function claimReceived(
  tx: Transaction,
  libraryKey: number,
  ids: readonly FsId[],
  claim: number,
): Promise<void> {
  for (const { some, marks } of batches(ids)) {
    const sql = `update received_object set claim = ? where library_key = ? and id in (${marks})`
    await tx.run(sql, claim, libraryKey, ...some.map(idToBytes))
  }
}

/** Maintenance: deletes received objects that no commit referred to in time. */
export async function deleteReceivedBefore(tx: Transaction, time: number): Promise<number> {
  return tx.run('delete from received_object where received_at < ?', time)
}

function* batches(ids: readonly FsId[]): Generator<{ some: readonly FsId[]; marks: string }> {
  for (let start = 0; start < ids.length; start += IDS_PER_QUERY) {
    const some = ids.slice(start, start + IDS_PER_QUERY)
    yield { some, marks: some.map(() => '?').join(', ') }
  }
}

/** A page of the received objects of a library after an id. */
export async function listReceivedAfter(
  reader: Reader,
  libraryKey: number,
  after: Uint8Array,
  limit: number,
): Promise<ReceivedObject[]> {
  const rows = await reader.all<ReceivedRow>(
    `select id, kind, encoding, size, data from received_object where library_key = ? and id > ? order by id limit ?`,
    libraryKey,
    after,
    limit,
  )
  return rows.map((row) => ({ ...row, id: idFromBytes<FsId>(row.id) }))
}

/** Uncommitted blocks, received objects and the restore point of a purged library. */
export const receivedRows: LibraryDependent = {
  purgeBatch: (tx, libraryKey, limit) =>
    deleteBatches(limit, [
      (left) => deleteBatch(tx, 'received_object', 'id', libraryKey, left),
      (left) => deleteBatch(tx, 'uncommitted_block', 'block_id', libraryKey, left),
    ]),
  async onPurged(tx, libraryKey) {
    await tx.run('delete from restore_point where library_key = ?', libraryKey)
  },
}
