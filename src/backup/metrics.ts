import { Gauge, type Registry } from 'prom-client'
import type { BackupState } from './backup-run-store.ts'

const gauges: readonly { name: string; help: string; of: (state: BackupState) => number }[] = [
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
    name: 'carrel_backup_failed',
    help: '1 if the last backup or verification failed',
    of: ({ failure }) => (failure === undefined ? 0 : 1),
  },
]

/** Registers the metrics of backups. */
export function registerBackupMetrics(registry: Registry, state: () => Promise<BackupState>): void {
  for (const { name, help, of } of gauges) {
    registry.registerMetric(
      new Gauge({
        name,
        help,
        registers: [],
        async collect() {
          this.set(of(await state()))
        },
      }),
    )
  }
}
