import type { Database } from './database.ts'
import type { Logger } from './logger.ts'
import { migrate } from './migrate.ts'
import { migrations as allMigrations } from './migrations/index.ts'
import type { Migration } from './migrations/types.ts'
import { openPostgres } from './postgres/postgres-database.ts'
import { openSqlite } from './sqlite/sqlite-database.ts'

export type DatabaseSetting =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: string }

export interface OpenOptions {
  /** Called once when nothing may be acknowledged any more; the process must stop. */
  readonly onFatal: (error: Error) => void
  readonly now?: () => number
  readonly logger?: Logger
  /** Connections to PostgreSQL at most. */
  readonly poolSize?: number
  readonly migrations?: readonly Migration[]
}

/** Opens the database and brings its schema up to date. */
export async function openDatabase(setting: DatabaseSetting, options: OpenOptions): Promise<Database> {
  const { migrations = allMigrations, now, ...rest } = options
  const db =
    setting.kind === 'sqlite'
      ? await openSqlite({ file: setting.file, ...rest })
      : await openPostgres({ url: setting.url, ...rest })
  try {
    await migrate(db, migrations, now)
    return db
  } catch (error) {
    await db[Symbol.asyncDispose]()
    throw error
  }
}
