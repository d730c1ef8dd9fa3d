import type { Config } from '../../../base/config/index.ts'
import { type BackupState, readBackupState } from '../../../maintenance/backup/index.ts'
import { inspectDatabase, judgeSchema } from '../../../platform/database/index.ts'
import { findFolderProblem, findPostgresProblems, type StorageProblem } from '../../assembly/index.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** Checks that flushed data is durable: the file system of the data folder, and the settings of PostgreSQL. */
export async function checkStorage(config: Config): Promise<readonly Finding[]> {
  const folder = await findFolderProblem(config.dataDirectory, config.database.kind)
  const problems = [...(folder ? [folder] : []), ...(await problemsOfDatabase(config))]
  if (problems.length === 0) return [ok('storage', 'keeps what is flushed')]
  return problems.map(({ kind, message, remedy }) =>
    kind === 'unsafe' && config.unsafeStorage === 'refuse'
      ? fail('storage', message, remedy)
      : warn('storage', message, remedy),
  )
}

/** None if the database cannot be reached. `checkDatabase` reports that. */
async function problemsOfDatabase({ database }: Config): Promise<StorageProblem[]> {
  if (database.kind === 'sqlite') return []
  try {
    await using found = await inspectDatabase(database)
    return found === undefined ? [] : await findPostgresProblems(found)
  } catch {
    return []
  }
}

/** Checks that there is a recent backup. Backups by other programs are not known here. */
export async function checkBackup({ backup, database }: Config): Promise<Finding> {
  const name = 'backup'
  const state = await findState(database)
  if (state === undefined) return ok(name, 'nothing has been stored yet')
  const { lastBackupAt, lastVerifiedAt, failure } = state
  if (failure !== undefined) {
    const at = new Date(failure.at * 1000).toISOString()
    return warn(
      name,
      `the last ${failure.kind === 'backup' ? 'backup' : 'verification'}, at ${at}, failed`,
      failure.message,
    )
  }
  if (lastBackupAt === undefined) {
    return warn(name, 'there has never been a backup', 'run carrel backup, or set CARREL_BACKUP_TARGET')
  }
  const made = new Date(lastBackupAt * 1000).toISOString()
  const isLate = backup.target !== undefined && Date.now() / 1000 - lastBackupAt > 2 * backup.intervalSeconds
  if (isLate)
    return warn(name, `the last backup is of ${made}`, 'see that the server is running, and its log')
  const verified = lastVerifiedAt === undefined ? 'never' : new Date(lastVerifiedAt * 1000).toISOString()
  return ok(name, `the last backup is of ${made}, last verified: ${verified}`)
}

/** Undefined without data of this version. `checkDatabase` reports the reason. */
async function findState(database: Config['database']): Promise<BackupState | undefined> {
  try {
    await using found = await inspectDatabase(database)
    return found !== undefined && judgeSchema(found) === 'usable' ? await readBackupState(found) : undefined
  } catch {
    return undefined
  }
}
