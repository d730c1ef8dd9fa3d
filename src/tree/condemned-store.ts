import { inPaddedGroups, type Transaction } from '../database/index.ts'
import { type FsId, idToBytes } from '../objects/index.ts'

// Garbage collection condemns an object that nothing reaches, and deletes it later if it is still condemned (record 0039). A condemned
// object counts as missing for whoever wants to rely on it without storing it. Whoever stores it releases it first.

/**
 * Releases objects that this transaction stores. It comes before the insert: a concurrent deletion either sees the release, or is over
 * when the insert runs, which an insert that ignores existing rows does not ensure by itself.
 */
export async function releaseObjects(
  tx: Transaction,
  libraryKey: number,
  ids: readonly Uint8Array[],
): Promise<number> {
  // All statements are issued before the caller issues its insert.
  const releasing = inPaddedGroups(ids).map(({ some, marks }) => {
    const sql = `delete from condemned_object where library_key = ? and id in (${marks})`
    return tx.run(sql, libraryKey, ...some)
  })
  return (await Promise.all(releasing)).reduce((sum, count) => sum + count, 0)
}

/**
 * Holds off the deletion of bases until the end of this transaction, which stores deltas to them, and returns how many of `ids` exist.
 * They stay condemned: being the base of a delta does not make what is below them reachable.
 */
export async function holdBases(tx: Transaction, libraryKey: number, ids: readonly FsId[]): Promise<number> {
  const holding = inPaddedGroups(ids.map(idToBytes)).map(async ({ some, marks }) => {
    const hold = `update condemned_object set depth = depth where library_key = ? and id in (${marks})`
    const sql = `select count(*) as found from fs_object where library_key = ? and id in (${marks})`
    const [, row] = await Promise.all([
      tx.run(hold, libraryKey, ...some),
      tx.get<{ found: number }>(sql, libraryKey, ...some),
    ])
    return row?.found ?? 0
  })
  return (await Promise.all(holding)).reduce((sum, count) => sum + count, 0)
}
