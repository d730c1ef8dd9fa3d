import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Config } from '../../base/config/index.ts'
import type { Logger } from '../../base/logging.ts'
import { programVersion } from '../../base/version.ts'
import { storesOf } from '../../libraries/library/for-server.ts'
import { ensureAdministrator, type FirstRun, type PasswordCost } from '../../people/passwords/index.ts'
import { TrustedClock } from '../../platform/clock/index.ts'
import { ClusterNode, listOlderNodes } from '../../platform/cluster/index.ts'
import {
  joinDataFolder,
  lockDataFolder,
  prepareDataFolder,
  releaseReserveIfFull,
  reserveFileIn,
} from '../../platform/data-folder/index.ts'
import {
  checkSteps,
  type Database,
  knownSchemaVersion,
  type Migration,
  openDatabase,
  type WaitingStep,
} from '../../platform/database/index.ts'
import { type HttpServer, type Listening, StartingPort } from '../../platform/http/index.ts'
import { loadSecret } from '../../platform/secret/index.ts'
import { clearListingCache } from '../../surfaces/api/index.ts'
import { clearPropfindCache } from '../../surfaces/webdav/index.ts'
import {
  addressOfBlocks,
  checkDatabaseStorage,
  checkSecret,
  findFolderProblem,
  openBlocks,
  openCore,
  openSearchDatabase,
  probeBlocks,
  refuseMoved,
  reportProblems,
} from '../assembly/index.ts'
import { startBackground } from './background.ts'
import { DiskHealth } from './disk-health.ts'
import { DiskReserve } from './disk-reserve.ts'
import { OpenParts } from './open-parts.ts'
import { SchemaWatch } from './schema-watch.ts'
import { configOfProcess, type ServerProcess } from './server-process.ts'
import { createServices, type Services } from './services.ts'
import { createHttp, createNotifications } from './surfaces.ts'
import { TakeOver } from './take-over.ts'

interface StartOptions {
  readonly config: Config
  readonly logger: Logger
  /** Unix seconds; the clock unless a test brings its own. */
  readonly now?: () => number
  /** Seconds that passed, whatever `now` says. With a `now` of its own and without this, every time is trusted. */
  readonly monotonic?: () => number
  /** Whether the caller shows a generated password to the operator. Otherwise it is written to a file. */
  readonly showsPassword?: boolean
  /** Starts beside another server on the same data folder. Only for tests of several processes. */
  readonly sharesDataFolder?: boolean
  /** The server is one of several processes on one data folder, which their supervisor has locked. */
  readonly process?: ServerProcess | undefined
  /** Of the hashes of passwords. Only for tests, which make thousands. */
  readonly passwordCost?: PasswordCost
  /** The steps of the schema. Only for tests of upgrades. */
  readonly migrations?: readonly Migration[]
  /** Called after a disk failure was logged. Nothing may be acknowledged any more; the process must stop. */
  readonly onFatal: (error: Error) => void
}

/** A server that is listening. */
export interface RunningServer extends AsyncDisposable {
  readonly listening: Listening
  readonly firstRun: FirstRun
  readonly endpoints: HttpServer['endpoints']
  readonly services: Services
  /** Connections that are open. */
  readonly connectionCount: number
  /** Evicts what is cached, so that an idle process can return its memory. */
  releaseCaches(): Promise<void>
  /**
   * Announces the stop: `/readyz` answers that the server is draining, and responses close their connections. Resolves after `CARREL_DRAIN_SECONDS`, in which
   * everything is still served.
   */
  drain(): Promise<void>
  /** Stops accepting requests, finishes running ones, and flushes. */
  close(): Promise<void>
  /** The part `close` is waiting for; undefined if it is not running. */
  readonly closing: string | undefined
}

/** Opens the stores, creates the services and listens. The only place that knows which stores are in use. */
export async function startServer(options: StartOptions): Promise<RunningServer> {
  const { logger, process: own } = options
  const config = own === undefined ? options.config : configOfProcess(options.config, own)
  await using opened = new OpenParts()
  const folder = await openFolder(options, config, opened)
  const { lock, startingPort, disk } = folder
  const { db, node } = await openNode(options, config, folder, opened)
  const now = options.now ?? (() => node.now())
  reportProblems(await probeBlocks(config), config.unsafeStorage === 'allow', logger)
  const { onFatal } = folder
  const joins = own?.isAlone === false
  const blocks = opened.use('the blocks', await openBlocks(config, { db, claim: db, joins, onFatal }))
  const core = opened.use(
    'the libraries',
    openCore({ db, blocks, config, now, logger: logger.child({ module: 'library' }) }),
  )
  const clock = await trustClock(options, db, now)
  if (clock !== undefined) opened.use('the clock', clock)
  const searchDb = openSearchDatabase(config, db, own?.locks)
  if (searchDb !== db) opened.use('the search database', searchDb)
  let takeOver: TakeOver | undefined
  const services = createServices({
    db,
    searchDb,
    core,
    blocks,
    config,
    secret: folder.secret,
    now,
    node,
    onBehind: () => takeOver?.noteBehind(),
    clock,
    logger,
    reserve: folder.reserve,
    passwordCost: options.passwordCost,
  })
  const firstRun = await startServices(services, options, config, opened)
  takeOver = opened.use('taking over', new TakeOver(services, node, logger.child({ module: 'cluster' })))
  services.search.start()
  services.photos.start()
  startBackground({ services, db, blocks, node, config, now, logger }, opened)
  const notifications = opened.use(
    'notifications',
    createNotifications(services, logger.child({ module: 'sync' })),
  )
  const httpLogger = logger.child({ module: 'http' })
  const http = opened.use(
    'requests',
    createHttp({ services, db, blocks, config, logger: httpLogger, notifications, disk, process: own }),
  )
  const listening = await http.listen({
    host: config.host,
    port: config.port,
    source: startingPort ?? own?.connections,
  })
  await lock?.setAddress(listening.url)
  node.setAddress(own === undefined ? listening.url : `${listening.url} (process ${own.number})`)
  const databases = new Set([db, searchDb])
  return runningServer(
    { listening, firstRun, http, services, databases, notifications, config },
    opened.move(),
  )
}

/** What a server needs of its data folder before it opens the stores. */
type ServerFolder = Awaited<ReturnType<typeof openFolder>>

/** Locks the data folder and listens, so that `/readyz` answers, before anything in the folder is touched. */
async function openFolder(options: StartOptions, config: Config, opened: OpenParts) {
  const { logger, process: own } = options
  await prepareDataFolder(config.dataDirectory)
  // Before anything in the folder is touched. Opening the stores deletes temporary files.
  const nodeId = own?.nodeId ?? randomUUID()
  const address = `${config.host}:${config.port}`
  const sharesFolder = options.sharesDataFolder === true || own !== undefined
  const lock = sharesFolder
    ? undefined
    : opened.use('the lock', await lockDataFolder(config.dataDirectory, address, nodeId))
  if (own !== undefined) opened.use('the lock', await joinDataFolder(config.dataDirectory))
  // After the lock: a second server on this folder is refused because of the folder, not of the port.
  const startingPort = await openEarly(config, own)
  if (startingPort !== undefined) opened.use('the port', startingPort)
  const folderProblem = await findFolderProblem(config.dataDirectory, config.database.kind)
  reportProblems(folderProblem ? [folderProblem] : [], config.unsafeStorage === 'allow', logger)
  const secret = await loadSecret(config.secret.file, config.secret.given)
  releaseReserveIfFull(config.dataDirectory)
  const reserve = opened.use(
    'the reserve',
    new DiskReserve({
      file: reserveFileIn(config.dataDirectory),
      bytes: options.sharesDataFolder ? 0 : config.reserveBytes,
      isAlone: own === undefined || own.isAlone,
      logger: logger.child({ module: 'server' }),
    }),
  )
  const disk = new DiskHealth(config.dataDirectory, reserve)
  const onFatal = (error: Error) => {
    disk.fail()
    logger.fatal({ err: error }, 'nothing can be saved any more; stopping')
    options.onFatal(error)
  }
  return { nodeId, address, lock, startingPort, secret, reserve, disk, onFatal }
}

/** Opens the database, migrates it, and announces this node to the others on it. */
async function openNode(
  options: StartOptions,
  config: Config,
  { nodeId, address, lock, secret, reserve, onFatal }: ServerFolder,
  opened: OpenParts,
): Promise<{ db: Database; node: ClusterNode }> {
  const { logger, process: own, migrations } = options
  const dead = lock?.deadNodeId ?? own?.deadNodeId
  // The lock of the data folder is also that of a SQLite file.
  const { kind: dialect } = config.database
  const alone = dialect === 'sqlite' && (lock !== undefined || own?.isAlone === true)
  const olderNodes: NonNullable<Parameters<typeof openDatabase>[1]['listOlderNodes']> = async (tx, step) =>
    alone ? [] : listOlderNodes(tx, dialect, { ...step, dead })
  const migration = {
    migrations,
    ...(options.now && { now: options.now }),
    logger: logger.child({ module: 'database' }),
    backupDirectory: config.preMigrationBackups,
    listOlderNodes: olderNodes,
  }
  let waiting: WaitingStep | undefined
  const db = opened.use(
    'the database',
    await openDatabase(config.database, {
      ...migration,
      ...(migrations && { migrations }),
      onWaiting(step) {
        waiting = step
      },
      onFatal,
      onFull: () => reserve.release(),
      poolSize: config.databaseConnections,
      results: config.databaseResults,
      locks: own?.locks,
      joins: own?.isAlone === false,
    }),
  )
  await checkDatabaseStorage(db, config.unsafeStorage === 'allow', logger)
  await checkSecret(db, secret)
  const nodeLogger = logger.child({ module: 'cluster' })
  const node = opened.use(
    'the node',
    new ClusterNode({
      db,
      id: nodeId,
      version: programVersion(),
      schemaVersion: migrations?.at(-1)?.version ?? knownSchemaVersion,
      address,
      blocks: addressOfBlocks(config.blocks),
      onError: (error) => nodeLogger.error({ err: error }, 'a heartbeat failed; it is repeated'),
    }),
  )
  await node.start({ alone, dead })
  // Again, now that other nodes see this one: a step after which it cannot work was applied before, or waits for it.
  await checkSteps(db, { migrations, isExact: true })
  // On SQLite the next server that starts alone applies it.
  if (dialect === 'sqlite') waiting = undefined
  const onOutdated = (error: Error) => {
    logger.fatal({ err: error }, 'another node changed the schema; stopping')
    options.onFatal(error)
  }
  opened.use('the schema', new SchemaWatch({ db, node, migration, waiting, logger: nodeLogger, onOutdated }))
  // After the heartbeat: a move marks the database first, and then looks for nodes.
  await refuseMoved(db)
  return { db, node }
}

/** Starts the services in the order of what they need, and makes the first administrator. */
async function startServices(
  services: Services,
  { showsPassword }: StartOptions,
  config: Config,
  opened: OpenParts,
): Promise<FirstRun> {
  // Before anything that stores. It is closed after all of that.
  await opened.use('leases', services.leases).start()
  opened.use('pushes', services.push)
  opened.use('search', services.search)
  opened.use('mail', services.outbox)
  opened.use('activity', services.activity)
  await opened.use('archives', services.archives).removeLeftovers()
  opened.use('thumbnails', services.thumbnails)
  opened.use('photos', services.photos)
  // Closed before the services that wait for images.
  opened.use('images', services.images)
  opened.use('texts of documents', services.documentTexts)
  await services.partialUploads.prepare()
  const passwordFile = showsPassword ? undefined : services.initialPassword
  const firstRun = await ensureAdministrator(services.accounts, config.administrator, passwordFile)
  await services.activity.start()
  services.outbox.wake()
  await opened.use('copying and moving', services.copyMoveTasks).takeFree()
  return firstRun
}

/** The state of a server that listens, and the ways to stop it. */
function runningServer(
  parts: Pick<RunningServer, 'listening' | 'firstRun' | 'services'> & {
    readonly http: HttpServer
    readonly databases: ReadonlySet<Database>
    readonly notifications: AsyncDisposable
    readonly config: Config
  },
  kept: OpenParts,
): RunningServer {
  const { listening, firstRun, http, services, databases, notifications, config } = parts
  const close = async () => {
    // Event streams never end by themselves.
    services.activity.live.endAll()
    // First: the HTTP server closes only when its last connection has.
    await notifications[Symbol.asyncDispose]()
    await kept[Symbol.asyncDispose]()
  }
  return {
    listening,
    firstRun,
    endpoints: http.endpoints,
    services,
    get connectionCount() {
      return http.connectionCount
    },
    async releaseCaches() {
      const { objects, content } = storesOf(services.core)
      objects.clearCache()
      content.clearCaches()
      clearListingCache()
      clearPropfindCache()
      for (const database of databases) await database.releasePageCaches()
    },
    async drain() {
      http.drain()
      await wait(config.drainSeconds * 1000, undefined, { ref: false })
    },
    close,
    get closing() {
      return kept.closing
    },
    [Symbol.asyncDispose]: close,
  }
}

/**
 * Listens before the stores are open, so that `/readyz` tells that the server starts. Of several processes, only the first one does: while another one starts,
 * the first one serves.
 */
async function openEarly(
  { host, port, http: { transport } }: Config,
  own: ServerProcess | undefined,
): Promise<StartingPort | undefined> {
  if (own !== undefined && (!own.isAlone || own.connections === undefined)) return undefined
  const certificate = transport.kind === 'node' ? transport.certificate : undefined
  return StartingPort.open({ host, port }, { certificate, source: own?.connections })
}

/** The clock that decides what has expired. None if a test injects a clock of its own. */
async function trustClock(
  { now: ownNow, monotonic, logger }: StartOptions,
  db: Database,
  now: () => number,
): Promise<TrustedClock | undefined> {
  if (ownNow !== undefined && monotonic === undefined) return undefined
  const log = logger.child({ module: 'server' })
  const clock = new TrustedClock({
    db,
    now,
    monotonic: monotonic ?? (() => performance.now() / 1000),
    onJump: ({ message }) => log.error(message),
    onError: (error) => log.error({ err: error }, 'the time could not be compared; it is tried again'),
  })
  await clock.start()
  return clock
}
