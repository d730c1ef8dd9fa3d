import { type BlockId, type CommitId, idToBytes } from '../../base/objects/index.ts'
import {
  type Database,
  type Dialect,
  inGroups,
  inPaddedGroups,
  type Reader,
  type Transaction,
} from '../../platform/database/index.ts'
import { commitRows } from '../commits/index.ts'
import { blockRows, type SizedBlock } from '../content/index.ts'
import { libraryRows } from '../registry/index.ts'
import { viewCommitRelation, viewRelation } from '../views/index.ts'

const IDS_PER_QUERY = 500
const ROWS_PER_STEP = 1000
/** Approximate size of a commit row without its text. */
export const COMMIT_BYTES = 500

/** A block of a library, and whether a guest sent it. */
interface SentBlock extends SizedBlock {
  readonly libraryKey: number
  readonly isGuest: boolean
}

/** Uncommitted bytes in the libraries of an owner, and those that guests sent among them. */
export interface UncommittedBytes {
  readonly all: number
  readonly guests: number
}

const COLUMNS = ['library_key', 'block_id', 'size', 'guest', 'received_at']

/** A row, unless the library holds the block. */
const insertUnheld = `insert into uncommitted_block (${COLUMNS.join(', ')}) select ?, ?, ?, ?, ? where not exists
   (select 1 from ${blockRows.keptRelation} b where b.library_key = ? and b.block_id = ?)
 on conflict do nothing`

/**
 * Records blocks that are new to their libraries, or condemned in them. Call it before the statements by which the libraries hold them are issued: it finds out
 * at once, and need not be awaited before.
 */
export async function insertUncommitted(
  tx: Transaction,
  dialect: Dialect,
  blocks: readonly SentBlock[],
  now: number,
): Promise<void> {
  if (dialect === 'sqlite') {
    // Each row is a statement of its own in any case. PostgreSQL is asked about all blocks of a library at once.
    const inserting = blocks.map(({ libraryKey, id, size, isGuest }) => {
      const bytes = idToBytes(id)
      return tx.run(insertUnheld, libraryKey, bytes, size, isGuest ? 1 : 0, now, libraryKey, bytes)
    })
    await Promise.all(inserting)
    return
  }
  const byLibrary = Map.groupBy(blocks, (block) => block.libraryKey)
  // One query each, so that all are issued before the first is awaited.
  const groups = Array.from(byLibrary, ([key, sent]) =>
    inGroups(sent, IDS_PER_QUERY).map(({ some }) => [key, some] as const),
  ).flat()
  const finding = groups.map(async ([libraryKey, sent]) => {
    const ids = sent.map(({ id }) => id)
    const held = await blockRows.findHeld(tx, libraryKey, ids, { orCondemned: false })
    return sent.filter(({ id }) => !held.has(id))
  })
  const rows = (await Promise.all(finding))
    .flat()
    .map(({ libraryKey, id, size, isGuest }) => [libraryKey, idToBytes(id), size, isGuest ? 1 : 0, now])
  if (rows.length > 0) await tx.insert('uncommitted_block', COLUMNS, rows, { ignoreExisting: true })
}

/** Called when a commit refers to the blocks. */
export async function deleteUncommitted(
  tx: Transaction,
  libraryKey: number,
  ids: readonly BlockId[],
): Promise<void> {
  for (const { some, marks } of batches(ids)) {
    const sql = `delete from uncommitted_block where library_key = ? and block_id in (${marks})`
    await tx.run(sql, libraryKey, ...some.map(idToBytes))
  }
}

/**
 * The claim of a received commit on its blocks. Derived from the commit id, so that a repeated push finds the
 * claims of an earlier attempt.
 */
export function claimOf(id: CommitId): number {
  return Number.parseInt(id.slice(0, 12), 16) + 1
}

/** Claims blocks that files of a received commit refer to. They are settled with the commit. */
export async function claimBlocks(
  tx: Transaction,
  libraryKey: number,
  ids: readonly BlockId[],
  claim: number,
): Promise<void> {
  for (const { some, marks } of batches(ids)) {
    const sql = `update uncommitted_block set claim = ? where library_key = ? and block_id in (${marks})`
    await tx.run(sql, claim, libraryKey, ...some.map(idToBytes))
  }
}

/**
 * Removes claimed blocks from the uncommitted ones, in the transaction that makes the commits part of the
 * history.
 */
export async function settleClaims(
  tx: Transaction,
  libraryKey: number,
  claims: readonly number[],
): Promise<void> {
  for (let start = 0; start < claims.length; start += IDS_PER_QUERY) {
    const some = claims.slice(start, start + IDS_PER_QUERY)
    for (const table of ['uncommitted_block', 'received_object']) {
      const sql = `delete from ${table} where library_key = ? and claim <> 0 and claim in (${some.map(() => '?').join(', ')})`
      await tx.run(sql, libraryKey, ...some)
    }
  }
}

/** The keys of the libraries for which sync clients have sent objects or blocks ahead of a push. */
export async function listKeysWithUncommitted(reader: Reader): Promise<number[]> {
  const sql = 'select library_key from uncommitted_block union select library_key from received_object'
  return (await reader.all<{ library_key: number }>(sql)).map(({ library_key }) => library_key)
}

/** Maintenance: deletes records of blocks that no commit referred to in time, in short steps. Resolves to their number. */
export async function deleteUncommittedBefore(db: Database, time: number): Promise<number> {
  let deleted = 0
  const afterLibrary = 'select min(library_key) as key from uncommitted_block where library_key > ?'
  for (let key = 0; ; ) {
    const next = (await db.get<{ key: number | null }>(afterLibrary, key))?.key
    if (next == null) return deleted
    key = next
    for (let after: Uint8Array = Buffer.alloc(0); ; ) {
      const page = await db.all<{ block_id: Uint8Array; received_at: number }>(
        'select block_id, received_at from uncommitted_block where library_key = ? and block_id > ? order by block_id limit ?',
        key,
        after,
        ROWS_PER_STEP,
      )
      const last = page.at(-1)
      if (last === undefined) break
      const range = [key, after, last.block_id]
      if (page.some(({ received_at }) => received_at < time)) {
        const sql = `delete from uncommitted_block
          where library_key = ? and block_id > ? and block_id <= ? and received_at < ?`
        deleted += await db.write((tx) => tx.run(sql, ...range, time), { durable: false })
      }
      after = last.block_id
    }
  }
}

const owned = `join ${libraryRows.relation} l on l.key = x.library_key where l.owner_key = ?`

/** Bytes of uncommitted blocks. */
export async function uncommittedBlocksOf(reader: Reader, ownerKey: number): Promise<UncommittedBytes> {
  const row = await reader.get<{ sent: number | null; guests: number | null }>(
    `select sum(x.size) as sent, sum(x.size * x.guest) as guests from uncommitted_block x ${owned}`,
    ownerKey,
  )
  return { all: row?.sent ?? 0, guests: row?.guests ?? 0 }
}

/** Bytes of uncommitted objects and of commits that are not pushed. */
export async function uncommittedObjectsOf(reader: Reader, ownerKey: number): Promise<UncommittedBytes> {
  const row = await reader.get<Record<string, number | null>>(
    `select o.sent, o.guests,
       (select sum(length(x.description) + ${COMMIT_BYTES}) from ${commitRows.relation} x ${owned} and x.received_at is not null)
         as commits,
       (select sum(length(c.description) + ${COMMIT_BYTES}) from ${viewCommitRelation} c join ${viewRelation} x on x.key = c.sub_key
          ${owned} and c.received_at is not null) as sub_commits
     from (
       select sum(length(x.data)) as sent, sum(length(x.data) * x.guest) as guests from received_object x ${owned}
     ) o`,
    ownerKey,
    ownerKey,
    ownerKey,
  )
  const bytes = (name: string) => row?.[name] ?? 0
  return { all: bytes('sent') + bytes('commits') + bytes('sub_commits'), guests: bytes('guests') }
}

function* batches<Id>(ids: readonly Id[]): Generator<{ some: readonly Id[]; marks: string }> {
  for (let start = 0; start < ids.length; start += IDS_PER_QUERY) {
    const some = ids.slice(start, start + IDS_PER_QUERY)
    yield { some, marks: some.map(() => '?').join(', ') }
  }
}

/** What clients sent to a library without a commit that names it: bytes, and the time of the latest, in Unix seconds. */
export async function summarizeUncommitted(
  reader: Reader,
  libraryKey: number,
): Promise<{ bytes: number; latestAt: number } | undefined> {
  const row = await reader.get<{ bytes: number | null; latestAt: number | null }>(
    `select sum(size) as bytes, max(received_at) as "latestAt" from (
       select size, received_at from uncommitted_block where library_key = ?
       union all
       select length(data) as size, received_at from received_object where library_key = ?
     ) sent`,
    libraryKey,
    libraryKey,
  )
  if (row?.latestAt == null) return undefined
  return { bytes: row.bytes ?? 0, latestAt: row.latestAt }
}

/** Those of `ids` that are no uncommitted blocks of the library. */
export async function withoutUncommitted(
  reader: Reader,
  libraryKey: number,
  ids: readonly Uint8Array[],
): Promise<Uint8Array[]> {
  const sent = new Set<string>()
  for (const { some, marks } of inPaddedGroups(ids)) {
    const rows = await reader.all<{ block_id: Uint8Array }>(
      `select block_id from uncommitted_block where library_key = ? and block_id in (${marks})`,
      libraryKey,
      ...some,
    )
    for (const { block_id } of rows) sent.add(Buffer.from(block_id).toString('hex'))
  }
  return ids.filter((id) => !sent.has(Buffer.from(id).toString('hex')))
}

/** A page of the uncommitted blocks of a library after an id. */
export async function listUncommittedAfter(
  reader: Reader,
  libraryKey: number,
  after: Uint8Array,
  limit: number,
): Promise<Uint8Array[]> {
  const rows = await reader.all<{ block_id: Uint8Array }>(
    'select block_id from uncommitted_block where library_key = ? and block_id > ? order by block_id limit ?',
    libraryKey,
    after,
    limit,
  )
  return rows.map((row) => row.block_id)
}
