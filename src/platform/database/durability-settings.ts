import type { Reader } from './database.ts'

/**
 * The settings of a PostgreSQL server that are off although commits are lost or the whole database is damaged without them when its
 * machine crashes. `synchronous_commit` is none of them: each of our connections switches it on.
 */
export async function listUnsafeSettings(reader: Reader): Promise<string[]> {
  const rows = await reader.all<{ name: string }>(
    `select name from pg_settings where name in ('fsync', 'full_page_writes') and setting = 'off' order by name`,
  )
  return rows.map(({ name }) => name)
}
