import { type BlockId, idFromBytes, idToBytes } from '../../base/objects/index.ts'
import {
  type Deletion,
  deleteBatch,
  deleteBatches,
  type Reader,
  type Transaction,
} from '../../platform/database/index.ts'
import { BlockMissing } from '../../platform/storage/index.ts'
import { blockReleases, referenceReleases, releaseBlocks, releaseReferences } from './condemned-store.ts'
import { damageDeletions, findDamagedBlocks, hasDamagedBlocks } from './damaged-block-store.ts'

/** Which library holds which block. */
const referenceRelation = '(select library_key, block_id, size from library_block)'

/** As referenceRelation, without condemned references: what a new file may refer to. */
const keptReferenceRelation = `(select h.library_key, h.block_id, h.size from library_block h where not exists
  (select 1 from condemned_reference c where c.library_key = h.library_key and c.block_id = h.block_id))`

/** A block and its stored length. */
export interface SizedBlock {
  readonly id: BlockId
  readonly size: number
}

/** A block that a library holds, with its bytes if they are stored in the database. */
export interface HeldBlock extends SizedBlock {
  readonly data?: Uint8Array | undefined
}

const IDS_PER_QUERY = 500

/** Those of one library, and of one group of ids of each kind. */
const DELETIONS_TOGETHER = 4

/** A block that a library is to hold. */
interface GrantedBlock extends SizedBlock {
  readonly libraryKey: number
}

/** Grants a library access to stored blocks (I7). Idempotent. */
export async function insertHeldBlocks(
  tx: Transaction,
  libraryKey: number,
  blocks: readonly SizedBlock[],
): Promise<void> {
  await storeBlocks(tx, grantedTo(libraryKey, blocks), new Map())
}

/** As storeBlocks, of blocks that no library holds yet. */
export async function insertSmallBlocks(
  tx: Transaction,
  blocks: ReadonlyMap<BlockId, Uint8Array>,
): Promise<void> {
  await storeBlocks(tx, [], blocks)
}

export function grantedTo(libraryKey: number, blocks: readonly SizedBlock[]): GrantedBlock[] {
  return blocks.map(({ id, size }) => ({ libraryKey, id, size }))
}

/**
 * Grants libraries access to stored blocks (I7), and stores the bytes of small ones, which hash to their ids. Idempotent. A row that holds other bytes is damaged and is
 * replaced. Rows are compared only if some exist, and equal ones are neither written nor locked. `alsoReleased` is deleted before anything is stored, in the same statement.
 */
export async function storeBlocks(
  tx: Transaction,
  granted: readonly GrantedBlock[],
  small: ReadonlyMap<BlockId, Uint8Array>,
  alsoReleased: readonly Deletion[] = [],
): Promise<void> {
  const bytes = new Map<BlockId, Buffer>()
  const bytesOf = (id: BlockId) => {
    const known = bytes.get(id) ?? idToBytes(id)
    bytes.set(id, known)
    return known
  }
  const held = granted.map(({ libraryKey, id, size }): HeldRow => [libraryKey, bytesOf(id), size])
  const rows = Array.from(small, ([id, data]): SmallRow => [bytesOf(id), data])
  // All statements are issued before the inserts.
  const deletions = [...releasesOf(tx, [...bytes.values()], held, rows), ...alsoReleased]
  const columns = ['library_key', 'block_id', 'size']
  await Promise.all([
    deletions.length > 0 && deleteAll(tx, deletions),
    rows.length > 0 && insertSmall(tx, rows),
    held.length > 0 && tx.insert('library_block', columns, held, { ignoreExisting: true }),
  ])
}

type HeldRow = readonly [libraryKey: number, id: Buffer, size: number]
type SmallRow = readonly [id: Buffer, data: Uint8Array]

/** What releases the blocks, and forgets that the bytes of small ones were lost: they are stored again. */
function releasesOf(
  tx: Transaction,
  ids: readonly Buffer[],
  held: readonly HeldRow[],
  small: readonly SmallRow[],
): Deletion[] {
  const deletions: Deletion[] = []
  if (tx.mayHaveRows('condemned_block')) deletions.push(...blockReleases(ids))
  if (tx.mayHaveRows('damaged_block')) deletions.push(...damageDeletions(small.map(([id]) => id)))
  if (!tx.mayHaveRows('condemned_reference')) return deletions
  for (const [libraryKey, own] of Map.groupBy(held, ([key]) => key)) {
    const ownIds = own.map(([, id]) => id)
    deletions.push(...referenceReleases(libraryKey, ownIds))
  }
  return deletions
}

async function deleteAll(tx: Transaction, deletions: readonly Deletion[]): Promise<void> {
  const deleting: Promise<number>[] = []
  for (let start = 0; start < deletions.length; start += DELETIONS_TOGETHER) {
    deleting.push(tx.deleteRare(deletions.slice(start, start + DELETIONS_TOGETHER)))
  }
  await Promise.all(deleting)
}

async function insertSmall(tx: Transaction, rows: SmallRow[]): Promise<void> {
  const inserted = await tx.insertNew('small_block', ['id', 'data'], rows)
  if (inserted === rows.length) return
  const sql = 'update small_block set data = ? where id = ? and data <> ?'
  // Sorted, so that transactions lock rows in one order (no deadlock).
  rows.sort(([a], [b]) => a.compare(b))
  await Promise.all(rows.map(([id, data]) => tx.run(sql, data, id, data)))
}

/** The bytes of those of `ids` that are stored in rows. */
export async function readSmallBlocks(
  reader: Reader,
  ids: readonly BlockId[],
): Promise<Map<BlockId, Uint8Array>> {
  const found = new Map<BlockId, Uint8Array>()
  for (let start = 0; start < ids.length; start += IDS_PER_QUERY) {
    const some = ids.slice(start, start + IDS_PER_QUERY)
    const rows = await reader.all<{ id: Uint8Array; data: Uint8Array }>(
      `select id, data from small_block where id in (${some.map(() => '?').join(', ')})`,
      ...some.map(idToBytes),
    )
    for (const row of rows) found.set(idFromBytes<BlockId>(row.id), row.data)
  }
  return found
}

/** The subset of `ids` that any library holds. */
async function findBlocksHeldAnywhere(reader: Reader, ids: readonly BlockId[]): Promise<Set<BlockId>> {
  const found = new Set<BlockId>()
  for (let start = 0; start < ids.length; start += IDS_PER_QUERY) {
    const some = ids.slice(start, start + IDS_PER_QUERY)
    const rows = await reader.all<{ block_id: Uint8Array }>(
      `select distinct block_id from library_block where block_id in (${some.map(() => '?').join(', ')})`,
      ...some.map(idToBytes),
    )
    for (const row of rows) found.add(idFromBytes<BlockId>(row.block_id))
  }
  return found
}

/**
 * The subset of `ids` that the library holds, with sizes. Condemned ones may be read, but a new file may refer to them only if they are
 * sent again.
 */
export async function findHeldBlocks(
  reader: Reader,
  libraryKey: number,
  ids: readonly BlockId[],
  { orCondemned }: { readonly orCondemned: boolean },
): Promise<Map<BlockId, number>> {
  const relation = orCondemned ? referenceRelation : keptReferenceRelation
  const held = new Map<BlockId, number>()
  for (let start = 0; start < ids.length; start += IDS_PER_QUERY) {
    const some = ids.slice(start, start + IDS_PER_QUERY)
    const rows = await reader.all<{ block_id: Uint8Array; size: number }>(
      `select block_id, size from ${relation} b
       where library_key = ? and block_id in (${some.map(() => '?').join(', ')})`,
      libraryKey,
      ...some.map(idToBytes),
    )
    for (const row of rows) held.set(idFromBytes<BlockId>(row.block_id), row.size)
  }
  return held
}

/**
 * As findHeldBlocks, without condemned blocks and those whose bytes are known to be missing or damaged, so that a client that has the bytes sends
 * them again.
 */
async function findIntactBlocks(
  reader: Reader,
  libraryKey: number,
  ids: readonly BlockId[],
): Promise<Map<BlockId, number>> {
  const held = await findHeldBlocks(reader, libraryKey, ids, { orCondemned: false })
  if (held.size > 0 && (await hasDamagedBlocks(reader))) {
    for (const id of await findDamagedBlocks(reader, [...held.keys()])) held.delete(id)
  }
  return held
}

/** A block that the library holds, with its bytes if it is small. */
export async function findHeldBlock(
  reader: Reader,
  libraryKey: number,
  id: BlockId,
): Promise<HeldBlock | undefined> {
  const row = await reader.get<{ size: number; data: Uint8Array | null }>(
    `select b.size, s.data from library_block b left join small_block s on s.id = b.block_id
     where b.library_key = ? and b.block_id = ?`,
    libraryKey,
    idToBytes(id),
  )
  return row && { id, size: row.size, data: row.data ?? undefined }
}

/** Repair: the blocks of a library with a stored length. */
async function listHeldOfSize(reader: Reader, libraryKey: number, size: number): Promise<BlockId[]> {
  const sql = 'select block_id from library_block where library_key = ? and size = ?'
  const rows = await reader.all<{ block_id: Uint8Array }>(sql, libraryKey, size)
  return rows.map(({ block_id }) => idFromBytes<BlockId>(block_id))
}

/** The bytes of small blocks by id. */
export async function findSmallBlocks(
  reader: Reader,
  ids: readonly Uint8Array[],
): Promise<Map<BlockId, Uint8Array>> {
  if (ids.length === 0) return new Map()
  const rows = await reader.all<{ id: Uint8Array; data: Uint8Array }>(
    `select id, data from small_block where id in (${ids.map(() => '?').join(', ')})`,
    ...ids,
  )
  return new Map(rows.map(({ id, data }) => [idFromBytes<BlockId>(id), data]))
}

/** Blocks that a library holds, with the length of the row of a small one, and its bytes if `withData`. */
export async function findStoredBlocks(
  reader: Reader,
  libraryKey: number,
  ids: readonly BlockId[],
  { withData }: { readonly withData: boolean },
): Promise<Map<BlockId, { size: number; length: number | undefined; data: Uint8Array | undefined }>> {
  const found = new Map<BlockId, { size: number; length: number | undefined; data: Uint8Array | undefined }>()
  // Small blocks have up to 64 KiB.
  const perQuery = withData ? 50 : IDS_PER_QUERY
  for (let start = 0; start < ids.length; start += perQuery) {
    const some = ids.slice(start, start + perQuery)
    const rows = await reader.all<{
      block_id: Uint8Array
      size: number
      length: number | null
      data?: Uint8Array | null
    }>(
      `select b.block_id, b.size, length(s.data) as length${withData ? ', s.data' : ''}
       from library_block b left join small_block s on s.id = b.block_id
       where b.library_key = ? and b.block_id in (${some.map(() => '?').join(', ')})`,
      libraryKey,
      ...some.map(idToBytes),
    )
    for (const { block_id, size, length, data } of rows) {
      found.set(idFromBytes<BlockId>(block_id), {
        size,
        length: length ?? undefined,
        data: data ?? undefined,
      })
    }
  }
  return found
}

/** A page of the blocks of a library after an id, and whether another library holds them, too. */
async function listHeldAfter(
  reader: Reader,
  libraryKey: number,
  after: Uint8Array,
  limit: number,
): Promise<{ id: Uint8Array; size: number; shared: boolean }[]> {
  const rows = await reader.all<{ block_id: Uint8Array; size: number; shared: number }>(
    `select b.block_id, b.size, case when exists (
       select 1 from library_block o where o.block_id = b.block_id and o.library_key <> b.library_key
     ) then 1 else 0 end as shared
     from library_block b where b.library_key = ? and b.block_id > ? order by b.block_id limit ?`,
    libraryKey,
    after,
    limit,
  )
  return rows.map((row) => ({ id: row.block_id, size: row.size, shared: row.shared === 1 }))
}

/** A page of the distinct blocks of the server after an id. */
async function listStoredAfter(
  reader: Reader,
  after: Uint8Array,
  limit: number,
): Promise<{ id: Uint8Array; size: number }[]> {
  return reader.all<{ id: Uint8Array; size: number }>(
    `select id, min(size) as size from (
       select * from (select block_id as id, min(size) as size from library_block where block_id > ?
         group by block_id order by block_id limit ?) held
       union all
       select * from (select block_id as id, min(size) as size from staged_block where block_id > ?
         group by block_id order by block_id limit ?) staged
       union all
       select * from (select block_id as id, min(size) as size from archive_block where block_id > ?
         group by block_id order by block_id limit ?) archived
     ) stored group by id order by id limit ?`,
    after,
    limit,
    after,
    limit,
    after,
    limit,
    limit,
  )
}

/** Grants `toKey` access to the blocks of `blockIds`, which `fromKey` holds (I7). Copies rows, not bytes. Throws BlockMissing. */
export async function shareBlocks(
  tx: Transaction,
  fromKey: number,
  toKey: number,
  blockIds: readonly BlockId[],
): Promise<void> {
  for (let start = 0; start < blockIds.length; start += 500) {
    const some = blockIds.slice(start, start + 500)
    const ids = some.map(idToBytes)
    const releasing = [releaseBlocks(tx, ids), releaseReferences(tx, toKey, ids)]
    const inserting = tx.run(
      `insert into library_block (library_key, block_id, size)
       select ?, block_id, size from library_block
       where library_key = ? and block_id in (${some.map(() => '?').join(', ')})
       order by block_id
       on conflict do nothing`,
      toKey,
      fromKey,
      ...ids,
    )
    await Promise.all([...releasing, inserting])
    // Missing if the source was purged meanwhile: its files must not arrive without their blocks.
    const held = await findHeldBlocks(tx, toKey, some, { orCondemned: true })
    const missing = some.find((id) => !held.has(id))
    if (missing !== undefined) throw new BlockMissing(missing)
  }
}

/** Some blocks that libraries hold and the block store should have. */
async function sampleStoredBlocks(reader: Reader, count: number): Promise<BlockId[]> {
  const rows = await reader.all<{ block_id: Uint8Array }>(
    `select b.block_id from library_block b
     where not exists (select 1 from small_block s where s.id = b.block_id) limit ?`,
    count,
  )
  return rows.map((row) => idFromBytes<BlockId>(row.block_id))
}

/** The rows of blocks, for transactions of other modules. */
export const blockRows = {
  /** Deletes the block references of a purged library. Garbage collection frees blocks that no other library holds. */
  purgeBatch: (tx: Transaction, libraryKey: number, limit: number) =>
    deleteBatches(limit, [
      (left) => deleteBatch(tx, 'condemned_reference', 'block_id', libraryKey, left),
      (left) => deleteBatch(tx, 'library_block', 'block_id', libraryKey, left),
    ]),
  findHeldAnywhere: findBlocksHeldAnywhere,
  findHeld: findHeldBlocks,
  findIntact: findIntactBlocks,
  findSmall: findSmallBlocks,
  insertHeld: insertHeldBlocks,
  insertSmall: insertSmallBlocks,
  keptRelation: keptReferenceRelation,
  listHeldAfter,
  listHeldOfSize,
  listStoredAfter,
  readSmall: readSmallBlocks,
  sampleStored: sampleStoredBlocks,
  store: storeBlocks,
}
