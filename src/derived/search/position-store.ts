import { type CommitId, EMPTY_ID, idFromBytes, idToBytes } from '../../base/objects/index.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'
import { rootKeyOf } from './keys.ts'

/** The position of a library in the index. */
export interface Position {
  readonly libraryKey: number
  readonly seq: number
  readonly commitId: CommitId
  /** The number the next new entry gets. */
  readonly nextNumber: number
  /** Not 0 while a large commit is written in several transactions. */
  readonly claim: number
  /** Unix seconds. */
  readonly claimedAt: number
}

interface PositionRow {
  library_key: number
  seq: number
  commit_id: Uint8Array
  next_number: number
  claim: number
  claimed_at: number
}

export async function findPosition(reader: Reader, libraryKey: number): Promise<Position | undefined> {
  const row = await reader.get<PositionRow>('select * from search_library where library_key = ?', libraryKey)
  return row && toPosition(row)
}

/** A page of all positions, by key. */
export async function listPositions(reader: Reader, afterKey: number, limit: number): Promise<Position[]> {
  const sql = 'select * from search_library where library_key > ? order by library_key limit ?'
  return (await reader.all<PositionRow>(sql, afterKey, limit)).map(toPosition)
}

/** The positions of the libraries in a range of keys. */
export async function listPositionsBetween(
  reader: Reader,
  afterKey: number,
  upToKey: number,
): Promise<Position[]> {
  const sql = 'select * from search_library where library_key > ? and library_key <= ?'
  return (await reader.all<PositionRow>(sql, afterKey, upToKey)).map(toPosition)
}

/** Creates the row of a library, unless it exists. */
export async function putPosition(tx: Transaction, libraryKey: number): Promise<void> {
  const columns = ['library_key', 'seq', 'commit_id', 'next_number']
  const row = [libraryKey, 0, idToBytes(EMPTY_ID as string as CommitId), 1]
  await tx.insert('search_library', columns, [row], { ignoreExisting: true })
}

/** Starts or continues a multi-transaction step. False if another process moved the position. */
export async function claimPosition(
  tx: Transaction,
  step: { libraryKey: number; from: number; heldClaim: number; claim: number; now: number },
): Promise<boolean> {
  const sql = `update search_library set claim = ?, claimed_at = ?
     where library_key = ? and seq = ? and claim = ?`
  return (await tx.run(sql, step.claim, step.now, step.libraryKey, step.from, step.heldClaim)) === 1
}

/** Ends a step. False if another process moved the position. */
export async function movePosition(
  tx: Transaction,
  step: {
    libraryKey: number
    from: number
    heldClaim: number
    to: number
    commitId: CommitId
    nextNumber: number
  },
): Promise<boolean> {
  const sql = `update search_library set seq = ?, commit_id = ?, next_number = ?, claim = 0
     where library_key = ? and seq = ? and claim = ?`
  const { to, commitId, nextNumber, libraryKey, from, heldClaim } = step
  return (await tx.run(sql, to, idToBytes(commitId), nextNumber, libraryKey, from, heldClaim)) === 1
}

/** Resets the position: the library is then reindexed from scratch. */
export async function resetPosition(
  tx: Transaction,
  position: Pick<Position, 'libraryKey' | 'seq' | 'claim'>,
): Promise<boolean> {
  const sql = 'update search_library set seq = 0, claim = 0 where library_key = ? and seq = ? and claim = ?'
  return (await tx.run(sql, position.libraryKey, position.seq, position.claim)) === 1
}

export async function deletePosition(tx: Transaction, libraryKey: number): Promise<void> {
  await tx.run('delete from search_library where library_key = ?', libraryKey)
}

function toPosition(row: PositionRow): Position {
  return {
    libraryKey: row.library_key,
    seq: row.seq,
    commitId: idFromBytes<CommitId>(row.commit_id),
    nextNumber: row.next_number,
    claim: row.claim,
    claimedAt: row.claimed_at,
  }
}

/**
 * The keys that cut the entries of some libraries into equal parts, and the number of entries.
 * Approximate: deleted entries are counted, too.
 */
export async function findCuts(
  reader: Reader,
  { first, last }: { readonly first: number; readonly last: number },
  parts: number,
): Promise<{ cuts: number[]; entries: number }> {
  const rows = await reader.all<{ library_key: number; next_number: number; up_to: number; entries: number }>(
    `select library_key, next_number, up_to, entries from (
       select library_key, next_number, sum(next_number) over (order by library_key) as up_to,
         sum(next_number) over () as entries
       from search_library where library_key >= ? and library_key <= ?
     ) counted where up_to * ? / entries > (up_to - next_number) * ? / entries order by library_key`,
    first,
    last,
    parts,
    parts,
  )
  const entries = rows[0]?.entries ?? 0
  const cuts: number[] = []
  for (let part = 1; part < parts; part++) {
    const before = Math.floor((entries * part) / parts)
    const row = rows.find((one) => one.up_to > before)
    if (row !== undefined)
      cuts.push(rootKeyOf(row.library_key) + Math.max(before - (row.up_to - row.next_number), 0))
  }
  return { cuts, entries }
}
