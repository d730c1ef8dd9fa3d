import type { Registry } from 'prom-client'
import { registerGauges, type StateMetric } from '../../base/metrics.ts'
import type { BackupState } from './backup-run-store.ts'

const gauges: readonly StateMetric<BackupState>[] = [
  {
    name: 'carrel_backup_last_success_timestamp_seconds',
    help: 'Time of the last successful backup; 0 if there was none',
    of: ({ lastBackupAt }) => lastBackupAt ?? 0,
  },
  {
    name: 'carrel_backup_last_verified_timestamp_seconds',
    help: 'Time of the last verification that read a whole backup; 0 if there was none',
    of: ({ lastVerifiedAt }) => lastVerifiedAt ?? 0,
  },
  {
    name: 'carrel_backup_unfinished_since_seconds',
    help: 'Unix time when the last backup began if it has not finished; otherwise 0',
    of: ({ unfinishedSince }) => unfinishedSince ?? 0,
  },
  {
    name: 'carrel_backup_failed',
    help: '1 if the last backup or verification failed',
    of: ({ failure }) => (failure === undefined ? 0 : 1),
  },
]

/** Registers the metrics of backups. */
export function registerBackupMetrics(registry: Registry, state: () => Promise<BackupState>): void {
  registerGauges(registry, gauges, state)
}
