import { type BlockId, idFromBytes, idToBytes } from '../../../base/objects/index.ts'
import type { Database, Reader, Transaction } from '../../database/index.ts'

/**
 * An object of a block. Every upload has a name of its own, so that a late DELETE of an earlier object never meets the bytes of a later
 * upload.
 */
export interface BlockObject {
  readonly id: BlockId
  /** Eight random bytes, the part of the name that differs between uploads of one block. */
  readonly generation: Uint8Array
  readonly size: number
}

interface ObjectRow {
  block_id: Uint8Array
  generation: Uint8Array
  size: number
}

const IDS_PER_QUERY = 500

/** Records an upload before it begins, so that its object is found if nobody finishes it. */
export async function insertUpload(db: Database, { id, generation, size }: BlockObject, now: number) {
  const columns = ['block_id', 'generation', 'size', 'state', 'changed_at']
  await db.write((tx) => tx.insert('block_object', columns, [[idToBytes(id), generation, size, 0, now]]))
}

/** Makes an uploaded object the one of its block. Earlier ones are to be deleted. False if the upload was given up meanwhile. */
export async function setStored(
  tx: Transaction,
  { id, generation }: BlockObject,
  now: number,
): Promise<boolean> {
  const stored = await tx.run(
    'update block_object set state = 1, changed_at = ? where block_id = ? and generation = ? and state = 0',
    now,
    idToBytes(id),
    generation,
  )
  if (stored === 0) return false
  await tx.run(
    `update block_object set state = 3, changed_at = ?
     where block_id = ? and generation <> ? and state in (1, 2)`,
    now,
    idToBytes(id),
    generation,
  )
  return true
}

/** Gives up an upload whose object is complete. */
export async function setUnwanted(tx: Transaction, { id, generation }: BlockObject, now: number) {
  const sql =
    'update block_object set state = 3, changed_at = ? where block_id = ? and generation = ? and state = 0'
  await tx.run(sql, now, idToBytes(id), generation)
}

/** The object of a block that is stored or retired. */
export async function findObject(
  reader: Reader,
  id: BlockId,
): Promise<(BlockObject & { readonly isRetired: boolean }) | undefined> {
  const row = await reader.get<ObjectRow & { state: number }>(
    `select block_id, generation, size, state from block_object
     where block_id = ? and state in (1, 2) order by state, generation limit 1`,
    idToBytes(id),
  )
  return row && { ...objectOf(row), isRetired: row.state === 2 }
}

/** Which of `ids` have an object, and whether it is retired. */
export async function findObjects(reader: Reader, ids: readonly BlockId[]): Promise<Map<BlockId, boolean>> {
  const found = new Map<BlockId, boolean>()
  for (let start = 0; start < ids.length; start += IDS_PER_QUERY) {
    const some = ids.slice(start, start + IDS_PER_QUERY)
    const rows = await reader.all<{ block_id: Uint8Array; state: number }>(
      `select block_id, min(state) as state from block_object
       where block_id in (${some.map(() => '?').join(', ')}) and state in (1, 2) group by block_id`,
      ...some.map(idToBytes),
    )
    for (const row of rows) found.set(idFromBytes<BlockId>(row.block_id), row.state === 2)
  }
  return found
}

/** A page of the ids of stored or retired blocks after an id, ascending. */
export async function listIdsAfter(
  reader: Reader,
  state: 'stored' | 'retired',
  after: Uint8Array,
  limit: number,
): Promise<Uint8Array[]> {
  const rows = await reader.all<{ block_id: Uint8Array }>(
    'select distinct block_id from block_object where state = ? and block_id > ? order by block_id limit ?',
    state === 'stored' ? 1 : 2,
    after,
    limit,
  )
  return rows.map(({ block_id }) => block_id)
}

/** Whether any block is stored as an object. */
export async function hasObjects(reader: Reader): Promise<boolean> {
  return (await reader.get('select 1 as one from block_object where state = 1 limit 1')) !== undefined
}

export async function setRetired(tx: Transaction, id: BlockId, now: number): Promise<void> {
  const sql = 'update block_object set state = 2, changed_at = ? where block_id = ? and state = 1'
  await tx.run(sql, now, idToBytes(id))
}

/** False if the block is not retired. */
export async function setRestored(tx: Transaction, id: BlockId, now: number): Promise<boolean> {
  const sql = 'update block_object set state = 1, changed_at = ? where block_id = ? and state = 2'
  return (await tx.run(sql, now, idToBytes(id))) > 0
}

/** Marks the objects of a retired block for deletion, from which nobody takes them back. Resolves to them. */
export async function setDiscarded(tx: Transaction, id: BlockId, now: number): Promise<BlockObject[]> {
  const sql = 'update block_object set state = 3, changed_at = ? where block_id = ? and state = 2'
  if ((await tx.run(sql, now, idToBytes(id))) === 0) return []
  const rows = await tx.all<ObjectRow>(
    'select block_id, generation, size from block_object where block_id = ? and state = 3',
    idToBytes(id),
  )
  return rows.map(objectOf)
}

/** Gives up uploads that began before a time. Their outcome is unknown, so their objects may exist. */
export async function setAbandoned(tx: Transaction, before: number, now: number): Promise<number> {
  const sql = 'update block_object set state = 3, changed_at = ? where state = 0 and changed_at < ?'
  return tx.run(sql, now, before)
}

/** Objects to be deleted. */
export async function listUnwanted(reader: Reader, limit: number): Promise<BlockObject[]> {
  const sql = 'select block_id, generation, size from block_object where state = 3 limit ?'
  return (await reader.all<ObjectRow>(sql, limit)).map(objectOf)
}

/** After their objects were deleted. */
export async function deleteObjectRows(tx: Transaction, objects: readonly BlockObject[]): Promise<void> {
  const sql = 'delete from block_object where block_id = ? and generation = ? and state = 3'
  await Promise.all(objects.map(({ id, generation }) => tx.run(sql, idToBytes(id), generation)))
}

function objectOf({ block_id, generation, size }: ObjectRow): BlockObject {
  return { id: idFromBytes<BlockId>(block_id), generation, size }
}
