import { inPaddedGroups, type Transaction } from '../database/index.ts'

// As in tree/condemned-store.ts: garbage collection condemns references of libraries to blocks, and bytes that no library refers to, and
// deletes them later if they are still condemned (record 0039).

/** Releases references that this transaction stores. It comes before the insert. */
export async function releaseReferences(
  tx: Transaction,
  libraryKey: number,
  ids: readonly Uint8Array[],
): Promise<number> {
  const releasing = inPaddedGroups(ids).map(({ some, marks }) => {
    const sql = `delete from condemned_reference where library_key = ? and block_id in (${marks})`
    return tx.run(sql, libraryKey, ...some)
  })
  return (await Promise.all(releasing)).reduce((sum, count) => sum + count, 0)
}

/** Releases blocks that this transaction stores or refers to. It comes before the insert. */
export async function releaseBlocks(tx: Transaction, ids: readonly Uint8Array[]): Promise<number> {
  const releasing = inPaddedGroups(ids).map(({ some, marks }) =>
    tx.run(`delete from condemned_block where id in (${marks})`, ...some),
  )
  return (await Promise.all(releasing)).reduce((sum, count) => sum + count, 0)
}
