import type { Transaction } from './database.ts'

/** Deletes up to `limit` rows of a library; `column` identifies a row among those. Resolves to the number deleted. */
export function deleteBatch(
  tx: Transaction,
  table: string,
  column: string,
  libraryKey: number,
  limit: number,
): Promise<number> {
  return tx.run(
    `delete from ${table} where library_key = ? and ${column} in
       (select ${column} from ${table} where library_key = ? limit ${limit})`,
    libraryKey,
    libraryKey,
  )
}

/** Runs deletions in order until `limit` rows are gone. Resolves to the number deleted. */
export async function deleteBatches(
  limit: number,
  deletions: readonly ((left: number) => Promise<number>)[],
): Promise<number> {
  let deleted = 0
  for (const deletion of deletions) {
    if (deleted < limit) deleted += await deletion(limit - deleted)
  }
  return deleted
}

/** Values in groups small enough for an `in (…)` list, each with its placeholders. */
export function inGroups<T>(values: readonly T[], size = 500): { some: readonly T[]; marks: string }[] {
  const groups: { some: readonly T[]; marks: string }[] = []
  for (let start = 0; start < values.length; start += size) {
    const some = values.slice(start, start + size)
    groups.push({ some, marks: some.map(() => '?').join(', ') })
  }
  return groups
}
