import {
  type Deletion,
  inPaddedGroups,
  type Reader,
  type Transaction,
} from '../../platform/database/index.ts'

// As in tree/condemned-store.ts: garbage collection condemns references of libraries to blocks, and bytes that no library refers to, and
// deletes them later if they are still condemned (record 0036).

/**
 * The ids of all blocks that something refers to: libraries, unfinished uploads and finished archives. A block is garbage if none of them has it.
 * Every step of a collection asks all of them, so that each step also corrects an omission of the one before.
 */
const REFERENCES = [
  'select block_id as id from library_block',
  'select block_id as id from staged_block',
  'select block_id as id from archive_block',
]

/** Whether something refers to a block, as an SQL condition on the expression of its id. */
const isReferred = (id: string) =>
  `(${REFERENCES.map((references) => `exists (${references} where block_id = ${id})`).join(' or ')})`

/** What releases references that a transaction stores. It comes before the insert. */
export function referenceReleases(libraryKey: number, ids: readonly Uint8Array[]): Deletion[] {
  return inPaddedGroups(ids).map(({ some, marks }) => ({
    table: 'condemned_reference',
    where: `library_key = ? and block_id in (${marks})`,
    parameters: [libraryKey, ...some],
  }))
}

/** What releases blocks that a transaction stores or refers to. It comes before the insert. */
export function blockReleases(ids: readonly Uint8Array[]): Deletion[] {
  return inPaddedGroups(ids).map(({ some, marks }) => ({
    table: 'condemned_block',
    where: `id in (${marks})`,
    parameters: some,
  }))
}

/** Releases references. As for referenceReleases. */
export function releaseReferences(
  tx: Transaction,
  libraryKey: number,
  ids: readonly Uint8Array[],
): Promise<number> {
  return deleteEach(tx, referenceReleases(libraryKey, ids))
}

/** Releases blocks. As for blockReleases. */
export function releaseBlocks(tx: Transaction, ids: readonly Uint8Array[]): Promise<number> {
  return deleteEach(tx, blockReleases(ids))
}

async function deleteEach(tx: Transaction, deletions: readonly Deletion[]): Promise<number> {
  const possible = deletions.filter(({ table }) => tx.mayHaveRows(table))
  const counts = await Promise.all(possible.map((deletion) => tx.deleteRare([deletion])))
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Condemns references of a library. Those already condemned keep their time. */
export function condemnReferences(
  tx: Transaction,
  libraryKey: number,
  ids: readonly Uint8Array[],
  at: number,
): Promise<number> {
  const rows = ids.map((id) => [libraryKey, id, at])
  const columns = ['library_key', 'block_id', 'condemned_at']
  return tx.insertNew('condemned_reference', columns, rows)
}

/** A block to be condemned, with the bytes it takes. */
interface CondemnableBlock {
  readonly id: Uint8Array
  readonly size: number
}

/** Condemns blocks. */
function condemnBlocks(tx: Transaction, blocks: readonly CondemnableBlock[], at: number): Promise<number> {
  const rows = blocks.map(({ id, size }) => [id, at, size])
  return tx.insertNew('condemned_block', ['id', 'condemned_at', 'size'], rows)
}

/** A page of the blocks a library holds after an id, and since when they are condemned. */
export async function listReferencesAfter(
  reader: Reader,
  libraryKey: number,
  after: Uint8Array,
  limit: number,
): Promise<{ id: Uint8Array; size: number; condemned_at: number | null }[]> {
  return reader.all(
    `select b.block_id as id, b.size, c.condemned_at from library_block b
       left join condemned_reference c on c.library_key = b.library_key and c.block_id = b.block_id
     where b.library_key = ? and b.block_id > ? order by b.block_id limit ?`,
    libraryKey,
    after,
    limit,
  )
}

/** Whether a reference of the library is condemned. */
async function hasCondemnedReferences(reader: Reader, libraryKey: number): Promise<boolean> {
  const sql = 'select 1 as found from condemned_reference where library_key = ? limit 1'
  return (await reader.get(sql, libraryKey)) !== undefined
}

/** The keys of the libraries that have condemned references, ascending. */
async function listKeysWithCondemnedReferences(reader: Reader): Promise<number[]> {
  const rows = await reader.all<{ library_key: number }>(
    'select distinct library_key from condemned_reference order by library_key',
  )
  return rows.map(({ library_key }) => library_key)
}

/** Condemned references of a library since a time. */
interface CondemnedSummary {
  readonly blocks: number
  readonly bytes: number
  /** When the first and the last of them were condemned, Unix seconds. */
  readonly since: number
  readonly latestAt: number
}

/** The references of a library that were condemned at `from` or later; undefined if there are none. */
async function summarizeCondemnedReferences(
  reader: Reader,
  libraryKey: number,
  from = 0,
): Promise<CondemnedSummary | undefined> {
  const row = await reader.get<{ blocks: number; bytes: number; since: number; latest: number }>(
    `select count(*) as blocks, coalesce(sum(b.size), 0) as bytes,
       coalesce(min(c.condemned_at), 0) as since, coalesce(max(c.condemned_at), 0) as latest
     from condemned_reference c
       join library_block b on b.library_key = c.library_key and b.block_id = c.block_id
     where c.library_key = ? and c.condemned_at >= ?`,
    libraryKey,
    from,
  )
  if (row === undefined || row.blocks === 0) return undefined
  return { blocks: row.blocks, bytes: row.bytes, since: row.since, latestAt: row.latest }
}

/** Deletes those of `ids` that are condemned since before `before`, and returns them. Locks them first, as for objects. */
async function deleteCondemnedReferences(
  tx: Transaction,
  libraryKey: number,
  ids: readonly Uint8Array[],
  before: number,
): Promise<{ id: Uint8Array; size: number }[]> {
  const deleted: { id: Uint8Array; size: number }[] = []
  for (const { some, marks } of inPaddedGroups(ids)) {
    const locked = await tx.all<{ block_id: Uint8Array }>(
      `delete from condemned_reference where library_key = ? and condemned_at < ? and block_id in (${marks})
       returning block_id`,
      libraryKey,
      before,
      ...some,
    )
    for (const group of inPaddedGroups(locked.map((row) => row.block_id))) {
      const sql = `delete from library_block where library_key = ? and block_id in (${group.marks})
        returning block_id as id, size`
      deleted.push(...(await tx.all<{ id: Uint8Array; size: number }>(sql, libraryKey, ...group.some)))
    }
  }
  return deleted
}

/** A page of small blocks after an id that nothing refers to and that are not condemned. `last` is where the next page begins. */
async function listUnheldSmallAfter(
  reader: Reader,
  after: Uint8Array,
  limit: number,
): Promise<{ unheld: Uint8Array[]; last: Uint8Array | undefined }> {
  const rows = await reader.all<{ id: Uint8Array; unheld: number }>(
    `select s.id, case when ${isReferred('s.id')}
         or exists (select 1 from condemned_block c where c.id = s.id) then 0 else 1 end as unheld
     from small_block s where s.id > ? order by s.id limit ?`,
    after,
    limit,
  )
  return {
    unheld: rows.filter((row) => row.unheld === 1).map(({ id }) => id),
    last: rows.length < limit ? undefined : rows.at(-1)?.id,
  }
}

/** Those of `ids` that no library, unfinished upload or archive refers to, and whether they are condemned. */
async function findUnheld(
  reader: Reader,
  ids: readonly Uint8Array[],
): Promise<{ id: Buffer; isCondemned: boolean }[]> {
  const held = new Set<string>()
  const condemned = new Set<string>()
  for (const { some, marks } of inPaddedGroups(ids)) {
    const rows = await reader.all<{ id: Uint8Array }>(
      REFERENCES.map((references) => `${references} where block_id in (${marks})`).join(' union '),
      ...REFERENCES.flatMap(() => some),
    )
    for (const { id } of rows) held.add(Buffer.from(id).toString('hex'))
    const others = await reader.all<{ id: Uint8Array }>(
      `select id from condemned_block where id in (${marks})`,
      ...some,
    )
    for (const { id } of others) condemned.add(Buffer.from(id).toString('hex'))
  }
  return ids
    .map((id) => Buffer.from(id))
    .filter((id) => !held.has(id.toString('hex')))
    .map((id) => ({ id, isCondemned: condemned.has(id.toString('hex')) }))
}

/** The sizes of those of `ids` that are small blocks, by the hexadecimal id. */
async function findSmallSizes(reader: Reader, ids: readonly Uint8Array[]): Promise<Map<string, number>> {
  const sizes = new Map<string, number>()
  for (const { some, marks } of inPaddedGroups(ids)) {
    const rows = await reader.all<{ id: Uint8Array; size: number }>(
      `select id, length(data) as size from small_block where id in (${marks})`,
      ...some,
    )
    for (const { id, size } of rows) sizes.set(Buffer.from(id).toString('hex'), size)
  }
  return sizes
}

/** A page of condemned blocks after an id; `removed_at` says in which step. */
async function listCondemnedBlocksAfter(
  reader: Reader,
  after: Uint8Array,
  limit: number,
): Promise<{ id: Uint8Array; condemned_at: number; removed_at: number | null; size: number | null }[]> {
  return reader.all(
    'select id, condemned_at, removed_at, size from condemned_block where id > ? order by id limit ?',
    after,
    limit,
  )
}

/** Releases those of `ids` that a library, an unfinished upload or an archive refers to. */
async function releaseHeldBlocks(tx: Transaction, ids: readonly Uint8Array[]): Promise<Uint8Array[]> {
  const released: Uint8Array[] = []
  for (const { some, marks } of inPaddedGroups(ids)) {
    const rows = await tx.all<{ id: Uint8Array }>(
      `delete from condemned_block where id in (${marks})
         and ${isReferred('condemned_block.id')} returning id`,
      ...some,
    )
    released.push(...rows.map(({ id }) => id))
  }
  return released
}

/**
 * Deletes small blocks that are condemned since before `before` and that nothing refers to, and marks the others of `ids` as removed.
 * Returns those: their files are to be retired. The condemned rows are locked first.
 */
async function removeCondemnedBlocks(
  tx: Transaction,
  ids: readonly Uint8Array[],
  { before, now }: { readonly before: number; readonly now: number },
): Promise<{ small: { id: Uint8Array; size: number }[]; files: Uint8Array[] }> {
  const small: { id: Uint8Array; size: number }[] = []
  const files: Uint8Array[] = []
  for (const { some, marks } of inPaddedGroups(ids)) {
    const locked = await tx.all<{ id: Uint8Array }>(
      `update condemned_block set removed_at = ? where id in (${marks}) and condemned_at < ? and removed_at is null
       returning id`,
      now,
      ...some,
      before,
    )
    const unheld = await findUnheld(
      tx,
      locked.map(({ id }) => id),
    )
    const deleted = new Set<string>()
    for (const group of inPaddedGroups(unheld.map(({ id }) => id))) {
      const rows = await tx.all<{ id: Uint8Array; size: number }>(
        `delete from small_block where id in (${group.marks}) returning id, length(data) as size`,
        ...group.some,
      )
      for (const row of rows) {
        small.push(row)
        deleted.add(Buffer.from(row.id).toString('hex'))
      }
    }
    await releaseBlocks(
      tx,
      small.map(({ id }) => id),
    )
    files.push(...unheld.map(({ id }) => id).filter((id) => !deleted.has(id.toString('hex'))))
  }
  return { small, files }
}

/** Deletes the rows of removed blocks that nothing refers to, if they were removed before `before`. Returns them: their files are to be discarded. */
async function deleteRemovedBlocks(
  tx: Transaction,
  ids: readonly Uint8Array[],
  before: number,
): Promise<Uint8Array[]> {
  const deleted: Uint8Array[] = []
  for (const { some, marks } of inPaddedGroups(ids)) {
    const rows = await tx.all<{ id: Uint8Array }>(
      `delete from condemned_block where id in (${marks}) and removed_at < ?
         and not ${isReferred('condemned_block.id')} returning id`,
      ...some,
      before,
    )
    deleted.push(...rows.map(({ id }) => id))
  }
  return deleted
}

/** What garbage collection has condemned: blocks that no library holds, and references of a library that no file needs. */
export const condemnedBlocks = {
  condemn: condemnBlocks,
  condemnReferences,
  deleteReferences: deleteCondemnedReferences,
  deleteRemoved: deleteRemovedBlocks,
  findSmallSizes,
  findUnheld,
  hasReferences: hasCondemnedReferences,
  listAfter: listCondemnedBlocksAfter,
  listLibraryKeys: listKeysWithCondemnedReferences,
  listReferencesAfter,
  listUnheldSmallAfter,
  releaseHeld: releaseHeldBlocks,
  releaseReferences,
  remove: removeCondemnedBlocks,
  summarizeReferences: summarizeCondemnedReferences,
}
