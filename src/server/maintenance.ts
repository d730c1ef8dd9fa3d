import { countAllDirs, deleteReceivedCommitsBefore } from '../commits/index.ts'
import type { Database } from '../database/index.ts'
import { deleteUnlistedTrash } from '../history/index.ts'
import { Maintenance } from '../jobs/index.ts'
import { deleteExpiredLocks, purgeDeletedBefore } from '../library/index.ts'
import type { Logger } from '../logging.ts'
import { deleteReceivedBefore, deleteUncommittedBefore } from '../push/index.ts'
import { CountingStopped } from '../usage/index.ts'
import { deleteReceivedSubCommitsBefore } from '../views/index.ts'
import { releaseSpace } from './release-space.ts'
import type { Services } from './services.ts'

export const DELETED_LIBRARIES_KEPT_SECONDS = 30 * 86_400
// Objects and blocks that sync clients uploaded for a push that never came.
export const RECEIVED_KEPT_SECONDS = 7 * 86_400

/** Starts the periodic jobs that delete expired data and refresh derived data. */
export function startMaintenance(services: Services, db: Database, logger: Logger): Maintenance {
  const { now } = services
  return new Maintenance(
    [
      { name: 'expired tickets', run: () => services.tickets.deleteExpired() },
      { name: 'expired reservations', run: () => services.quotas.deleteExpired() },
      { name: 'abandoned uploads', run: () => services.quotas.deleteExpiredUploads() },
      { name: 'files of uploads that are gone', run: () => services.partialUploads.deleteStray() },
      { name: 'tasks that ended', run: () => services.copyMoveTasks.deleteEnded() },
      { name: 'sign-ins nobody uses', run: () => services.apiTokens.deleteIdle() },
      { name: 'expired tokens', run: () => services.scopedTokens.deleteExpired() },
      { name: 'the numbers of the day', run: () => services.statistics.record() },
      { name: 'the oldest of the audit log', run: () => services.audit.deleteOld() },
      { name: 'old deliveries', run: () => services.activity.webhooks.deleteOld() },
      { name: 'old live events', run: () => services.activity.live.log.deleteOld() },
      { name: 'old notifications', run: () => services.activity.notifications.deleteOld() },
      { name: 'thumbnails nobody looks at', run: () => services.thumbnails.deleteStale() },
      { name: 'expired locks', run: () => db.write((tx) => deleteExpiredLocks(tx, now())) },
      {
        name: 'objects that were sent and never named',
        run: () => db.write((tx) => deleteReceivedBefore(tx, now() - RECEIVED_KEPT_SECONDS)),
      },
      {
        name: 'blocks that were sent and never named',
        run: () => db.write((tx) => deleteUncommittedBefore(tx, now() - RECEIVED_KEPT_SECONDS)),
      },
      {
        name: 'commits that were sent and never pushed',
        run: () =>
          db.write(async (tx) => {
            const before = now() - RECEIVED_KEPT_SECONDS
            const ofLibraries = await deleteReceivedCommitsBefore(tx, before)
            return ofLibraries + (await deleteReceivedSubCommitsBefore(tx, before))
          }),
      },
      {
        name: 'libraries deleted long ago',
        run: () => purgeDeletedBefore(services.core, now() - DELETED_LIBRARIES_KEPT_SECONDS),
      },
      {
        name: 'folders of older versions',
        isLong: true,
        run: () => countAllDirs({ db, objects: services.core.objects }),
      },
      {
        name: 'space of deleted rows',
        isLong: true,
        run: (signal) => releaseSpace(services, signal),
      },
      {
        name: 'deleted files that cannot be restored any more',
        isLong: true,
        run: (signal) => deleteUnlistedTrash({ ...services.core, db }, signal),
      },
      { name: 'the stored bytes of libraries', isLong: true, run: () => services.usage.refresh() },
      {
        name: 'the stored bytes of the server',
        isLong: true,
        run: () => services.statistics.recordStored(services.usage),
      },
    ],
    services.maintenanceLog,
    (chore, error) => {
      if (error instanceof CountingStopped) return
      logger.error({ err: error, chore }, 'upkeep failed; it is tried again in an hour')
    },
  )
}
