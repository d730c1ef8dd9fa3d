import type { Database, Dialect, Transaction } from './database.ts'
import { NewerSchemaError } from './errors.ts'
import { columnTypes, type Migration } from './migrations/types.ts'

/** What a database offers so that it can be migrated. */
export interface Migratable extends Database {
  schemaVersion: number
  /** Keeps a copy of all data as it is before the step to `version`. */
  backUp?(version: number): Promise<void>
}

/**
 * Brings the schema forward, one transaction a step, so a step that fails leaves the data as the
 * step before left it. Two nodes starting at once do each step once. Throws NewerSchemaError if
 * the data is ahead of `migrations`.
 */
export async function migrate(
  db: Migratable,
  migrations: readonly Migration[],
  now: () => number = unixNow,
): Promise<void> {
  const known = Math.max(0, ...migrations.map((migration) => migration.version))
  const found = await findVersionOf(db)
  if (found > known) throw new NewerSchemaError(found, known)
  const pending = migrations.filter((migration) => migration.version > found)
  const [first] = pending
  if (first && found > 0) await db.backUp?.(first.version)
  for (const migration of pending) await applyStep(db, migration, now)
  const reached = await findVersionOf(db)
  if (reached > known) throw new NewerSchemaError(reached, known)
  db.schemaVersion = reached
}

async function applyStep(db: Database, migration: Migration, now: () => number): Promise<void> {
  const { version, name } = migration
  try {
    await db.write(async (tx) => {
      const applied = await findVersion(tx, db.dialect)
      if (applied >= version) return
      await migration.up(tx, columnTypes[db.dialect])
      await tx.insert('schema_migration', ['version', 'name', 'applied_at'], [[version, name, now()]])
    })
  } catch (cause) {
    throw new Error(`Schema step ${version} (${name}) failed; the data is as it was before that step.`, {
      cause,
    })
  }
}

function findVersionOf(db: Database): Promise<number> {
  return db.write((tx) => findVersion(tx, db.dialect))
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
