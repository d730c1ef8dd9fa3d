import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { Reader, Row, Value } from '../database.ts'
import { DatabaseError } from '../errors.ts'
import { type AppliedSteps, listApplied } from '../schema-steps.ts'

/** A database as it was found: nothing is made, migrated or changed by looking at it. */
export interface InspectedDatabase extends Reader, AsyncDisposable {
  /** 0 if Carrel has never used it. */
  readonly schemaVersion: number
  readonly steps: AppliedSteps
  /** Whether there are tables, of Carrel or of another program. */
  readonly hasTables: boolean
}

/** Opens for reading only. Undefined if there is no such file; throws DatabaseError if it cannot be read. */
export async function inspectSqlite(file: string): Promise<InspectedDatabase | undefined> {
  if (!existsSync(file)) return undefined
  const reader = new SqliteInspection(file)
  try {
    const table = await reader.get("select name from sqlite_master where name = 'schema_migration'")
    if (table) {
      reader.schemaVersion = await findSchemaVersion(reader)
      reader.steps = await listApplied(reader, 'sqlite')
    }
    reader.hasTables =
      (await reader.get("select 1 as found from sqlite_master where type = 'table'")) !== undefined
    return reader
  } catch (error) {
    await reader[Symbol.asyncDispose]()
    throw error
  }
}

/** Of a database that has the table of migrations. */
export async function findSchemaVersion(reader: Reader): Promise<number> {
  const sql = 'select max(version) as version from schema_migration'
  return (await reader.get<{ version: number | null }>(sql))?.version ?? 0
}

class SqliteInspection implements InspectedDatabase {
  schemaVersion = 0
  steps: AppliedSteps = new Map()
  hasTables = false
  readonly #handle: DatabaseSync

  constructor(file: string) {
    const address = pathToFileURL(file)
    // A rollback journal is left if the power failed while the journal mode was being set. Without it the file may be torn, and only a
    // connection that may write rolls it back.
    const hasJournal = existsSync(`${file}-journal`)
    // Without a log nobody has the file open; looked at in any other way, it would get one.
    if (!existsSync(`${file}-wal`) && !hasJournal) address.searchParams.set('immutable', '1')
    this.#handle = translating(() => new DatabaseSync(address, { readOnly: !hasJournal, timeout: 3000 }))
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
