import type { Database, Transaction, Value } from './database.ts'
import type { SnapshotTable } from './snapshot.ts'

const ROWS_PER_TRANSACTION = 5000
const BYTES_PER_TRANSACTION = 8 * 2 ** 20

/**
 * Inserts the rows of a snapshot, in transactions that are bounded in rows and bytes, so that memory does not grow with the table. `alsoWrite` runs in each
 * transaction, with the number of rows inserted so far. What follows relies on them, so they are `replicated`. Resolves to the number of rows.
 */
async function loadRows(
  db: Database,
  { name, columns }: SnapshotTable,
  pages: AsyncIterable<readonly Value[][]>,
  alsoWrite: (tx: Transaction, count: number) => Promise<void> = async () => {},
): Promise<number> {
  let count = 0
  let bytes = 0
  let waiting: Value[][] = []
  const insert = async () => {
    const rows = waiting
    waiting = []
    bytes = 0
    count += rows.length
    if (rows.length === 0) return
    const work = async (tx: Transaction) => {
      await tx.insert(name, columns, rows)
      await alsoWrite(tx, count)
    }
    await db.write(work, { durable: 'replicated', isLong: true })
  }
  for await (const page of pages) {
    for (const row of page) {
      waiting.push(row)
      for (const value of row) bytes += sizeOf(value)
      if (waiting.length >= ROWS_PER_TRANSACTION || bytes >= BYTES_PER_TRANSACTION) await insert()
    }
  }
  await insert()
  return count
}

/** About as much memory as a value takes. */
export function sizeOf(value: Value): number {
  return typeof value === 'string' || value instanceof Uint8Array ? value.length : 8
}

/** Deletes all rows of the tables, dependent ones first. The tables are in the order in which rows can be inserted. */
async function emptyTables(tx: Transaction, tables: readonly { readonly name: string }[]): Promise<void> {
  for (const { name } of tables.toReversed()) await tx.run(['delete', 'from', `"${name}"`].join(' '))
}

/** Continues generated keys after the given ones, by table, so that no key of a deleted row is used again. */
async function restoreSequences(db: Database, last: ReadonlyMap<string, number>): Promise<void> {
  await db.write(async (tx) => {
    for (const [table, value] of last) {
      if (db.dialect === 'postgres') {
        await tx.get("select setval(pg_get_serial_sequence(?, 'key'), ?)", table, value)
      } else {
        await tx.run('delete from sqlite_sequence where name = ?', table)
        await tx.run('insert into sqlite_sequence (name, seq) values (?, ?)', table, value)
      }
    }
  })
}

/** Loads the rows of another database: a backup, or one that is moved. */
export const bulkLoad = {
  empty: emptyTables,
  load: loadRows,
  restoreSequences,
}
