import { type BlockId, idFromBytes, idToBytes } from '../../base/objects/index.ts'
import {
  type Database,
  type Deletion,
  inPaddedGroups,
  type Reader,
  type Transaction,
} from '../../platform/database/index.ts'

/** Why the bytes of a block cannot be used: there are none, or they do not hash to the id. */
export type BlockProblem = 'missing' | 'damaged'

/** A block that a library, an unfinished upload or an archive holds and whose bytes are known to be lost. */
interface DamagedBlock {
  readonly id: BlockId
  readonly problem: BlockProblem
  /** Unix seconds. */
  readonly foundAt: number
}

const MISSING = 1
const DAMAGED = 2
const IDS_PER_QUERY = 500

/** Nearly always false. Cheaper than a lookup by id, and its statement is always the same. */
export async function hasDamagedBlocks(reader: Reader): Promise<boolean> {
  return (await reader.get('select 1 as found from damaged_block limit 1')) !== undefined
}

/** Whether a block was found damaged at a time or later, and still is. */
async function hasDamagedSince(reader: Reader, since: number): Promise<boolean> {
  return (
    (await reader.get('select 1 as found from damaged_block where found_at >= ? limit 1', since)) !==
    undefined
  )
}

/** Blocks that are known to be damaged, after an id in the order of ids. The size is null if nothing holds the block any more. */
async function listDamagedBlocks(
  reader: Reader,
  after: Uint8Array,
  limit: number,
): Promise<{ readonly id: Uint8Array; readonly size: number | null }[]> {
  return reader.all(
    `select d.id as id, coalesce(
       (select min(size) from library_block b where b.block_id = d.id),
       (select min(size) from staged_block s where s.block_id = d.id),
       (select min(size) from archive_block a where a.block_id = d.id)) as size
     from damaged_block d where d.id > ? order by d.id limit ?`,
    after,
    limit,
  )
}

/** Records a block as damaged. False if it is recorded, or nothing holds it (any more). Not durable by itself: it is found again. */
export async function insertDamagedBlock(
  db: Database,
  { id, problem, foundAt }: DamagedBlock,
): Promise<boolean> {
  const inserted = await db.write(
    (tx) =>
      tx.run(
        `insert into damaged_block (id, problem, found_at)
         select ?, ?, ? where exists (select 1 from library_block where block_id = ?)
           or exists (select 1 from staged_block where block_id = ?)
           or exists (select 1 from archive_block where block_id = ?)
         on conflict (id) do nothing`,
        idToBytes(id),
        problem === 'missing' ? MISSING : DAMAGED,
        foundAt,
        idToBytes(id),
        idToBytes(id),
        idToBytes(id),
      ),
    { durable: false },
  )
  return inserted > 0
}

/** Called when the bytes of blocks were stored again. */
export async function deleteDamagedBlocks(tx: Transaction, ids: readonly BlockId[]): Promise<void> {
  for (let start = 0; start < ids.length; start += IDS_PER_QUERY) {
    const some = ids.slice(start, start + IDS_PER_QUERY)
    const sql = `delete from damaged_block where id in (${some.map(() => '?').join(', ')})`
    await tx.run(sql, ...some.map(idToBytes))
  }
}

/** As deleteDamagedBlocks, for `deleteRare`. */
export function damageDeletions(ids: readonly Uint8Array[]): Deletion[] {
  return inPaddedGroups(ids).map(({ some, marks }) => ({
    table: 'damaged_block',
    where: `id in (${marks})`,
    parameters: some,
  }))
}

/** Those of `ids` that are known to be damaged. */
export async function findDamagedBlocks(reader: Reader, ids: readonly BlockId[]): Promise<Set<BlockId>> {
  const found = new Set<BlockId>()
  for (let start = 0; start < ids.length; start += IDS_PER_QUERY) {
    const some = ids.slice(start, start + IDS_PER_QUERY)
    const rows = await reader.all<{ id: Uint8Array }>(
      `select id from damaged_block where id in (${some.map(() => '?').join(', ')})`,
      ...some.map(idToBytes),
    )
    for (const { id } of rows) found.add(idFromBytes<BlockId>(id))
  }
  return found
}

/** Whether a block of an unfinished upload is known to be damaged. */
async function hasDamagedStaged(reader: Reader, uploadKey: number): Promise<boolean> {
  const sql = `select 1 as found from damaged_block d
    where exists (select 1 from staged_block s where s.upload_key = ? and s.block_id = d.id) limit 1`
  return (await hasDamagedBlocks(reader)) && (await reader.get(sql, uploadKey)) !== undefined
}

/** Whether a block of a finished archive is known to be damaged. */
async function hasDamagedArchive(reader: Reader, archiveKey: number): Promise<boolean> {
  const sql = `select 1 as found from damaged_block d
    where exists (select 1 from archive_block a where a.archive_key = ? and a.block_id = d.id) limit 1`
  return (await hasDamagedBlocks(reader)) && (await reader.get(sql, archiveKey)) !== undefined
}

/** Maintenance: deletes the records of blocks that nothing holds any more. */
async function deleteUnheldDamaged(db: Database): Promise<void> {
  const sql = `delete from damaged_block
    where not exists (select 1 from library_block b where b.block_id = damaged_block.id)
      and not exists (select 1 from staged_block s where s.block_id = damaged_block.id)
      and not exists (select 1 from archive_block a where a.block_id = damaged_block.id)`
  await db.write((tx) => tx.run(sql), { durable: false })
}

/** The number of damaged blocks. */
async function countDamagedBlocks(reader: Reader): Promise<number> {
  const row = await reader.get<{ count: number }>('select count(*) as count from damaged_block')
  return row?.count ?? 0
}

/** The blocks whose stored bytes are known to be missing or damaged. */
export const damagedBlocks = {
  count: countDamagedBlocks,
  delete: deleteDamagedBlocks,
  deleteUnheld: deleteUnheldDamaged,
  hasInArchive: hasDamagedArchive,
  hasSince: hasDamagedSince,
  hasStaged: hasDamagedStaged,
  insert: insertDamagedBlock,
  list: listDamagedBlocks,
}
