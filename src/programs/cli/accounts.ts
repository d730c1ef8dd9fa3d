import type { Config } from '../../base/config/index.ts'
import type { Accounts } from '../../people/accounts/index.ts'
import { Audit, type AuditActor } from '../../people/audit/index.ts'
import {
  type Database,
  inspectDatabase,
  judgeSchema,
  knownSchemaVersion,
  NewerSchemaError,
  openDatabase,
} from '../../platform/database/index.ts'
import { Quotas } from '../../sharing/quotas/index.ts'
import { createAccounts, createInitialPassword, quotaLimits, refuseMoved } from '../assembly/index.ts'
import { CommandError } from './command-error.ts'

/** The actor of commands run on the machine itself. */
export const operator: AuditActor = { actor: 'operator', address: '' }

/** The accounts of a server, which may be running at the same time. */
export interface OpenAccounts extends AsyncDisposable {
  readonly db: Database
  readonly audit: Audit
  readonly accounts: Accounts
  readonly quotas: Quotas
  readonly operator: AuditActor
}

/** Opens existing data. Creates and migrates nothing, so that a wrong folder or version is reported. */
export async function openAccounts(config: Config): Promise<OpenAccounts> {
  const now = () => Math.floor(Date.now() / 1000)
  const db = await openExistingDatabase(config)
  const audit = new Audit(db, now, config.auditDays)
  const accounts = createAccounts({
    db,
    audit,
    now,
    shortestPassword: config.passwordLength,
    initialPassword: createInitialPassword(config),
  })
  return {
    db,
    audit,
    accounts,
    operator,
    quotas: new Quotas({ db, accounts, now, limits: quotaLimits(config) }),
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  }
}

/** Opens the existing database of a server. Creates and migrates nothing. */
export async function openExistingDatabase(config: Config): Promise<Database> {
  await checkSchema(config)
  const now = () => Math.floor(Date.now() / 1000)
  return openDatabase(config.database, { now, onFatal: stopAtOnce })
}

/** Throws CommandError if there is no data, or none of this schema version, and StartError if it was moved to another database. */
export async function checkSchema(config: Config): Promise<void> {
  await checkVersion(config)
  await using found = await inspectDatabase(config.database)
  if (found !== undefined) await refuseMoved(found, found.schemaVersion)
}

/** Throws CommandError if there is no data, or none of this schema version. */
export async function checkVersion({ database, dataDirectory }: Config): Promise<void> {
  await using found = await inspectDatabase(database)
  const state = found === undefined ? 'unused' : judgeSchema(found)
  if (state === 'unused') {
    const place = database.kind === 'sqlite' ? `folder ${dataDirectory}` : 'database'
    throw new CommandError(
      `There is no data of Carrel in the ${place}: start carrel serve once, or name the right one with --data or --database.`,
    )
  }
  if (state === 'newer') throw new NewerSchemaError(found?.schemaVersion ?? 0, knownSchemaVersion)
  if (state === 'older') {
    throw new CommandError(
      'The data is of an older version of Carrel: start carrel serve once, which brings it up to date.',
    )
  }
}

function stopAtOnce(error: Error): never {
  process.stderr.write(`The change could not be saved (${error.message}): see that the disk is sound.\n`)
  process.exit(1)
}
