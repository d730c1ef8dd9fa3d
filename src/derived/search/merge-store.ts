import type { Database, Reader, Transaction } from '../../platform/database/index.ts'

export const MERGED_TABLES = ['search_name', 'search_body'] as const
export type MergedTable = (typeof MERGED_TABLES)[number]

/** The number of entries written in total, and at the last merge. */
export async function findWritten(reader: Reader): Promise<{ written: number; merged: number }> {
  const row = await reader.get<{ written: number; merged: number }>(
    `select coalesce((select sum(next_number) from search_library), 0) as written,
       coalesce((select max(written) from search_merge), 0) as merged`,
  )
  return row ?? { written: 0, merged: 0 }
}

export async function putMerged(db: Database, written: number): Promise<void> {
  await db.write(async (tx) => {
    await tx.run('delete from search_merge')
    await tx.insert('search_merge', ['written'], [[written]])
  })
}

/**
 * Merges some pages of the segments of an FTS5 index; false once nothing is left to merge. `begins`: starts merging
 * all segments into one.
 */
export async function mergeSome(
  tx: Transaction,
  table: MergedTable,
  pages: number,
  begins: boolean,
): Promise<boolean> {
  const changes = async () => (await tx.get<{ n: number }>('select total_changes() as n'))?.n ?? 0
  const before = await changes()
  await tx.run(`insert into ${table} (${table}, rank) values ('merge', ?)`, begins ? -pages : pages)
  // FTS5 reports fewer than two changes if there was nothing to do.
  return (await changes()) - before > 1
}

// FTS5 stores the row ids of deleted rows (tombstones) in pages of their own, with ids above those of all other pages.
const FIRST_TOMBSTONE_PAGE = 2 ** 53

/** Whether an FTS5 index still contains words of deleted rows. Merging all of its segments removes them. */
export async function hasDeletedWords(reader: Reader, table: MergedTable): Promise<boolean> {
  const sql = `select 1 as found from ${table}_data where id >= ${FIRST_TOMBSTONE_PAGE} limit 1`
  return (await reader.get(sql)) !== undefined
}
