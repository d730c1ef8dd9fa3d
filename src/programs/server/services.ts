import path from 'node:path'
import { FairSemaphore } from '../../base/scheduling/index.ts'
import { programVersion } from '../../base/version.ts'
import { Comments, findAnnotated, findCommented, Tags } from '../../derived/annotations/index.ts'
import { DocumentTexts, Thumbnails } from '../../derived/previews/index.ts'
import type { CommitStatistics } from '../../libraries/commits/index.ts'
import { storesOf } from '../../libraries/library/for-server.ts'
import { ClientPush } from '../../libraries/push/index.ts'
import { ServerState, Statistics, Usage } from '../../libraries/usage/index.ts'
import type { GarbageCollector, OperationLeases } from '../../maintenance/gc/index.ts'
import { CopyMoveTasks, type MaintenanceLog } from '../../maintenance/jobs/index.ts'
import type { Audit } from '../../people/audit/index.ts'
import type { WebdavSignIn } from '../../people/credentials/index.ts'
import type { InitialPasswordFile, PasswordAttempts } from '../../people/passwords/index.ts'
import type { TrustedClock } from '../../platform/clock/index.ts'
import type { ClusterNode } from '../../platform/cluster/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { createTextExtractor } from '../../platform/extraction/index.ts'
import type { Images } from '../../platform/imaging/index.ts'
import { deriveKeys, Sealing } from '../../platform/secret/index.ts'
import { sealProblem } from '../../platform/workers/index.ts'
import type { ApiServices } from '../../surfaces/api/index.ts'
import type { PageServices } from '../../surfaces/pages/index.ts'
import { NotificationTokens, SyncAccess, type SyncServices } from '../../surfaces/sync/index.ts'
import {
  Archives,
  IndexedUploads,
  PartialUploads,
  type TransferServices,
} from '../../surfaces/transfer/index.ts'
import type { WebdavServices } from '../../surfaces/webdav/index.ts'
import { createPhotos, createSearch } from '../assembly/index.ts'
import { apiDescription } from './api-description.ts'
import { createMaintenanceServices } from './maintenance-services.ts'
import { createPeople, type PeopleServices } from './people-services.ts'
import type { ScheduledBackups } from './scheduled-backups.ts'
import type { ServiceParts } from './service-parts.ts'
import { createSharing, type SharingServices } from './sharing-services.ts'
import { isPassing } from './storage-faults.ts'

// Enough for about a hundred pages.
const SHOWN_TEXTS = {
  threads: 2,
  perKey: 1,
  waiting: 50,
  waitingPerKey: 20,
  waitMs: 30_000,
  limits: { textLength: 2 ** 18 },
}

/** Listings of zip archives: hardly any CPU time each, unless somebody lists large ones all the time. */
const ARCHIVE_LISTINGS = { slots: 2, perKey: 1, waiting: 100, waitingPerKey: 20, waitMs: 30_000 }

/** The services that the routes of all surfaces use. */
export type Services = ApiServices &
  PageServices &
  TransferServices &
  SyncServices &
  WebdavServices & {
    readonly audit: Audit
    readonly db: Database
    readonly webdavSignIn: WebdavSignIn
    readonly maintenanceLog: MaintenanceLog
    readonly copyMoveTasks: CopyMoveTasks
    readonly initialPassword: InitialPasswordFile
    readonly images: Images
    /** Counts of edits since the start of this process. */
    readonly edits: CommitStatistics
    readonly gc: GarbageCollector
    readonly scheduledBackups: ScheduledBackups
    readonly node: ClusterNode
    readonly passwordAttempts: PasswordAttempts
    readonly leases: OperationLeases
    /** The time for deletions of what has expired. Throws ClockJumped. */
    readonly retentionNow: () => number
    readonly clock: TrustedClock | undefined
  }

/** Creates the services, without a listening server. */
export function createServices(parts: ServiceParts): Services {
  const { db, core, config, secret, now, node, clock } = parts
  const problem = sealProblem()
  if (problem !== undefined) parts.logger.warn({ problem }, 'worker processes are not confined by the kernel')
  const people = createPeople(parts, (...added) => sharing.activity.credentials.ofAdded(...added))
  const sharing: SharingServices = createSharing(parts, people)
  return {
    ...people,
    ...sharing,
    ...createMaintenanceServices(parts, sharing),
    ...createDerived(parts, people, sharing),
    ...createTransfers(parts, people, sharing),
    ...createServerServices(parts, people, sharing),
    core,
    db,
    edits: core.edits,
    node,
    now,
    clock,
    passwordLength: config.passwordLength,
    listingKey: deriveKeys(secret, 'tags of listings')[0].toString('hex'),
    notificationTokens: new NotificationTokens(secret, now),
    syncAccess: new SyncAccess({
      access: sharing.access,
      core,
      origins: people.origins,
      syncTokens: people.syncTokens,
    }),
    apiDescription,
    quotaStatus: config.quotaStatus,
  }
}

/** What follows the commits, and what is shown of files. */
function createDerived(parts: ServiceParts, { accounts, images }: PeopleServices, sharing: SharingServices) {
  const { db, core, config, now, logger, onBehind } = parts
  const { access, activity } = sharing
  return {
    comments: new Comments({
      db,
      access,
      accounts,
      now,
      record: (tx, event) => activity.recordAnnotation(tx, event),
    }),
    tags: new Tags({ db, access, record: (tx, event) => activity.recordAnnotation(tx, event) }),
    findAnnotated: ((query, place) =>
      findAnnotated({ db, core }, query, place)) satisfies ApiServices['findAnnotated'],
    findCommented: ((query, place) =>
      findCommented({ db, core }, query, place)) satisfies ApiServices['findCommented'],
    archiveListings: new FairSemaphore(ARCHIVE_LISTINGS),
    // Separate from the workers of the index, so that a preview does not wait for indexing.
    documentTexts: new DocumentTexts({ core, extractor: createTextExtractor(SHOWN_TEXTS) }),
    search: createSearch({
      core,
      libraryDb: db,
      db: parts.searchDb,
      config,
      logger: logger.child({ module: 'search' }),
      onBehind,
    }),
    photos: createPhotos({ core, db, access, images, logger: logger.child({ module: 'photos' }), onBehind }),
    thumbnails: new Thumbnails({
      core,
      images,
      directory: path.join(config.dataDirectory, 'thumbnails'),
      now,
      onError: (error) => logger.error({ err: error }, 'thumbnails could not be evicted'),
    }),
  }
}

/** What moves bytes: uploads, archives, pushes, copies between libraries. */
function createTransfers(parts: ServiceParts, people: PeopleServices, sharing: SharingServices) {
  const { db, core, config, now } = parts
  const { activity, quotas, tickets } = sharing
  return {
    archives: createArchives(parts, sharing),
    copyMoveTasks: createCopyMoveTasks(parts, people, sharing),
    push: new ClientPush({
      core,
      db,
      allowance: (library, kind) => quotas.uncommittedAllowance(library, kind),
    }),
    indexedUploads: new IndexedUploads(db, tickets, now),
    partialUploads: new PartialUploads(db, core.incoming, path.join(config.dataDirectory, 'uploads'), now),
    onLinkUpload: ((tx, upload) =>
      activity.sharing.ofUpload(tx, upload)) satisfies TransferServices['onLinkUpload'],
    transferLimits: { upload: config.limits.upload, archive: config.limits.archive },
  }
}

/** What the server says of itself. */
function createServerServices(
  { db, core, config, now }: ServiceParts,
  { accounts, apiTokens }: PeopleServices,
  { groups }: SharingServices,
) {
  return {
    server: new ServerState({
      db,
      now,
      dataDirectory: config.dataDirectory,
      version: programVersion(),
      database: config.database.kind,
      blocks: config.blocks.kind,
    }),
    setup: {
      publicUrl: config.publicUrl,
      backupIntervalSeconds: config.backup.target === undefined ? undefined : config.backup.intervalSeconds,
    },
    statistics: new Statistics({ db, core, accounts, apiTokens, groups, now }),
    usage: new Usage({ ...core, db, pathIndex: storesOf(core).pathIndex }),
  }
}

function createArchives(parts: ServiceParts, { activity, tickets }: SharingServices): Archives {
  const { core, db, now, config, node, secret } = parts
  const logger = parts.logger.child({ module: 'transfer' })
  return new Archives({
    core,
    db,
    node,
    tickets,
    now,
    // Blocks in S3 outlive this node, and so does an archive in them.
    isShared: async () => config.blocks.kind === 's3' || (await node.list()).length > 1,
    lifeSeconds: config.ticketSeconds,
    limit: config.limits.archive,
    space: config.limits.archiveSpace,
    directory: path.join(config.dataDirectory, 'archives'),
    sealing: new Sealing(secret, 'tickets of archives'),
    isPassing,
    onProgress: (accountKey, id, { state, zipped, total, isEncrypted }) =>
      activity.publishTask(accountKey, {
        id,
        type: 'archive',
        state,
        done: zipped,
        total,
        ...(isEncrypted && { isUnstored: true as const }),
      }),
    onError: (error) => {
      if (isPassing(error)) logger.warn({ err: error }, 'an archive could not be packed now')
      else logger.error({ err: error }, 'an archive failed')
    },
  })
}

function createCopyMoveTasks(
  { core, db, config, now, node, logger: root }: ServiceParts,
  { origins }: PeopleServices,
  { access, activity, quotas }: SharingServices,
): CopyMoveTasks {
  const logger = root.child({ module: 'jobs' })
  return new CopyMoveTasks({
    core,
    db,
    access,
    origins,
    now,
    nodeId: node.id,
    roomLeft: (library) => quotas.roomLeft(library),
    allowance: (library) => quotas.uncommittedAllowance(library, 'blocks'),
    atOnce: config.tasks.atOnce,
    limits: { files: config.tasks.files, bytes: config.limits.copy },
    isPassing,
    onProgress: (accountKey, { operation: type, ...task }) =>
      activity.publishTask(accountKey, { type, ...task }),
    onError: (error) => {
      if (isPassing(error))
        logger.warn({ err: error }, 'a copy or move between libraries could not be carried out now')
      else logger.error({ err: error }, 'a copy or move between libraries failed')
    },
  })
}
