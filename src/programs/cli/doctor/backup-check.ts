import type { Config } from '../../../base/config/index.ts'
import { type BackupState, readBackupState } from '../../../maintenance/backup/index.ts'
import { inspectDatabase, judgeSchema } from '../../../platform/database/index.ts'
import { type Finding, ok, warn } from './finding.ts'

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
