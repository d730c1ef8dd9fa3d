import type { Logger } from '../../base/logging.ts'
import { deleteMissingFiles, indexComments } from '../../derived/annotations/index.ts'
import { receivedCommits } from '../../libraries/commits/index.ts'
import { deleteUnlistedTrash } from '../../libraries/history/index.ts'
import { storesOf } from '../../libraries/library/for-server.ts'
import { fileLocks, libraryTrash } from '../../libraries/library/index.ts'
import { deleteReceivedBefore, deleteUncommittedBefore } from '../../libraries/push/index.ts'
import { countAllDirs } from '../../libraries/registry/index.ts'
import { CountingStopped } from '../../libraries/usage/index.ts'
import { deleteReceivedSubCommitsBefore } from '../../libraries/views/index.ts'
import { Maintenance, type MaintenanceJob } from '../../maintenance/jobs/index.ts'
import { ClockJumped } from '../../platform/clock/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { DELETED_LIBRARIES_KEPT_SECONDS, RECEIVED_KEPT_SECONDS, releaseSpace } from '../assembly/index.ts'
import type { Services } from './services.ts'

/** Starts the periodic jobs that delete expired data and refresh derived data. */
export function startMaintenance(services: Services, db: Database, logger: Logger): Maintenance {
  return new Maintenance([...expiries(services), ...shortJobs(services, db), ...longJobs(services, db)], {
    log: services.maintenanceLog,
    hold: () => services.node.hold('maintenance'),
    onError: (job, error) => {
      // The clock reports its jump itself.
      if (error instanceof CountingStopped || error instanceof ClockJumped) return
      logger.error({ err: error, job }, 'a maintenance job failed; it is run again in an hour')
    },
  })
}

/** Jobs that delete what has expired. */
function expiries(services: Services): MaintenanceJob[] {
  const { retentionNow: now } = services
  /** A job that deletes by the clock of its service, which is compared first. */
  const expiring = (name: string, run: () => Promise<unknown>) => ({
    name,
    run: async () => {
      now()
      return run()
    },
  })
  return [
    expiring('expired tickets', () => services.tickets.deleteExpired()),
    expiring('shares that expired long ago', () => services.shares.deleteExpired()),
    expiring('expired reservations', () => services.quotas.deleteExpired()),
    expiring('abandoned uploads', () => services.quotas.deleteExpiredUploads()),
    expiring('expired keys of libraries', () => services.core.keys.deleteExpired()),
    expiring('results of uploads', () => services.indexedUploads.deleteExpired()),
    expiring('ended tasks', () => services.copyMoveTasks.deleteEnded()),
    expiring('idle sign-ins', () => services.apiTokens.deleteIdle()),
    expiring('old password attempts', () => services.passwordAttempts.deleteExpired()),
    expiring('unused WebDAV clients', () => services.webdavClients.deleteOld()),
    expiring('expired tokens', () => services.scopedTokens.deleteExpired()),
    { name: 'daily statistics', run: () => services.statistics.record() },
    expiring('old audit records', () => services.audit.deleteOld()),
    expiring('old activities', () => services.activity.consumer.deleteOld()),
    expiring('old webhook deliveries', () => services.activity.webhooks.deleteOld()),
    expiring('old live events', () => services.activity.live.log.deleteOld()),
    expiring('old notifications', () => services.activity.notifications.deleteOld()),
    expiring('old mails', () => services.outbox.deleteOld()),
    expiring('expired sign-in links', () => services.signInLinks.deleteExpired()),
    expiring('expired trusted devices', () => services.secondFactors.deleteExpired()),
    expiring('expired device authorizations', () => services.deviceAuthorizations.deleteExpired()),
    expiring('expired links in mails', () => services.accountTokens.deleteExpired()),
    {
      name: 'password file of the administrator',
      run: () => services.initialPassword.deleteOnceUsed((email) => services.accounts.find(email)),
      isLocal: true,
    },
    { ...expiring('unused thumbnails', () => services.thumbnails.deleteStale()), isLocal: true },
  ]
}

function shortJobs(services: Services, db: Database): MaintenanceJob[] {
  const { retentionNow: now } = services
  return [
    // Those of a process that stopped.
    { name: 'waiting mails', run: async () => services.outbox.wake(), isLocal: true },
    { name: 'words of older comments', run: (signal) => indexComments(db, signal) },
    { name: 'expired locks', run: () => db.write((tx) => fileLocks.deleteExpired(tx, now())) },
    {
      name: 'received objects without a push',
      run: () => db.write((tx) => deleteReceivedBefore(tx, now() - RECEIVED_KEPT_SECONDS)),
    },
    {
      name: 'received blocks without a push',
      run: () => deleteUncommittedBefore(db, now() - RECEIVED_KEPT_SECONDS),
    },
    {
      name: 'received commits without a push',
      run: () =>
        db.write(async (tx) => {
          const before = now() - RECEIVED_KEPT_SECONDS
          const ofLibraries = await receivedCommits.deleteBefore(tx, before)
          return ofLibraries + (await deleteReceivedSubCommitsBefore(tx, before))
        }),
    },
    {
      name: 'libraries deleted long ago',
      run: () => libraryTrash.purgeBefore(services.core, now() - DELETED_LIBRARIES_KEPT_SECONDS),
    },
  ]
}

function longJobs(services: Services, db: Database): MaintenanceJob[] {
  const { retentionNow: now } = services
  return [
    {
      name: 'folder counts of older versions',
      isLong: true,
      run: () => countAllDirs({ db, objects: storesOf(services.core).objects }),
    },
    {
      name: 'space of deleted rows',
      isLong: true,
      run: (signal) => releaseSpace(services, signal),
    },
    {
      name: 'deleted files that cannot be restored any more',
      isLong: true,
      run: (signal) => deleteUnlistedTrash({ ...services.core, db, now }, signal),
    },
    {
      name: 'comments on files that are gone',
      isLong: true,
      run: (signal) => deleteMissingFiles({ core: services.core, db, now }, signal),
    },
    { name: 'stored bytes of libraries', isLong: true, run: () => services.usage.refresh() },
    {
      name: 'stored bytes of the server',
      isLong: true,
      run: () => services.statistics.recordStored(services.usage),
    },
  ]
}
