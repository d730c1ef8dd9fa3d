import type { Database } from './database.ts'
import type { Logger } from './logger.ts'
import { type Migratable, migrate } from './migrate.ts'
import { migrations as allMigrations } from './migrations/index.ts'
import type { Migration } from './migrations/types.ts'
import { openSqlite } from './sqlite/sqlite-database.ts'

export type DatabaseSetting =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: string }

interface OpenOptions {
  /** Called once when nothing may be acknowledged any more; the process must stop. */
  readonly onFatal: (error: Error) => void
  readonly now?: () => number
  readonly logger?: Logger
  /** Connections to PostgreSQL at most. */
  readonly poolSize?: number
  readonly migrations?: readonly Migration[]
  /** Stops at this schema version, into which rows of an older backup fit. */
  readonly upToVersion?: number
}

/** Opens the database and brings its schema up to date. */
export async function openDatabase(setting: DatabaseSetting, options: OpenOptions): Promise<Database> {
  const { upToVersion = Number.POSITIVE_INFINITY, now, ...rest } = options
  const migrations = (options.migrations ?? allMigrations).filter(({ version }) => version <= upToVersion)
  const db = await openOf(setting, rest)
  try {
    await migrate(db, migrations, now)
    return db
  } catch (error) {
    await db[Symbol.asyncDispose]()
    throw error
  }
}

/** The PostgreSQL driver is loaded only if it is used. */
async function openOf(setting: DatabaseSetting, options: Omit<OpenOptions, 'now'>): Promise<Migratable> {
  if (setting.kind === 'sqlite') return openSqlite({ file: setting.file, ...options })
  const { openPostgres } = await import('./postgres/postgres-database.ts')
  return openPostgres({ url: setting.url, ...options })
}
