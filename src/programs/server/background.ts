import type { Config } from '../../base/config/index.ts'
import type { Logger } from '../../base/logging.ts'
import { BlockCheck } from '../../libraries/content/index.ts'
import { Scrub } from '../../maintenance/check/index.ts'
import { GcSchedule } from '../../maintenance/gc/index.ts'
import type { ClusterNode } from '../../platform/cluster/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { BlockStore } from '../../platform/storage/index.ts'
import { startMaintenance } from './maintenance.ts'
import type { OpenParts } from './open-parts.ts'
import type { Services } from './services.ts'

/** Schedules what runs beside requests: the scrub, backups, periodic jobs, garbage collection. */
export function startBackground(
  parts: {
    readonly services: Services
    readonly db: Database
    readonly blocks: BlockStore
    readonly node: ClusterNode
    readonly config: Config
    readonly now: () => number
    readonly logger: Logger
  },
  opened: OpenParts,
): void {
  const { services, db, blocks, node, config, now, logger } = parts
  const scrubErrors = logger.child({ module: 'check' })
  opened
    .use(
      'the scrub',
      new Scrub({
        db,
        blocks: new BlockCheck(db, blocks, now),
        now,
        periodSeconds: config.scrubDays * 86_400,
        hold: () => node.hold('scrub'),
        onError: (error) =>
          scrubErrors.error({ err: error }, 'reading stored blocks failed; it is tried again'),
      }),
    )
    .start()
  opened.use('backups', services.scheduledBackups).start()
  opened.use('maintenance', startMaintenance(services, db, logger.child({ module: 'jobs' })))
  // Closed before maintenance, which would otherwise wait until everything is counted.
  opened.use('usage', services.usage)
  const gcLogger = logger.child({ module: 'gc' })
  const gcSchedule = opened.use(
    'garbage collection',
    new GcSchedule(services.gc, {
      graceSeconds: config.gcGraceSeconds,
      hold: () => node.hold('garbage collection'),
      onError: (error) => gcLogger.error({ err: error }, 'garbage collection failed; it is tried again'),
    }),
  )
  const { events } = services.core
  events.onPurged(() => gcSchedule.soon())
  events.onEvent((event) => {
    if (event.kind === 'trash-emptied') gcSchedule.soon()
  })
}
