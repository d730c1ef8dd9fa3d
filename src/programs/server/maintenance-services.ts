import { readIntegrityState } from '../../maintenance/check/index.ts'
import { GarbageCollector, OperationLeases } from '../../maintenance/gc/index.ts'
import { MaintenanceLog } from '../../maintenance/jobs/index.ts'
import { ScheduledBackups } from './scheduled-backups.ts'
import type { ServiceParts } from './service-parts.ts'
import type { SharingServices } from './sharing-services.ts'

/** What runs beside the requests. */
export function createMaintenanceServices(parts: ServiceParts, { activity }: SharingServices) {
  const { core, db, blocks, config, now, node, clock, logger } = parts
  const retentionNow = () => clock?.now() ?? now()
  const gcLogger = logger.child({ module: 'gc' })
  const onError = (error: unknown) =>
    gcLogger.error({ err: error }, 'a library could not be collected; nothing of it is deleted')
  const leases = new OperationLeases({ db, operations: core.operations, now, onError })
  const maintenanceLog = new MaintenanceLog(now)
  const scheduledBackups = new ScheduledBackups({
    db,
    config,
    now,
    hold: () => node.hold('backups'),
    log: maintenanceLog,
    logger: logger.child({ module: 'backup' }),
  })
  return {
    retentionNow,
    maintenanceLog,
    scheduledBackups,
    backups: scheduledBackups,
    leases,
    integrity: () => readIntegrityState(db),
    gc: new GarbageCollector(
      { db, blocks, core, leases },
      {
        graceSeconds: config.gcGraceSeconds,
        now: retentionNow,
        onError,
        processCommits: (libraryKey) => activity.consumer.catchUp([libraryKey]),
      },
    ),
  }
}
