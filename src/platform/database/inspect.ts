import type { Reader } from './database.ts'
import { migrations } from './migrations/index.ts'
import type { DatabaseSetting } from './open.ts'
import { openPostgres } from './postgres/postgres-database.ts'
import { findUnknown, listApplied, neededOf, newestOf } from './schema-steps.ts'
import { findSchemaVersion, type InspectedDatabase, inspectSqlite } from './sqlite/inspection.ts'

/** The schema this program brings a database to. */
export const knownSchemaVersion = newestOf(migrations)

/** Whether this program can use a database: `older` has to be migrated first, `newer` has steps that it cannot work with. */
export function judgeSchema({
  schemaVersion,
  steps,
}: Pick<InspectedDatabase, 'schemaVersion' | 'steps'>): 'unused' | 'older' | 'usable' | 'newer' {
  if (schemaVersion === 0) return 'unused'
  if (findUnknown(steps, migrations) !== undefined) return 'newer'
  return schemaVersion < neededOf(migrations) ? 'older' : 'usable'
}

/** Opens for reading only. Undefined if there is no SQLite file; throws DatabaseError if it cannot be read. */
export async function inspectDatabase(setting: DatabaseSetting): Promise<InspectedDatabase | undefined> {
  if (setting.kind === 'postgres') return inspectPostgres(setting.url)
  return inspectSqlite(setting.file)
}

async function inspectPostgres(url: string): Promise<InspectedDatabase> {
  const db = await openPostgres({ url, poolSize: 1, onFatal: () => {} })
  try {
    const table = await db.get<{ name: string | null }>(
      "select to_regclass('schema_migration')::text as name",
    )
    const schemaVersion = table?.name ? await findSchemaVersion(db) : 0
    const other = await db.get(
      "select 1 as found from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r' limit 1",
    )
    return {
      schemaVersion,
      steps: table?.name ? await listApplied(db, 'postgres') : new Map(),
      hasTables: other !== undefined,
      all: (sql, ...parameters) => db.all(sql, ...parameters),
      get: (sql, ...parameters) => db.get(sql, ...parameters),
      [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
    }
  } catch (error) {
    await db[Symbol.asyncDispose]()
    throw error
  }
}

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
