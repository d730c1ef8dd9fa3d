import path from 'node:path'
import {
  Access,
  LibraryNames,
  LibraryPasswords,
  LinkMails,
  Links,
  Quotas,
  Shares,
  Tickets,
} from '../access/index.ts'
import { Comments, findAnnotated, findCommented, Tags } from '../annotations/index.ts'
import type { ApiServices } from '../api/index.ts'
import {
  apiTokenDependents,
  createAccounts,
  createActivity,
  createInitialPassword,
  createPhotos,
  createSearch,
  groupDependents,
  libraryRelations,
  quotaLimits,
} from '../assembly/index.ts'
import { Audit } from '../audit/index.ts'
import { readIntegrityState } from '../check/index.ts'
import type { TrustedClock } from '../clock/index.ts'
import type { ClusterNode } from '../cluster/index.ts'
import type { CommitStatistics } from '../commits/index.ts'
import type { Config } from '../config/index.ts'
import type { Database } from '../database/index.ts'
import { createTextExtractor } from '../extraction/index.ts'
import { GarbageCollector, OperationLeases } from '../gc/index.ts'
import {
  AccountTokens,
  ApiTokens,
  Avatars,
  Confirmations,
  CredentialOrigins,
  DeviceAuthorizations,
  Directory,
  deriveKeys,
  type FailedAuthentication,
  Groups,
  HashQueue,
  type InitialPasswordFile,
  Login,
  Onboarding,
  PasswordAttempts,
  PasswordChecks,
  type PasswordCost,
  Passwords,
  ScopedTokens,
  Sealing,
  type ServerSecret,
  SignInLinks,
  SyncTokens,
  WebdavClients,
  WebdavSecrets,
  WebdavSignIn,
} from '../identity/index.ts'
import { Images } from '../imaging/index.ts'
import { CopyMoveTasks, type CopyMoveTasksOptions, MaintenanceLog } from '../jobs/index.ts'
import type { LibraryCore } from '../library/index.ts'
import type { Logger } from '../logging.ts'
import { Outbox } from '../mail/index.ts'
import type { PageServices } from '../pages/index.ts'
import { DocumentTexts, Thumbnails } from '../previews/index.ts'
import { ClientPush } from '../push/index.ts'
import { FairSemaphore } from '../scheduling/index.ts'
import type { BlockStore } from '../storage/index.ts'
import { NotificationTokens, SyncAccess, type SyncServices } from '../sync/index.ts'
import {
  Archives,
  type ArchivesOptions,
  IndexedUploads,
  PartialUploads,
  type TransferServices,
} from '../transfer/index.ts'
import { ServerState, Statistics, Usage } from '../usage/index.ts'
import { programVersion } from '../version.ts'
import { looksLikeSnapshot, type WebdavServices } from '../webdav/index.ts'
import { sealProblem } from '../workers/index.ts'
import type { DiskReserve } from './disk-reserve.ts'
import { ScheduledBackups } from './scheduled-backups.ts'

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

/** Concurrent hashes of account passwords, of libuv's four threads. Library passwords use one more. */
const HASHES = 2

/** The services that the routes of all surfaces use. */
export type Services = ApiServices &
  PageServices &
  TransferServices &
  SyncServices &
  WebdavServices & {
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
export function createServices(parts: {
  db: Database
  searchDb: Database
  core: LibraryCore
  blocks: BlockStore
  config: Config
  secret: ServerSecret
  now: () => number
  node: ClusterNode
  /** Without one, every time is trusted. */
  clock?: TrustedClock | undefined
  logger: Logger
  /** Called when background processing of commits failed. */
  onBehind?: () => void
  /** None unless given. */
  reserve?: Pick<DiskReserve, 'fault'>
  passwordCost?: PasswordCost | undefined
}): Services {
  const { db, core, blocks, config, secret, now, node, clock } = parts
  const retentionNow = () => clock?.now() ?? now()
  const passwords = new Passwords({
    ...(parts.passwordCost && { cost: parts.passwordCost }),
    queue: new HashQueue({ slots: HASHES, bounded: config.rateLimit }),
  })
  const images = new Images()
  const problem = sealProblem()
  if (problem !== undefined) parts.logger.warn({ problem }, 'worker processes are not confined by the kernel')
  const maintenanceLog = new MaintenanceLog(now)
  const scheduledBackups = new ScheduledBackups({
    db,
    config,
    now,
    hold: () => node.hold('backups'),
    log: maintenanceLog,
    logger: parts.logger.child({ room: 'backup' }),
  })
  const directory = new Directory(db, now)
  const securityLogger = parts.logger.child({ room: 'security' })
  // Operators match this format (docs/fail2ban.md). No field contains client input.
  const onFailure = ({ address, kind, reason, user }: FailedAuthentication) =>
    securityLogger.warn({ address, kind, reason, user }, 'authentication failed')
  const passwordAttempts = new PasswordAttempts(db, secret, now)
  const guarding = { now, rateLimit: config.rateLimit, attempts: passwordAttempts, onFailure }
  const initialPassword = createInitialPassword(config, (error) =>
    securityLogger.error({ err: error }, 'the file with the first password could not be deleted'),
  )
  const accounts = createAccounts({
    db,
    now,
    passwords,
    shortestPassword: config.passwordLength,
    directory,
    core,
    initialPassword,
  })
  const passwordChecks = new PasswordChecks({ accounts, passwords, ...guarding })
  const apiTokens = new ApiTokens({
    db,
    secret,
    now,
    idleSeconds: config.sessionIdleDays * 86_400,
    dependents: apiTokenDependents,
  })
  const access = new Access({ core, db })
  const partialUploads = new PartialUploads(db, core.content, path.join(config.dataDirectory, 'uploads'), now)
  const diskFault = () => parts.reserve?.fault
  const quotas = new Quotas({
    db,
    accounts,
    now,
    limits: quotaLimits(config),
    diskFault,
  })
  core.growth.diskFault = diskFault
  core.content.diskFault = diskFault
  core.growth.guard = quotas.growthGuard
  const push = new ClientPush({
    core,
    db,
    allowance: (library, kind) => quotas.uncommittedAllowance(library, kind),
  })
  const mailLogger = parts.logger.child({ room: 'mail' })
  const outbox = new Outbox({
    db,
    settings: config.mail,
    now,
    onError: (error) => mailLogger.error({ err: error }, 'a mail could not be sent; it is tried again'),
  })
  const activityLogger = parts.logger.child({ room: 'activity' })
  const activity = createActivity({ ...parts, access, accounts, outbox, logger: activityLogger })
  const syncTokens = new SyncTokens(db, now)
  const scopedTokens = new ScopedTokens(db, secret, now, libraryRelations)
  const webdavSecrets = new WebdavSecrets({ db, passwords })
  const origins = new CredentialOrigins(db, scopedTokens)
  core.lockRights.rightOf = async (libraryKey, { accountKey, scopedTokenKey }) => {
    const origin = { accountKey, scopedTokenKey, epoch: undefined, apiTokenKey: undefined }
    const holder = await origins.findActor(origin)
    return holder?.key === accountKey ? access.writableBy(holder, libraryKey) : () => false
  }
  const tickets = new Tickets(db, access, origins, now, config.ticketSeconds, core.keys)
  const archives = createArchives({
    core,
    db,
    node,
    tickets,
    config,
    now,
    logger: parts.logger.child({ room: 'transfer' }),
    sealing: new Sealing(secret, 'tickets of archives'),
    onProgress: (accountKey, id, { state, zipped, total, isEncrypted }) =>
      activity.publishTask(accountKey, {
        id,
        type: 'archive',
        state,
        done: zipped,
        total,
        ...(isEncrypted && { isUnstored: true as const }),
      }),
  })
  const gcLogger = parts.logger.child({ room: 'gc' })
  const onGcError = (error: unknown) =>
    gcLogger.error({ err: error }, 'a library could not be collected; nothing of it is deleted')
  const leases = new OperationLeases({ db, operations: core.operations, now, onError: onGcError })
  const holdsNewGivers = config.shareAcceptance === 'new-givers'
  const groups = new Groups({
    db,
    now,
    holdsNewGivers,
    dependents: groupDependents,
    record: (tx, event) => activity.sharing.ofGroup(tx, event),
  })
  const links = new Links({
    core,
    db,
    access,
    origins,
    secret,
    ...guarding,
    identify: async (token) => {
      const found = await apiTokens.authenticate(token)
      return 'ok' in found ? found.ok : undefined
    },
    shortestPassword: config.linkPasswordLength,
  })
  const audit = new Audit(db, now, config.auditDays)
  const login = new Login({
    db,
    checks: passwordChecks,
    apiTokens,
    passwords,
    secret,
    now,
    onSignIn: ({ email }) => initialPassword.deleteFor(email),
  })
  const webdavClients = new WebdavClients({
    db,
    now,
    onSignIn: (tx, { email }, { address, credential }) =>
      audit.record(tx, {
        actor: email,
        address,
        action: 'login',
        objectKind: 'account',
        objectId: email,
        detail: { via: 'webdav', credential },
      }),
  })
  return {
    access,
    accounts,
    accountTokens: new AccountTokens({ db, accounts, outbox, secret, now, rateLimit: config.rateLimit }),
    activity,
    apiTokens,
    signInLinks: new SignInLinks({ db, apiTokens, now }),
    deviceAuthorizations: new DeviceAuthorizations({
      db,
      apiTokens,
      scopedTokens,
      secret,
      now,
      rateLimit: config.rateLimit,
    }),
    avatars: new Avatars(db, directory, images, now),
    audit,
    archives,
    archiveListings: new FairSemaphore(ARCHIVE_LISTINGS),
    edits: core.edits,
    copyMoveTasks: createCopyMoveTasks({
      core,
      db,
      access,
      origins,
      quotas,
      config,
      now,
      nodeId: node.id,
      logger: parts.logger,
      onProgress: (accountKey, { operation: type, ...task }) =>
        activity.publishTask(accountKey, { type, ...task }),
    }),
    comments: new Comments({
      db,
      access,
      accounts,
      now,
      record: (tx, event) => activity.recordAnnotation(tx, event),
    }),
    tags: new Tags({ db, access, record: (tx, event) => activity.recordAnnotation(tx, event) }),
    findAnnotated: (query, place) => findAnnotated({ db, core }, query, place),
    findCommented: (query, place) => findCommented({ db, core }, query, place),
    integrity: () => readIntegrityState(db),
    maintenanceLog,
    node,
    scheduledBackups,
    backups: scheduledBackups,
    core,
    db,
    push,
    directory,
    // Separate from the workers of the index, so that a preview does not wait for indexing.
    documentTexts: new DocumentTexts({ core, extractor: createTextExtractor(SHOWN_TEXTS) }),
    libraryPasswords: new LibraryPasswords({ core, ...guarding }),
    listingKey: deriveKeys(secret, 'tags of listings')[0].toString('hex'),
    leases,
    gc: new GarbageCollector(
      { db, blocks, core, leases },
      {
        graceSeconds: config.gcGraceSeconds,
        now: retentionNow,
        onError: onGcError,
        processCommits: (libraryKey) => activity.consumer.catchUp([libraryKey]),
      },
    ),
    groups,
    links,
    linkMails: new LinkMails({ db, links, accounts, outbox, perDay: config.mailPerDay }),
    initialPassword,
    login,
    now,
    onboarding: new Onboarding(db),
    outbox,
    passwordLength: config.passwordLength,
    retentionNow,
    clock,
    passwordAttempts,
    passwordChecks,
    confirmations: new Confirmations({ db, checks: passwordChecks, now }),
    quotas,
    scopedTokens,
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
    shares: new Shares(
      {
        core,
        db,
        holdsNewGivers,
        onAccessChanged: (tx, accountKeys) => activity.sharing.accessChanged(tx, accountKeys),
      },
      (tx, event) => activity.sharing.ofShare(tx, event),
    ),
    search: createSearch({
      core,
      libraryDb: db,
      db: parts.searchDb,
      config,
      logger: parts.logger.child({ room: 'search' }),
      onBehind: parts.onBehind,
    }),
    notificationTokens: new NotificationTokens(secret, now),
    syncAccess: new SyncAccess({ access, core, origins, syncTokens }),
    syncTokens,
    images,
    thumbnails: new Thumbnails({
      core,
      images,
      directory: path.join(config.dataDirectory, 'thumbnails'),
      now,
      onError: (error) => parts.logger.error({ err: error }, 'thumbnails could not be evicted'),
    }),
    tickets,
    usage: new Usage({ ...core, db }),
    webdavSecrets,
    webdavClients,
    webdavSignIn: new WebdavSignIn({
      db,
      accounts,
      scopedTokens,
      passwordChecks,
      clients: webdavClients,
      onRefused: async (name, account, { address, reason }) => {
        const actor = login.actorFor(name, account)
        const detail = { reason, via: 'webdav' }
        await audit.append({
          actor,
          address,
          action: 'login-failed',
          objectKind: 'account',
          objectId: actor,
          detail,
        })
      },
    }),
    libraryNames: new LibraryNames({ access, db, now, isReserved: looksLikeSnapshot }),
    indexedUploads: new IndexedUploads(db, tickets, now),
    partialUploads,
    photos: createPhotos({
      core,
      db,
      access,
      images,
      logger: parts.logger.child({ room: 'photos' }),
      onBehind: parts.onBehind,
    }),
    quotaStatus: config.quotaStatus,
    onLinkUpload: (tx, upload) => activity.sharing.ofUpload(tx, upload),
    transferLimits: { upload: config.limits.upload, archive: config.limits.archive },
  }
}

function createArchives(parts: {
  core: LibraryCore
  db: Database
  node: ClusterNode
  tickets: Tickets
  config: Config
  now: () => number
  logger: Logger
  sealing: ArchivesOptions['sealing']
  onProgress: NonNullable<ArchivesOptions['onProgress']>
}): Archives {
  const { config, node, logger } = parts
  return new Archives({
    ...parts,
    // Blocks in S3 outlive this node, and so does an archive in them.
    isShared: async () => config.blocks.kind === 's3' || (await node.list()).length > 1,
    lifeSeconds: config.ticketSeconds,
    limit: config.limits.archive,
    space: config.limits.archiveSpace,
    directory: path.join(config.dataDirectory, 'archives'),
    onError: (error) => logger.error({ err: error }, 'an archive failed'),
  })
}

function createCopyMoveTasks(parts: {
  core: LibraryCore
  db: Database
  access: Access
  origins: CredentialOrigins
  quotas: Quotas
  config: Config
  now: () => number
  nodeId: string
  logger: Logger
  onProgress: NonNullable<CopyMoveTasksOptions['onProgress']>
}): CopyMoveTasks {
  const { quotas, config } = parts
  const logger = parts.logger.child({ room: 'jobs' })
  return new CopyMoveTasks({
    ...parts,
    roomLeft: (library) => quotas.roomLeft(library),
    allowance: (library) => quotas.uncommittedAllowance(library, 'blocks'),
    atOnce: config.tasks.atOnce,
    limits: { files: config.tasks.files, bytes: config.limits.copy },
    onError: (error) => logger.error({ err: error }, 'a copy or move between libraries failed'),
  })
}
