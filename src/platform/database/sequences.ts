import type { Database } from './database.ts'

/** Continues generated keys after the given ones, by table, so that no key of a deleted row is used again. */
export async function restoreSequences(db: Database, last: ReadonlyMap<string, number>): Promise<void> {
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
