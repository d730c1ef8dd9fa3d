import type { Config } from '../../base/config/index.ts'
import type { Logger } from '../../base/logging.ts'
import { CoalescedTask } from '../../base/scheduling/index.ts'
import {
  type BackupState,
  findLastAttempt,
  readBackupState,
  type SnapshotManifest,
} from '../../maintenance/backup/index.ts'
import type { MaintenanceLog } from '../../maintenance/jobs/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { recordedBackup, recordedVerification } from '../assembly/index.ts'
import type { BackupJob } from './backup-process.ts'

const LOOK_EVERY_MS = 60_000
/** After a failure. */
const RETRY_SECONDS = 3600

/**
 * Backs the server up to the configured target at the configured interval, prunes, and verifies, in a side process with low priority. A run that
 * the end of the server interrupts is repeated within an hour of the next start and continues with what was already stored.
 */
export class ScheduledBackups implements AsyncDisposable {
  readonly #db: Database
  readonly #config: Config
  readonly #now: () => number
  readonly #hold: () => Promise<boolean>
  readonly #log: MaintenanceLog
  readonly #logger: Logger
  readonly #stopping = new AbortController()
  #timer: NodeJS.Timeout | undefined
  readonly #looking = new CoalescedTask(() => this.#runDue())

  constructor(parts: {
    db: Database
    config: Config
    now: () => number
    /** Takes or keeps the lease. False if another node makes the backups. */
    hold: () => Promise<boolean>
    log: MaintenanceLog
    logger: Logger
  }) {
    this.#db = parts.db
    this.#config = parts.config
    this.#now = parts.now
    this.#hold = parts.hold
    this.#log = parts.log
    this.#logger = parts.logger
  }

  start(): void {
    if (this.#config.backup.target === undefined) return
    this.#timer = setInterval(() => void this.look(), LOOK_EVERY_MS).unref()
  }

  /** Runs what is due at the time of the call. */
  look(): Promise<void> {
    return this.#looking.run()
  }

  state(): Promise<BackupState> {
    return readBackupState(this.#db)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    this.#stopping.abort()
    await this.#looking.ended()
  }

  async #runDue(): Promise<void> {
    const { target, intervalSeconds, verifySeconds } = this.#config.backup
    if (target === undefined || this.#stopping.signal.aborted) return
    try {
      if (!(await this.#hold())) return
      const state = await this.state()
      if (await this.#isDue('backup', state.lastBackupAt, intervalSeconds)) {
        await this.#timed('backup', () =>
          recordedBackup(this.#db, target, (lease) =>
            this.#inProcess<SnapshotManifest>({ kind: 'backup', target, lease }),
          ),
        )
      }
      if (verifySeconds === undefined || !(await this.#isDue('verify', state.lastVerifiedAt, verifySeconds)))
        return
      await this.#timed('verification of the backup', () =>
        recordedVerification(this.#db, target, () =>
          this.#inProcess<{ problems: string[] }>({ kind: 'verify', target }),
        ),
      )
    } catch (error) {
      if (this.#stopping.signal.aborted) return
      this.#logger.error({ err: error }, 'the scheduled backup failed; it is tried again in an hour')
    }
  }

  async #isDue(
    kind: 'backup' | 'verify',
    lastSuccess: number | undefined,
    seconds: number,
  ): Promise<boolean> {
    const now = this.#now()
    const attempt = (await findLastAttempt(this.#db, kind)) ?? 0
    const isRetryDue = now - attempt >= Math.min(RETRY_SECONDS, seconds) || attempt === lastSuccess
    return now - (lastSuccess ?? 0) >= seconds && isRetryDue
  }

  #inProcess<Result>(what: Omit<BackupJob, 'config'>): Promise<Result> {
    const job: BackupJob = { ...what, config: this.#config }
    return this.#db.runInSideProcess<Result>(
      new URL('./backup-process.ts', import.meta.url),
      job,
      this.#stopping.signal,
    )
  }

  async #timed(name: string, run: () => Promise<void>): Promise<void> {
    const began = performance.now()
    const note = (failed: boolean) =>
      this.#log.note(name, { durationMs: Math.round(performance.now() - began), failed })
    try {
      await run()
      note(false)
    } catch (error) {
      note(true)
      throw error
    }
  }
}
