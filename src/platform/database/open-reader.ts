import type { Reader, Row, Value } from './database.ts'
import type { DatabaseSetting } from './open.ts'
import { Connection } from './sqlite/connection.ts'

const busyTimeoutMs = 5000
// A page cache of 2 MiB. Such a reader scans most pages once, so a larger cache would only take memory.
const settings = 'pragma cache_size = -2048; pragma case_sensitive_like = on'

/** Opens one read-only connection. The schema is neither checked nor migrated. */
export async function openReader(setting: DatabaseSetting): Promise<Reader & AsyncDisposable> {
  if (setting.kind === 'sqlite') return new SqliteReader(setting.file)
  const { connectPostgres } = await import('./postgres/postgres-database.ts')
  return connectPostgres({ url: setting.url, poolSize: 1, onFatal: () => {} })
}

class SqliteReader implements Reader, AsyncDisposable {
  readonly #connection: Connection

  constructor(file: string) {
    this.#connection = new Connection(file, busyTimeoutMs, { readOnly: true })
    this.#connection.exec(settings)
  }

  async all<R extends object = Row>(sql: string, ...parameters: Value[]): Promise<R[]> {
    return this.#connection.all(sql, parameters) as R[]
  }

  async get<R extends object = Row>(sql: string, ...parameters: Value[]): Promise<R | undefined> {
    return this.#connection.get(sql, parameters) as R | undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#connection.close()
  }
}
