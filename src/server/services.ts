import path from 'node:path'
import { Access } from '../access/access.ts'
import { LibraryPasswords } from '../access/library-passwords.ts'
import { Links } from '../access/links.ts'
import { Quotas } from '../access/quota.ts'
import { Shares } from '../access/shares.ts'
import { Tickets } from '../access/tickets.ts'
import { ActivityRoom, forgetAccount } from '../activity/activity.ts'
import type { ApiServices } from '../api/services.ts'
import { Audit } from '../audit/audit.ts'
import type { Config } from '../config.ts'
import type { Database } from '../database/database.ts'
import { createTextExtractor, isExtractable } from '../extraction/text-extractor.ts'
import type { Account } from '../identity/account.ts'
import { Accounts } from '../identity/accounts.ts'
import { ApiTokens } from '../identity/api-tokens.ts'
import { Avatars } from '../identity/avatars.ts'
import { Directory } from '../identity/directory.ts'
import { Groups, leaveGroups } from '../identity/groups.ts'
import { Login } from '../identity/login.ts'
import { Passwords } from '../identity/passwords.ts'
import { ScopedTokens } from '../identity/scoped-tokens.ts'
import { SyncTokens } from '../identity/sync-tokens.ts'
import { WebdavSecrets } from '../identity/webdav-secrets.ts'
import { Images } from '../imaging/images.ts'
import { ChoreLog } from '../jobs/chore-log.ts'
import { CopyMoveTasks, type CopyMoveTasksOptions } from '../jobs/copy-move-tasks.ts'
import type { LibraryCore } from '../library/core.ts'
import { leaveWithAccount } from '../library/libraries.ts'
import type { Logger } from '../logging.ts'
import type { PageServices } from '../pages/services.ts'
import { DocumentTexts } from '../previews/document-texts.ts'
import { Thumbnails } from '../previews/thumbnails.ts'
import { Search } from '../search/search.ts'
import { SyncDoor } from '../sync/door.ts'
import { NotificationTokens } from '../sync/notification-tokens.ts'
import type { SyncServices } from '../sync/services.ts'
import { Archives, type ArchivesOptions } from '../transfer/archive-tasks.ts'
import { IndexedUploads } from '../transfer/idx-progress.ts'
import { PartialUploads } from '../transfer/resumable.ts'
import type { TransferServices } from '../transfer/services.ts'
import { ServerState } from '../usage/server-state.ts'
import { Statistics } from '../usage/statistics.ts'
import { Usage } from '../usage/usage.ts'
import { programVersion } from '../version.ts'
import { threadsOf } from './stores.ts'

// A hundred pages are enough to look at.
const SHOWN_TEXTS = {
  threads: 2,
  perKey: 1,
  waiting: 50,
  waitingPerKey: 20,
  waitMs: 30_000,
  limits: { textLength: 2 ** 18 },
}

/** What the routes of all surfaces work with. */
export type Services = ApiServices &
  PageServices &
  TransferServices &
  SyncServices & {
    readonly chores: ChoreLog
    readonly copyMoveTasks: CopyMoveTasks
    readonly images: Images
  }

/** The rooms without a listening server: what the operator's commands work on. */
export function createServices(parts: {
  db: Database
  searchDb: Database
  core: LibraryCore
  config: Config
  secret: Buffer
  now: () => number
  logger: Logger
}): Services {
  const { db, core, config, secret, now } = parts
  const passwords = new Passwords()
  const images = new Images()
  const directory = new Directory(db, now)
  const accounts = createAccounts({ db, now, passwords, directory, core })
  const apiTokens = new ApiTokens(db, secret, now)
  const access = new Access(core, accounts)
  const quotas = new Quotas(db, accounts, now, config.limits.quota ?? 0)
  const activityLogger = parts.logger.child({ room: 'activity' })
  const activity = new ActivityRoom({
    core,
    access,
    accounts,
    secret,
    webhookPrivate: config.webhookPrivate,
    now,
    onError: (error) =>
      activityLogger.error({ err: error }, 'telling what happened failed; it is tried again'),
  })
  const syncTokens = new SyncTokens(db, now)
  const scopedTokens = new ScopedTokens(db, secret, now)
  const tickets = new Tickets(db, access, scopedTokens, now, config.ticketSeconds)
  const groups = new Groups(db, now, (tx, event) => activity.sharing.ofGroup(tx, event))
  return {
    access,
    accounts,
    activity,
    apiTokens,
    avatars: new Avatars(db, directory, images, now),
    audit: new Audit(db, now, config.auditDays),
    archives: createArchives({
      core,
      tickets,
      config,
      now,
      logger: parts.logger.child({ room: 'transfer' }),
      onProgress: (accountKey, id, { state, zipped, total }) =>
        activity.taskMoved(accountKey, { id, type: 'archive', state, done: zipped, total }),
    }),
    copyMoveTasks: createCopyMoveTasks({
      core,
      access,
      quotas,
      config,
      now,
      logger: parts.logger,
      onProgress: (accountKey, { operation: type, ...task }) =>
        activity.taskMoved(accountKey, { type, ...task }),
    }),
    chores: new ChoreLog(now),
    core,
    directory,
    // Not the workers of the index: who looks at a document does not wait until all others are read.
    documentTexts: new DocumentTexts({ core, extractor: createTextExtractor(SHOWN_TEXTS) }),
    libraryPasswords: new LibraryPasswords({ core, now, rateLimit: config.rateLimit }),
    groups,
    links: new Links({
      core,
      access,
      secret,
      now,
      identify: async (token) => {
        const found = await apiTokens.authenticate(token)
        return 'ok' in found ? found.ok : undefined
      },
      rateLimit: config.rateLimit,
      shortestPassword: config.linkPasswordLength,
    }),
    login: new Login({ db, accounts, apiTokens, passwords, now, rateLimit: config.rateLimit }),
    now,
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
    statistics: new Statistics({ db, core, accounts, apiTokens, groups, now }),
    shares: new Shares(core, (tx, event) => activity.sharing.ofShare(tx, event)),
    search: createSearch({
      core,
      db: parts.searchDb,
      config,
      logger: parts.logger.child({ room: 'search' }),
    }),
    notificationTokens: new NotificationTokens(secret, now),
    syncDoor: new SyncDoor(access, core, syncTokens),
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
    usage: new Usage(core),
    webdavSecrets: new WebdavSecrets(db, passwords),
    indexedUploads: new IndexedUploads(now),
    partialUploads: PartialUploads.create(db, path.join(config.dataDirectory, 'uploads'), now),
    quotaStatus: config.quotaStatus,
    onLinkUpload: (tx, upload) => activity.sharing.ofUpload(tx, upload),
    transferLimits: { upload: config.limits.upload, archive: config.limits.archive },
  }
}

function createArchives(parts: {
  core: LibraryCore
  tickets: Tickets
  config: Config
  now: () => number
  logger: Logger
  onProgress: NonNullable<ArchivesOptions['onProgress']>
}): Archives {
  const { config, logger } = parts
  return new Archives({
    ...parts,
    lifeSeconds: config.ticketSeconds,
    limit: config.limits.archive,
    space: config.limits.archiveSpace,
    directory: path.join(config.dataDirectory, 'archives'),
    onError: (error) => logger.error({ err: error }, 'an archive failed'),
  })
}

function createCopyMoveTasks(parts: {
  core: LibraryCore
  access: Access
  quotas: Quotas
  config: Config
  now: () => number
  logger: Logger
  onProgress: NonNullable<CopyMoveTasksOptions['onProgress']>
}): CopyMoveTasks {
  const { quotas, config } = parts
  const logger = parts.logger.child({ room: 'jobs' })
  return new CopyMoveTasks({
    ...parts,
    roomLeft: (library) => quotas.roomLeft(library),
    atOnce: config.tasks.atOnce,
    limits: { files: config.tasks.files, bytes: config.limits.copy },
    onError: (error) => logger.error({ err: error }, 'a copy or move between libraries failed'),
  })
}

export function createSearch(parts: {
  core: LibraryCore
  db: Database
  config: Config
  logger: Logger
}): Search {
  const { core, db, config, logger } = parts
  return new Search({
    core,
    db,
    extractor: createTextExtractor({ threads: threadsOf(config) }),
    isExtractable,
    onError: (error) => logger.error({ err: error }, 'indexing for search failed; it is tried again'),
  })
}

/** The accounts, with what the other rooms do when one goes. */
export function createAccounts(parts: {
  db: Database
  now: () => number
  passwords?: Passwords
  directory?: Directory
  /** Of a server that holds keys; a command has none. */
  core?: LibraryCore
}): Accounts {
  const { core, now, ...rest } = parts
  return new Accounts({
    passwords: new Passwords(),
    now,
    ...rest,
    ...(core && { onSignOut: (account: Account) => core.keys.forgetAccount(account.key) }),
    async onRemove(tx, account) {
      await leaveGroups(tx, account.key)
      await leaveWithAccount(tx, account.key, now())
      await forgetAccount(tx, account.key)
    },
  })
}
