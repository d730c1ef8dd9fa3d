import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { Reader, Row, Value } from './database.ts'
import { DatabaseError } from './errors.ts'
import { migrations } from './migrations/index.ts'
import type { DatabaseSetting } from './open.ts'
import { openPostgres } from './postgres/postgres-database.ts'

/** A database as it was found: nothing is made, migrated or changed by looking at it. */
interface InspectedDatabase extends Reader, AsyncDisposable {
  /** 0 if Carrel has never used it. */
  readonly schemaVersion: number
}

/** The schema this program brings a database to. */
export const knownSchemaVersion = Math.max(0, ...migrations.map(({ version }) => version))

/** Opens for reading only. Undefined if there is no SQLite file; throws DatabaseError if it cannot be read. */
export async function inspectDatabase(setting: DatabaseSetting): Promise<InspectedDatabase | undefined> {
  if (setting.kind === 'postgres') return inspectPostgres(setting.url)
  return existsSync(setting.file) ? inspectSqlite(setting.file) : undefined
}

async function inspectPostgres(url: string): Promise<InspectedDatabase> {
  const db = await openPostgres({ url, poolSize: 1, onFatal: () => {} })
  try {
    const table = await db.get<{ name: string | null }>(
      "select to_regclass('schema_migration')::text as name",
    )
    const schemaVersion = table?.name ? await versionIn(db) : 0
    return {
      schemaVersion,
      all: (sql, ...parameters) => db.all(sql, ...parameters),
      get: (sql, ...parameters) => db.get(sql, ...parameters),
      [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
    }
  } catch (error) {
    await db[Symbol.asyncDispose]()
    throw error
  }
}

async function inspectSqlite(file: string): Promise<InspectedDatabase> {
  const reader = new SqliteInspection(file)
  try {
    const table = await reader.get("select name from sqlite_master where name = 'schema_migration'")
    reader.schemaVersion = table ? await versionIn(reader) : 0
    return reader
  } catch (error) {
    await reader[Symbol.asyncDispose]()
    throw error
  }
}

async function versionIn(reader: Reader): Promise<number> {
  const sql = 'select max(version) as version from schema_migration'
  return (await reader.get<{ version: number | null }>(sql))?.version ?? 0
}

class SqliteInspection implements InspectedDatabase {
  schemaVersion = 0
  readonly #handle: DatabaseSync

  constructor(file: string) {
    const address = pathToFileURL(file)
    // Without a log nobody has the file open; looked at in any other way, it would get one.
    if (!existsSync(`${file}-wal`)) address.searchParams.set('immutable', '1')
    this.#handle = translating(() => new DatabaseSync(address, { readOnly: true, timeout: 3000 }))
  }

  async all<R extends object = Row>(sql: string, ...parameters: Value[]): Promise<R[]> {
    return translating(() => this.#handle.prepare(sql).all(...parameters) as R[])
  }

  async get<R extends object = Row>(sql: string, ...parameters: Value[]): Promise<R | undefined> {
    return (await this.all<R>(sql, ...parameters))[0]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#handle.close()
  }
}

function translating<T>(action: () => T): T {
  try {
    return action()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new DatabaseError('other', `SQLite: ${reason}`, { cause: error })
  }
}
