import type { Database, Reader } from '../../platform/database/index.ts'

/** A backup, or a verification that read a whole backup. */
type BackupRunKind = 'backup' | 'verify'

/** The last runs of each kind. Times are Unix seconds. */
export interface BackupState {
  /** The point in time of the last successful backup. */
  readonly lastBackupAt: number | undefined
  readonly lastSnapshot: string | undefined
  readonly lastVerifiedAt: number | undefined
  /** When the last backup began if it has not ended: it runs, or its process was killed. */
  readonly unfinishedSince: number | undefined
  /** The last run if it failed; undefined once a later one of the same kind succeeded. */
  readonly failure:
    | { readonly kind: BackupRunKind; readonly at: number; readonly message: string }
    | undefined
}

/** How a run ended. */
interface RunResult {
  readonly outcome: 'succeeded' | 'failed'
  readonly snapshot?: string
  readonly storedBytes?: number
  readonly message?: string
}

const KEPT_RUNS = 200
const MAX_MESSAGE = 500

/** Records that a run begins, and returns its key. */
export async function beginRun(
  db: Database,
  { kind, target, now }: { kind: BackupRunKind; target: string; now: number },
): Promise<number> {
  return db.write(async (tx) => {
    await tx.run('delete from backup_run where key <= (select max(key) from backup_run) - ?', KEPT_RUNS)
    const row = await tx.get<{ key: number }>(
      `insert into backup_run (kind, target, outcome, started_at) values (?, ?, 'running', ?) returning key`,
      kind,
      target,
      now,
    )
    return row?.key ?? 0
  })
}

export async function endRun(db: Database, key: number, result: RunResult & { now: number }): Promise<void> {
  const { outcome, snapshot = null, storedBytes = 0, message = '', now } = result
  await db.write((tx) =>
    tx.run(
      'update backup_run set outcome = ?, snapshot = ?, stored_bytes = ?, message = ?, ended_at = ? where key = ?',
      outcome,
      snapshot,
      storedBytes,
      message.slice(0, MAX_MESSAGE),
      now,
      key,
    ),
  )
}

/** When the last run of a kind began, however it ended. */
export async function findLastAttempt(reader: Reader, kind: BackupRunKind): Promise<number | undefined> {
  const row = await reader.get<{ started_at: number }>(
    'select started_at from backup_run where kind = ? order by key desc limit 1',
    kind,
  )
  return row?.started_at
}

export async function readBackupState(reader: Reader): Promise<BackupState> {
  const [backup, verify] = [await findLast(reader, 'backup'), await findLast(reader, 'verify')]
  const failures = [backup.failure, verify.failure].filter((failure) => failure !== undefined)
  return {
    lastBackupAt: backup.success?.started_at,
    lastSnapshot: backup.success?.snapshot ?? undefined,
    lastVerifiedAt: verify.success?.started_at,
    unfinishedSince: backup.unfinished?.started_at,
    failure: failures.sort((a, b) => b.at - a.at)[0],
  }
}

interface RunRow {
  key: number
  snapshot: string | null
  message: string
  started_at: number
}

async function findLast(reader: Reader, kind: BackupRunKind) {
  const find = (outcome: string) =>
    reader.get<RunRow>(
      `select key, snapshot, message, started_at from backup_run
       where kind = ? and outcome = ? order by key desc limit 1`,
      kind,
      outcome,
    )
  const [success, failed, running] = [await find('succeeded'), await find('failed'), await find('running')]
  const isCurrent = failed !== undefined && failed.key > (success?.key ?? 0)
  const isLast = running !== undefined && running.key > Math.max(success?.key ?? 0, failed?.key ?? 0)
  return {
    success,
    unfinished: isLast ? running : undefined,
    failure: isCurrent ? { kind, at: failed.started_at, message: failed.message } : undefined,
  }
}
