import { setTimeout as delay } from 'node:timers/promises'
import type { Database, Dialect, Transaction } from './database.ts'
import { DatabaseError, OlderNodesError } from './errors.ts'
import type { Logger } from './logger.ts'
import { migrations as allMigrations } from './migrations/index.ts'
import { columnTypes, type Migration } from './migrations/types.ts'
import { backUpBeforeMigration, type FirstBackup, noteUpgradeFinished } from './pre-migration-backup.ts'
import { hasKinds, kindOf, listApplied, refuseUnknown } from './schema-steps.ts'

/** How long a step waits for a table that another node uses, before it lets others pass and is tried again. */
const TABLE_LOCK_MS = 2000
const RETRY_MS = 2000
const MAX_ATTEMPTS = 1000

/** What a database offers so that it can be migrated. */
export interface Migratable extends Database {
  schemaVersion: number
  readonly backupExtension: string
  /** Writes a consistent copy to a new file, and checks that the copy can be read. */
  backUp(file: string, schemaVersion: number): Promise<void>
}

/** Names the live nodes whose program does not know the step. `reached` is the schema version that the database has. */
export type ListOlderNodes = (
  tx: Transaction,
  step: { readonly version: number; readonly reached: number },
) => Promise<readonly string[]>

/** A step that waits until no older node is alive. */
export interface WaitingStep {
  readonly version: number
  readonly name: string
  readonly nodes: readonly string[]
}

export interface MigrateOptions {
  readonly now?: () => number
  /** Where the data is copied to before the first step. Undefined: it is not copied. */
  readonly backupDirectory?: string | undefined
  readonly logger?: Logger | undefined
  /** Without it, contract steps at the end are left to a server. */
  readonly listOlderNodes?: ListOlderNodes | undefined
}

/**
 * Brings the schema forward, one transaction a step, so a step that fails leaves the data as the
 * step before left it. Existing data is backed up before the first step. Two nodes starting at once do each step once. Throws NewerSchemaError if
 * the data is ahead of `migrations`, and OlderNodesError if a needed step has to wait for older nodes. Resolves to a contract step that waits for them.
 */
export async function migrate(
  db: Migratable,
  migrations: readonly Migration[],
  { now = unixNow, backupDirectory, logger, listOlderNodes }: MigrateOptions = {},
): Promise<WaitingStep | undefined> {
  const found = await findVersionOf(db)
  const applied = await listApplied(db, db.dialect)
  refuseUnknown(applied, migrations)
  const pending = migrations.filter(({ version }) => !applied.has(version))
  const needed = pending.findLastIndex((step) => kindOf(step) !== 'contract')
  const isNew = found === 0
  const waitsForServer = (index: number) => index > needed && !isNew && listOlderNodes === undefined
  let waiting: WaitingStep | undefined
  let first: FirstBackup | undefined
  let isBackedUp = isNew || backupDirectory === undefined
  for (const [index, step] of pending.entries()) {
    if (waitsForServer(index)) break
    // A new database has no older nodes.
    const listNodes = isNew || kindOf(step) === 'expand' ? undefined : listOlderNodes
    // Without a backup if it has to wait anyway.
    let nodes = listNodes === undefined || isBackedUp ? [] : await nodesBefore(db, step, listNodes)
    if (nodes.length === 0) {
      if (!isBackedUp && backupDirectory !== undefined) {
        first = await backUpBeforeMigration(db, found, backupDirectory, logger)
        isBackedUp = true
      }
      nodes = await applyStep(db, step, { now, logger, listNodes, first })
    }
    if (nodes.length === 0) continue
    const { version, name } = step
    if (index <= needed) throw new OlderNodesError(version, name, nodes)
    waiting = { version, name, nodes }
    break
  }
  if (pending.length > 0 && backupDirectory !== undefined) await noteUpgradeFinished(backupDirectory)
  refuseUnknown(await listApplied(db, db.dialect), migrations)
  db.schemaVersion = await findVersionOf(db)
  return waiting
}

/** The older nodes that have to stop before a step. */
function nodesBefore(db: Database, { version }: Migration, list: ListOlderNodes): Promise<readonly string[]> {
  return db.write(async (tx) => list(tx, { version, reached: await findVersion(tx, db.dialect) }), {
    isLong: true,
  })
}

interface CheckOptions {
  readonly migrations?: readonly Migration[] | undefined
  /** Waits for a step that is being applied. */
  readonly isExact?: boolean
}

/** Throws NewerSchemaError if the database has a step after which this program cannot work. */
export async function checkSteps(
  db: Database,
  { migrations = allMigrations, isExact = false }: CheckOptions = {},
): Promise<void> {
  const { dialect } = db
  const applied = isExact
    ? await db.write(
        async (tx) => {
          await lockSchema(tx, dialect)
          return listApplied(tx, dialect)
        },
        { isLong: true },
      )
    : await listApplied(db, dialect)
  refuseUnknown(applied, migrations)
}

interface StepOptions {
  readonly now: () => number
  readonly logger: Logger | undefined
  readonly listNodes: ListOlderNodes | undefined
  readonly first: FirstBackup | undefined
}

/** Which programs can open the data after a step that failed. */
async function openableBy(db: Database, first: FirstBackup | undefined): Promise<string> {
  const here = 'This program goes on from there when it is started again'
  if (first === undefined) return `${here}.`
  const applied = await listApplied(db, db.dialect)
  const isOpen = [...applied].every(([version, kind]) => version <= first.schemaVersion || kind === 'expand')
  if (isOpen) return `${here}, and the program of schema version ${first.schemaVersion} can still open it.`
  return `${here}. The program of schema version ${first.schemaVersion} cannot open it any more: to go back, restore ${first.file}.`
}

/** Applies a step, unless there are nodes that it has to wait for. Resolves to their names. */
async function applyStep(db: Database, step: Migration, options: StepOptions): Promise<readonly string[]> {
  const { version, name } = step
  for (let attempt = 1; ; attempt++) {
    try {
      return await tryStep(db, step, options)
    } catch (cause) {
      const isBusy = db.dialect === 'postgres' && cause instanceof DatabaseError && cause.reason === 'busy'
      if (!isBusy || attempt === MAX_ATTEMPTS) {
        throw new Error(
          `Schema step ${version} (${name}) failed; the data is as it was before that step. ${await openableBy(db, options.first)}`,
          { cause },
        )
      }
      options.logger?.warn({ step: version, name }, 'a step of the schema waits for a table that is in use')
      await delay(RETRY_MS)
    }
  }
}

function tryStep(db: Database, step: Migration, { now, listNodes }: StepOptions): Promise<readonly string[]> {
  const { dialect } = db
  const { version, name, kind } = step
  return db.write(
    async (tx) => {
      const reached = await findVersion(tx, dialect)
      const applied = await tx.get('select 1 as found from schema_migration where version = ?', version)
      if (applied !== undefined) return []
      // In the transaction: a node that starts registers first, and then waits for this one to look at the steps.
      const nodes = (await listNodes?.(tx, { version, reached })) ?? []
      if (nodes.length > 0) return nodes
      // Whoever needs the table queues up behind this transaction while it waits for a lock.
      if (dialect === 'postgres') await tx.run(`set local lock_timeout = ${TABLE_LOCK_MS}`)
      await step.up(tx, columnTypes[dialect])
      const row = { version, name, applied_at: now() }
      const stored = kind !== undefined && (await hasKinds(tx, dialect)) ? { ...row, kind } : row
      await tx.insert('schema_migration', Object.keys(stored), [Object.values(stored)])
      return []
    },
    { isLong: true },
  )
}

function findVersionOf(db: Database): Promise<number> {
  return db.write((tx) => findVersion(tx, db.dialect), { isLong: true })
}

// On SQLite a transaction has the database to itself. On PostgreSQL this lock, held to the end of
// the transaction, keeps other nodes from taking the same step.
const schemaLock = 0x0ca44e1

async function lockSchema(tx: Transaction, dialect: Dialect): Promise<void> {
  if (dialect === 'postgres') await tx.get('select pg_advisory_xact_lock(?)', schemaLock)
}

async function findVersion(tx: Transaction, dialect: Dialect): Promise<number> {
  await lockSchema(tx, dialect)
  await tx.run(
    'create table if not exists schema_migration (version bigint primary key, name text not null, applied_at bigint not null)',
  )
  const row = await tx.get<{ version: number | null }>('select max(version) as version from schema_migration')
  return row?.version ?? 0
}

function unixNow(): number {
  return Math.floor(Date.now() / 1000)
}
