import type { Database, Dialect, Transaction } from './database.ts'
import { NewerSchemaError } from './errors.ts'
import type { Logger } from './logger.ts'
import { columnTypes, type Migration } from './migrations/types.ts'
import { backUpBeforeMigration } from './pre-migration-backup.ts'

/** What a database offers so that it can be migrated. */
export interface Migratable extends Database {
  schemaVersion: number
  readonly backupExtension: string
  /** Writes a consistent copy to a new file, and checks that the copy can be read. */
  backUp(file: string, schemaVersion: number): Promise<void>
}

interface MigrateOptions {
  readonly now?: () => number
  /** Where the data is copied to before the first step. Undefined: it is not copied. */
  readonly backupDirectory?: string | undefined
  readonly logger?: Logger | undefined
}

/**
 * Brings the schema forward, one transaction a step, so a step that fails leaves the data as the
 * step before left it. Existing data is backed up before the first step. Two nodes starting at once do each step once. Throws NewerSchemaError if
 * the data is ahead of `migrations`.
 */
export async function migrate(
  db: Migratable,
  migrations: readonly Migration[],
  { now = unixNow, backupDirectory, logger }: MigrateOptions = {},
): Promise<void> {
  const known = Math.max(0, ...migrations.map((migration) => migration.version))
  const found = await findVersionOf(db)
  if (found > known) throw new NewerSchemaError(found, known)
  const applied = await listApplied(db)
  const pending = migrations.filter(({ version }) => !applied.has(version))
  const [first] = pending
  if (first && found > 0 && backupDirectory !== undefined) {
    await backUpBeforeMigration(db, found, backupDirectory, logger)
  }
  for (const migration of pending) await applyStep(db, migration, now)
  const reached = await findVersionOf(db)
  if (reached > known) throw new NewerSchemaError(reached, known)
  db.schemaVersion = reached
}

async function applyStep(db: Database, migration: Migration, now: () => number): Promise<void> {
  const { version, name } = migration
  try {
    await db.write(
      async (tx) => {
        await findVersion(tx, db.dialect)
        const applied = await tx.get('select 1 as found from schema_migration where version = ?', version)
        if (applied !== undefined) return
        await migration.up(tx, columnTypes[db.dialect])
        await tx.insert('schema_migration', ['version', 'name', 'applied_at'], [[version, name, now()]])
      },
      { isLong: true },
    )
  } catch (cause) {
    throw new Error(`Schema step ${version} (${name}) failed; the data is as it was before that step.`, {
      cause,
    })
  }
}

/** Steps are looked up one by one: two branches of development may have released theirs in another order than their numbers. */
async function listApplied(db: Database): Promise<Set<number>> {
  const rows = await db.all<{ version: number }>('select version from schema_migration')
  return new Set(rows.map(({ version }) => version))
}

function findVersionOf(db: Database): Promise<number> {
  return db.write((tx) => findVersion(tx, db.dialect), { isLong: true })
}

// On SQLite a transaction has the database to itself. On PostgreSQL this lock, held to the end of
// the transaction, keeps other nodes from taking the same step.
const schemaLock = 0x0ca44e1

async function findVersion(tx: Transaction, dialect: Dialect): Promise<number> {
  if (dialect === 'postgres') await tx.get('select pg_advisory_xact_lock(?)', schemaLock)
  await tx.run(
    'create table if not exists schema_migration (version bigint primary key, name text not null, applied_at bigint not null)',
  )
  const row = await tx.get<{ version: number | null }>('select max(version) as version from schema_migration')
  return row?.version ?? 0
}

function unixNow(): number {
  return Math.floor(Date.now() / 1000)
}
