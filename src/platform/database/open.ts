import type { Database } from './database.ts'
import type { Logger } from './logger.ts'
import {
  type ListOlderNodes,
  type Migratable,
  type MigrateOptions,
  migrate,
  type WaitingStep,
} from './migrate.ts'
import { migrations as allMigrations } from './migrations/index.ts'
import type { Migration } from './migrations/types.ts'
import type { ProcessLocks } from './process-locks.ts'
import { refuseUnknown } from './schema-steps.ts'
import { inspectSqlite } from './sqlite/inspection.ts'
import { openSqlite } from './sqlite/sqlite-database.ts'

export type DatabaseSetting =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: string }

interface OpenOptions {
  /** Called once when nothing may be acknowledged any more; the process must stop. */
  readonly onFatal: (error: Error) => void
  /** Called when the disk is full. True if it freed space, so that the write is tried once more. SQLite only. */
  readonly onFull?: () => boolean
  readonly now?: () => number
  readonly logger?: Logger
  /** Connections to PostgreSQL at most. */
  readonly poolSize?: number
  /** Format in which PostgreSQL sends results that contain bytes. */
  readonly results?: 'binary' | 'text'
  /** Given if several processes serve from a SQLite file. */
  readonly locks?: ProcessLocks | undefined
  /** Another process of this server has the SQLite file open. */
  readonly joins?: boolean | undefined
  readonly migrations?: readonly Migration[]
  /** Stops at this schema version, into which rows of an older backup fit. */
  readonly upToVersion?: number
  /** Existing data is backed up to this folder before it is migrated. */
  readonly backupDirectory?: string | undefined
  /** For servers: which nodes a step of the schema has to wait for. */
  readonly listOlderNodes?: ListOlderNodes
  /** Called with a contract step that has to wait. `finishMigration` applies it later. */
  readonly onWaiting?: (step: WaitingStep) => void
}

/**
 * Opens the database and brings its schema up to date. Throws NewerSchemaError, before anything is changed, if a newer program wrote
 * it, and MigrationBackupError if it cannot be backed up first.
 */
export async function openDatabase(setting: DatabaseSetting, options: OpenOptions): Promise<Database> {
  const {
    upToVersion = Number.POSITIVE_INFINITY,
    now,
    backupDirectory,
    listOlderNodes,
    onWaiting,
    ...rest
  } = options
  const migrations = (options.migrations ?? allMigrations).filter(({ version }) => version <= upToVersion)
  if (setting.kind === 'sqlite') await refuseNewer(setting.file, migrations)
  const db = await openOf(setting, rest)
  try {
    const { logger } = options
    const waiting = await migrate(db, migrations, {
      ...(now && { now }),
      backupDirectory,
      logger,
      listOlderNodes,
    })
    if (waiting !== undefined) onWaiting?.(waiting)
    return db
  } catch (error) {
    await db[Symbol.asyncDispose]()
    throw error
  }
}

/** Opening a SQLite file for writing changes it: it copies the log and sets the journal mode. */
async function refuseNewer(file: string, migrations: readonly Migration[]): Promise<void> {
  await using found = await inspectSqlite(file)
  if (found !== undefined) refuseUnknown(found.steps, migrations)
}

/** Applies the contract steps that waited for older nodes. Resolves to the one that still has to. */
export async function finishMigration(
  db: Database,
  {
    migrations = allMigrations,
    ...options
  }: MigrateOptions & { migrations?: readonly Migration[] | undefined },
): Promise<WaitingStep | undefined> {
  return migrate(db as Migratable, migrations, options)
}

/** The PostgreSQL driver is loaded only if it is used. */
async function openOf(
  setting: DatabaseSetting,
  options: Omit<OpenOptions, 'now' | 'backupDirectory' | 'listOlderNodes' | 'onWaiting'>,
): Promise<Migratable> {
  if (setting.kind === 'sqlite') return openSqlite({ file: setting.file, ...options })
  const { openPostgres } = await import('./postgres/postgres-database.ts')
  return openPostgres({ url: setting.url, ...options })
}

/** Names a database by its hosts and its name, so that it is recognized and can be shown. Without user and password. */
export function nameOfDatabase(database: DatabaseSetting): string {
  if (database.kind === 'sqlite') return 'sqlite'
  // With several hosts it is not a URL that can be parsed.
  const [, hosts = '', rest = ''] = /^\w+:\/\/(?:[^@/?#]*@)?([^/?#]*)(.*)$/s.exec(database.url) ?? []
  const { pathname, searchParams } = new URL(`postgres://host${rest}`)
  return `postgres ${searchParams.get('host') ?? ''}${hosts}${pathname}`
}
