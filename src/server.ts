import { access as checkAccess, constants, mkdir } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { Access } from './access/access.ts'
import { LibraryPasswords } from './access/library-passwords.ts'
import { Links } from './access/links.ts'
import { Quotas } from './access/quota.ts'
import { Shares } from './access/shares.ts'
import { Tickets } from './access/tickets.ts'
import { ActivityRoom, forgetAccount } from './activity/activity.ts'
import { apiFaults } from './api/faults.ts'
import { apiRoutes } from './api/routes.ts'
import type { ApiServices } from './api/services.ts'
import { Audit } from './audit/audit.ts'
import type { Config } from './config.ts'
import type { Database } from './database/database.ts'
import { openDatabase } from './database/open.ts'
import { SideDatabase } from './database/sqlite/side-database.ts'
import { createTextExtractor, isExtractable } from './extraction/text-extractor.ts'
import { answer, plainText } from './http/answer.ts'
import type { AuthResult } from './http/credentials.ts'
import type { Listening } from './http/listening.ts'
import { createMetrics } from './http/metrics.ts'
import { createHttpServer, type HttpServer } from './http/server.ts'
import { type Account, isAdmin } from './identity/account.ts'
import { Accounts } from './identity/accounts.ts'
import { ApiTokens, type Authentication } from './identity/api-tokens.ts'
import { Avatars } from './identity/avatars.ts'
import { Directory } from './identity/directory.ts'
import { ensureAdministrator, type FirstRun } from './identity/first-run.ts'
import { Groups, leaveGroups } from './identity/groups.ts'
import { Login } from './identity/login.ts'
import { Passwords } from './identity/passwords.ts'
import { scopeAdmits } from './identity/scope.ts'
import { ScopedTokens } from './identity/scoped-tokens.ts'
import { loadSecret } from './identity/secret.ts'
import { SyncTokens } from './identity/sync-tokens.ts'
import { WebdavSecrets } from './identity/webdav-secrets.ts'
import { ChoreLog } from './jobs/chore-log.ts'
import { CopyMoveTasks, type CopyMoveTasksOptions } from './jobs/copy-move-tasks.ts'
import { Upkeep } from './jobs/upkeep.ts'
import { deleteReceivedCommitsBefore } from './library/commit-store.ts'
import { createLibraryCore, type LibraryCore } from './library/core.ts'
import { leaveWithAccount, purgeDeletedBefore } from './library/libraries.ts'
import { deleteExpiredLocks } from './library/lock-store.ts'
import { deleteReceivedBefore } from './library/received-store.ts'
import { deleteReceivedSubCommitsBefore } from './library/sub-sync-store.ts'
import { type Logger, lineWriter } from './logging.ts'
import { pageFaults } from './pages/faults.ts'
import { pageRoutes } from './pages/routes.ts'
import type { PageServices } from './pages/services.ts'
import { DocumentTexts } from './previews/document-texts.ts'
import { Thumbnails } from './previews/thumbnails.ts'
import { registerSearchMetrics } from './search/metrics.ts'
import { Search } from './search/search.ts'
import type { BlockStore } from './storage/block-store.ts'
import { openDiskBlockStore } from './storage/disk/disk-block-store.ts'
import { SyncDoor } from './sync/door.ts'
import { syncFaults } from './sync/faults.ts'
import { NotificationTokens } from './sync/notification-tokens.ts'
import { NOTIFICATION_PATH, Notifications } from './sync/notifications.ts'
import { syncRoutes } from './sync/routes.ts'
import type { SyncServices } from './sync/services.ts'
import { Archives, type ArchivesOptions } from './transfer/archive-tasks.ts'
import { downloadFaults } from './transfer/download-faults.ts'
import { IndexedUploads } from './transfer/idx-progress.ts'
import { PartialUploads } from './transfer/resumable.ts'
import { downloadRoutes, uploadRoutes } from './transfer/routes.ts'
import type { TransferServices } from './transfer/services.ts'
import { uploadHeaders } from './transfer/upload-errors.ts'
import { uploadFaults } from './transfer/upload-faults.ts'
import { CountingStopped } from './usage/count.ts'
import { ServerState } from './usage/server-state.ts'
import { Statistics } from './usage/statistics.ts'
import { Usage } from './usage/usage.ts'
import { programVersion } from './version.ts'

const MOST_THREADS = 4
// A hundred pages are enough to look at.
const SHOWN_TEXTS = { threads: 2, waiting: 50, limits: { textLength: 2 ** 18 } }
const DIR_CACHE_BYTES = 96 * 2 ** 20
const DELETED_LIBRARIES_KEPT_SECONDS = 30 * 86_400
// What sync clients sent ahead of a push that never came.
const RECEIVED_KEPT_SECONDS = 7 * 86_400

export interface StartOptions {
  readonly config: Config
  readonly logger: Logger
  /** Unix seconds; the clock unless a test brings its own. */
  readonly now?: () => number
  /** Called when nothing may be acknowledged any more, after it was logged; the process must stop. */
  readonly onFatal: (error: Error) => void
}

/** What the routes of all surfaces work with. */
export type Services = ApiServices &
  PageServices &
  TransferServices &
  SyncServices & { readonly chores: ChoreLog; readonly copyMoveTasks: CopyMoveTasks }

/** A server that answers. */
export interface RunningServer extends AsyncDisposable {
  readonly listening: Listening
  readonly firstRun: FirstRun
  readonly endpoints: HttpServer['endpoints']
  readonly services: Services
  /** Stops accepting, finishes what runs, flushes. */
  close(): Promise<void>
  /** What `close` is waiting for; undefined while it is not. */
  readonly closing: string | undefined
}

/** The server cannot start; the message says what to do about it. */
export class StartError extends Error {
  override name = 'StartError'
}

/** Opens the stores, wires the rooms together and listens. The only place that knows which stores are in use. */
export async function startServer(options: StartOptions): Promise<RunningServer> {
  const { config, logger, now = () => Math.floor(Date.now() / 1000) } = options
  await using opened = new Rooms()
  await prepareDataFolder(config.dataDirectory)
  const secret = await loadSecret(config.secret.file, config.secret.given)
  const onFatal = (error: Error) => {
    logger.fatal({ err: error }, 'nothing can be saved any more; stopping')
    options.onFatal(error)
  }
  const db = opened.use(
    'the database',
    await openDatabase(config.database, { onFatal, now, logger: logger.child({ room: 'database' }) }),
  )
  const blocks = opened.use('the blocks', await openBlocks(config))
  const core = opened.use(
    'the libraries',
    openCore({ db, blocks, config, now, logger: logger.child({ room: 'library' }) }),
  )
  const searchDb = openSearchDatabase(config, db)
  if (searchDb !== db) opened.use('the search database', searchDb)
  const services = createServices({ db, searchDb, core, config, secret, now, logger })
  opened.use('search', services.search)
  opened.use('activity', services.activity)
  await opened.use('archives', services.archives).removeLeftovers()
  opened.use('thumbnails', services.thumbnails)
  opened.use('texts of documents', services.documentTexts)
  await services.partialUploads.prepare()
  const firstRun = await ensureAdministrator(services.accounts, config.administrator)
  await services.activity.start()
  await opened.use('copying and moving', services.copyMoveTasks).resume()
  services.search.start()
  opened.use('upkeep', startUpkeep(services, db, logger.child({ room: 'jobs' })))
  // Let go of before upkeep, which would otherwise wait for it to count everything.
  opened.use('usage', services.usage)
  const notifications = opened.use(
    'notifications',
    createNotifications(services, logger.child({ room: 'sync' })),
  )
  const http = opened.use(
    'requests',
    createHttp(services, db, config, logger.child({ room: 'http' }), notifications),
  )
  const listening = await http.listen({ host: config.host, port: config.port })

  const kept = opened.move()
  const close = async () => {
    // They have no end of their own to wait for.
    services.activity.live.endAll()
    // First, because a server closes when its last connection does.
    await notifications[Symbol.asyncDispose]()
    await kept[Symbol.asyncDispose]()
  }
  return {
    listening,
    firstRun,
    endpoints: http.endpoints,
    services,
    close,
    get closing() {
      return kept.closing
    },
    [Symbol.asyncDispose]: close,
  }
}

/** What was opened, to be closed in reverse order; says what that waits for. */
class Rooms implements AsyncDisposable {
  #opened: (readonly [name: string, room: AsyncDisposable])[] = []
  closing: string | undefined

  use<Room extends AsyncDisposable>(name: string, room: Room): Room {
    this.#opened.push([name, room])
    return room
  }

  /** Hands all over to another, and has nothing left to close itself. */
  move(): Rooms {
    const to = new Rooms()
    to.#opened = this.#opened.splice(0)
    return to
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const stack = new AsyncDisposableStack()
    for (const [name, room] of this.#opened.splice(0)) {
      stack.defer(async () => {
        this.closing = name
        await room[Symbol.asyncDispose]()
      })
    }
    try {
      await stack.disposeAsync()
    } finally {
      this.closing = undefined
    }
  }
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
    avatars: new Avatars(db, directory, now),
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
    thumbnails: new Thumbnails({ core, directory: path.join(config.dataDirectory, 'thumbnails'), now }),
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

/** Where the search index rests: beside everything else, or in a file that only it writes to. */
export function openSearchDatabase({ database, dataDirectory }: Config, db: Database): Database {
  return database.kind === 'sqlite' ? new SideDatabase(path.join(dataDirectory, 'search.db')) : db
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

export function openCore(parts: {
  db: Database
  blocks: BlockStore
  config: Config
  now: () => number
  logger: Logger
}): LibraryCore {
  const { db, blocks, config, now, logger } = parts
  return createLibraryCore({
    db,
    blocks,
    now,
    dirCacheBytes: DIR_CACHE_BYTES,
    defaultHistoryDays: config.historyDays,
    onFollowError: (error) => logger.error({ err: error }, 'following commits failed; it is tried again'),
  })
}

function createNotifications(
  { access, accounts, core, notificationTokens }: Services,
  logger: Logger,
): Notifications {
  return new Notifications({
    core,
    tokens: notificationTokens,
    async mayRead({ email, libraryId }) {
      const user = await accounts.find(email)
      return user?.active === true && (await access.openAll(user, [libraryId])).has(libraryId)
    },
    onError: (error) => logger.error({ err: error }, 'a notification failed'),
  })
}

function createHttp(
  services: Services,
  db: Database,
  config: Config,
  logger: Logger,
  notifications: Notifications,
): HttpServer {
  const metrics = createMetrics({ processMetrics: true })
  registerSearchMetrics(metrics.registry, () => services.search.reindexing.lag())
  return createHttpServer<Account, Services>({
    surfaces: [
      { routes: apiRoutes, faults: apiFaults },
      {
        routes: uploadRoutes,
        faults: uploadFaults,
        faultBody: (error) => ({ error }),
        headers: uploadHeaders,
        onUnknownError: () => answer(500, { error: 'Internal error' }),
      },
      {
        routes: downloadRoutes,
        faults: downloadFaults,
        faultAnswer: plainText,
        onUnknownError: () => plainText(500, 'Internal error'),
      },
      {
        routes: pageRoutes,
        faults: pageFaults,
        faultAnswer: plainText,
        onUnknownError: () => plainText(500, 'Something went wrong here. Please try again later.'),
      },
      {
        routes: syncRoutes,
        faults: syncFaults,
        faultAnswer: plainText,
        onUnknownError: () => plainText(500, 'Internal error'),
      },
    ],
    upgrade: {
      path: NOTIFICATION_PATH,
      take: (request, socket, head) => notifications.take(request, socket, head),
    },
    services,
    authenticate: async (token, request) => authenticate(services, token, request.headers),
    authenticateForLibrary: async (token) =>
      authResult(await services.scopedTokens.authenticateForLibrary(token)),
    isAdmin,
    admits: ({ scope }, needed) => scopeAdmits(scope, needed),
    userKey: (account) => String(account.key),
    rateLimit: { enabled: config.rateLimit, now: services.now },
    trustedProxies: config.trustedProxies,
    publicUrl: config.publicUrl,
    logger,
    logRequest: lineWriter(logger, 'request'),
    metrics,
    ready: async () => ready(db),
  })
}

async function authenticate(
  services: Services,
  token: string,
  headers: NodeJS.Dict<string | string[]>,
): Promise<AuthResult<Account>> {
  const result = await services.apiTokens.authenticate(token, {
    clientVersion: single(headers['x-seafile-client-version']),
    platformVersion: single(headers['x-seafile-platform-version']),
  })
  if ('ok' in result || result.reason !== 'unknown') return authResult(result)
  return authResult(await services.scopedTokens.authenticatePersonal(token))
}

function authResult(result: Authentication): AuthResult<Account> {
  return 'ok' in result ? { kind: 'user', user: result.ok } : { kind: result.reason }
}

async function ready(db: Database): Promise<{ ok: boolean; checks: Record<string, string> }> {
  try {
    await db.ping()
    return { ok: true, checks: { database: 'ok' } }
  } catch {
    return { ok: false, checks: { database: 'unreachable' } }
  }
}

function startUpkeep(services: Services, db: Database, logger: Logger): Upkeep {
  const { now } = services
  return new Upkeep(
    [
      { name: 'expired tickets', run: () => services.tickets.deleteExpired() },
      { name: 'expired reservations', run: () => services.quotas.deleteExpired() },
      { name: 'abandoned uploads', run: () => services.partialUploads.deleteExpired() },
      { name: 'tasks that ended', run: () => services.copyMoveTasks.deleteEnded() },
      { name: 'expired tokens', run: () => services.scopedTokens.deleteExpired() },
      { name: 'the numbers of the day', run: () => services.statistics.note() },
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
      { name: 'the stored bytes of libraries', isLong: true, run: () => services.usage.refresh() },
      {
        name: 'the stored bytes of the server',
        isLong: true,
        run: () => services.statistics.noteStored(services.usage),
      },
    ],
    services.chores,
    (chore, error) => {
      if (error instanceof CountingStopped) return
      logger.error({ err: error, chore }, 'upkeep failed; it is tried again in an hour')
    },
  )
}

/** `shared`: another process may be writing to it. */
/** As many as there are cores but the one the event loop has, unless the setting says otherwise. */
function threadsOf({ threads }: Config): number {
  return threads ?? Math.min(Math.max(1, availableParallelism() - 1), MOST_THREADS)
}

export async function openBlocks(config: Config, { shared = false } = {}): Promise<BlockStore> {
  const { blocks } = config
  if (blocks.kind === 'disk') {
    return openDiskBlockStore({ directory: blocks.directory, shared, threads: threadsOf(config) })
  }
  throw new StartError('Leave out CARREL_BLOCKS: this version keeps blocks on disk only.')
}

async function prepareDataFolder(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await checkAccess(directory, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new StartError(
      `Cannot write to the data folder ${directory}: make it writable for this user, or name another with --data.`,
      { cause: error },
    )
  }
}

function single(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined
}
