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

/**
 * As inGroups, with few distinct lengths, so that few statements are prepared: the last value of a group is repeated up to a power of
 * two. Sorted, so that transactions lock rows in one order.
 */
export function inPaddedGroups(
  values: readonly Uint8Array[],
): { some: readonly Uint8Array[]; marks: string }[] {
  if (values.length === 0) return []
  const sorted = values.length === 1 ? values : values.toSorted(compareBytes)
  return inGroups(sorted, MAX_IN_PADDED_GROUP).map(({ some }) => {
    const length = 2 ** Math.ceil(Math.log2(some.length))
    const last = some.at(-1) as Uint8Array
    const padded = some.length === length ? some : [...some, ...Array(length - some.length).fill(last)]
    return { some: padded, marks: marksOf(length) }
  })
}

const MAX_IN_PADDED_GROUP = 256
const marksByLength = new Map<number, string>()

function marksOf(length: number): string {
  const known = marksByLength.get(length)
  if (known !== undefined) return known
  const marks = Array.from({ length }, () => '?').join(', ')
  marksByLength.set(length, marks)
  return marks
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  return Buffer.compare(a, b)
}
