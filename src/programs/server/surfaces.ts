import type { Config } from '../../base/config/index.ts'
import { type Logger, lineWriter } from '../../base/logging.ts'
import { mergeMetrics, metricsOfProcess } from '../../base/metrics.ts'
import { type MaybePromise, whenReady } from '../../base/scheduling/index.ts'
import { registerSearchMetrics } from '../../derived/search/index.ts'
import { registerCommitMetrics } from '../../libraries/commits/index.ts'
import { registerBackupMetrics } from '../../maintenance/backup/index.ts'
import { readIntegrityState, registerIntegrityMetrics } from '../../maintenance/check/index.ts'
import { registerGcMetrics } from '../../maintenance/gc/index.ts'
import { type Account, isAdmin, scopeAdmits } from '../../people/accounts/index.ts'
import { type Authentication, presenting } from '../../people/credentials/index.ts'
import { registerMailMetrics } from '../../people/mail/index.ts'
import { registerClockMetrics } from '../../platform/clock/index.ts'
import { registerClusterMetrics } from '../../platform/cluster/index.ts'
import { type Database, registerDatabaseMetrics } from '../../platform/database/index.ts'
import {
  type AuthResult,
  createHttpServer,
  createMetrics,
  type HttpRequest,
  type HttpServer,
  pageHeaders,
  sharedHeaders,
} from '../../platform/http/index.ts'
import { jsonResponse, textResponse } from '../../platform/responses/index.ts'
import type { BlockStore } from '../../platform/storage/index.ts'
import { registerS3Metrics } from '../../platform/storage/s3/index.ts'
import { apiFaults, apiRoutes } from '../../surfaces/api/index.ts'
import { pageFaults, pageRoutes, webAppFileRoutes } from '../../surfaces/pages/index.ts'
import { NOTIFICATION_PATH, Notifications, syncFaults, syncRoutes } from '../../surfaces/sync/index.ts'
import {
  downloadFaults,
  downloadRoutes,
  uploadFaults,
  uploadHeaders,
  uploadRoutes,
} from '../../surfaces/transfer/index.ts'
import { webdavFaultResponse, webdavFaults, webdavRoutes } from '../../surfaces/webdav/index.ts'
import { findS3Store } from '../assembly/index.ts'
import type { DiskHealth } from './disk-health.ts'
import { checkReadiness, Reachability } from './readiness.ts'
import type { ServerProcess } from './server-process.ts'
import type { Services } from './services.ts'

const surfaces: Parameters<typeof createHttpServer<Account, Services>>[0]['surfaces'] = [
  { routes: apiRoutes, faults: apiFaults },
  {
    routes: uploadRoutes,
    faults: uploadFaults,
    faultBody: (error) => ({ error }),
    headers: { ...uploadHeaders, ...sharedHeaders },
    onUnknownError: () => jsonResponse(500, { error: 'Internal error' }),
  },
  {
    routes: downloadRoutes,
    faults: downloadFaults,
    faultResponse: textResponse,
    headers: sharedHeaders,
    onUnknownError: () => textResponse(500, 'Internal error'),
  },
  {
    routes: pageRoutes,
    faults: pageFaults,
    faultResponse: textResponse,
    headers: pageHeaders,
    onUnknownError: () => textResponse(500, 'Something went wrong here. Please try again later.'),
  },
  { routes: webAppFileRoutes, faults: pageFaults, faultResponse: textResponse },
  {
    routes: syncRoutes,
    faults: syncFaults,
    faultResponse: textResponse,
    onUnknownError: () => textResponse(500, 'Internal error'),
  },
  {
    routes: webdavRoutes,
    faults: webdavFaults,
    faultResponse: webdavFaultResponse,
    onUnknownError: () => webdavFaultResponse(500, 'Internal error'),
  },
]

/** All surfaces behind one port. */
export function createHttp(parts: {
  services: Services
  db: Database
  blocks: BlockStore
  config: Config
  logger: Logger
  notifications: Notifications
  disk: DiskHealth
  /** One of several processes, whose metrics are shown together. */
  process?: Pick<ServerProcess, 'number' | 'shareMetrics'> | undefined
}): HttpServer {
  const { services, db, blocks, config, logger, notifications, disk, process: own } = parts
  const remote = findS3Store(blocks)
  const reachable = remote && new Reachability(() => remote.reach())
  const metrics = registerMetrics(services, db, { hasMail: config.mail !== undefined, remote })
  const allMetrics = own?.shareMetrics?.(() => metricsOfProcess(metrics.registry, own.number))
  return createHttpServer<Account, Services>({
    surfaces,
    upgrade: {
      path: NOTIFICATION_PATH,
      take: (head, socket, rest) => notifications.take(head, socket, rest),
    },
    services,
    authenticate: (token, request) => authenticate(services, token, request),
    authenticateForLibrary: async (token) =>
      authResult(await services.scopedTokens.authenticateForLibrary(token)),
    authenticateSecret: async (presented, request) => authenticateSecret(services, presented, request),
    isAdmin,
    admits: ({ scope }, needed) => scopeAdmits(scope, needed),
    userKey: (account) => String(account.key),
    rateLimit: {
      enabled: config.rateLimit,
      now: services.now,
      others: db.isShared
        ? {
            exchange: (calls) => services.node.exchangeCalls(calls),
            onError: (error) =>
              logger.warn({ err: error }, 'calls were not counted together; it is repeated'),
          }
        : undefined,
    },
    transport: config.http.transport,
    limits: limitsOf(config),
    trustedProxies: config.trustedProxies,
    publicUrl: config.publicUrl,
    logger,
    logRequest: lineWriter(logger, 'request'),
    metrics,
    metricsText: allMetrics && (async () => mergeMetrics(await allMetrics())),
    metricsToken: config.metricsToken,
    securityContact: config.securityContact,
    ready: () => checkReadiness(db, disk, reachable, services.edits),
    faultOf: disk.faultOf,
    beginOperation: () => services.core.operations.begin(),
    inRequest: (handle, { asksForChange, key }) => db.inRequest(handle, { acknowledges: asksForChange, key }),
  })
}

/** The metrics of all modules, read when they are scraped. */
function registerMetrics(
  services: Services,
  db: Database,
  { hasMail, remote }: { hasMail: boolean; remote: ReturnType<typeof findS3Store> },
) {
  const metrics = createMetrics({ processMetrics: true })
  registerCommitMetrics(metrics.registry, services.edits)
  registerDatabaseMetrics(metrics.registry, db)
  registerIntegrityMetrics(metrics.registry, () => readIntegrityState(db))
  registerClockMetrics(metrics.registry, () => services.clock?.jump)
  registerClusterMetrics(metrics.registry, services.node)
  registerGcMetrics(metrics.registry, () => services.gc.readState())
  registerBackupMetrics(metrics.registry, () => services.scheduledBackups.state())
  if (hasMail) registerMailMetrics(metrics.registry, () => services.outbox.state())
  if (remote !== undefined) registerS3Metrics(metrics.registry, () => remote.statistics)
  registerSearchMetrics(metrics.registry, () => services.search.reindexing.lag())
  return metrics
}

function authenticate(
  { apiTokens, scopedTokens, db }: Services,
  token: string,
  request: HttpRequest,
): MaybePromise<AuthResult<Account>> {
  const client = {
    clientVersion: request.header('x-seafile-client-version'),
    platformVersion: request.header('x-seafile-platform-version'),
  }
  const found = whenReady(apiTokens.authenticate(token, client), (result) => {
    const isKnown = 'ok' in result || result.reason !== 'unknown'
    return isKnown ? result : scopedTokens.authenticatePersonal(token)
  })
  return whenReady(found, (result): AuthResult<Account> => {
    if (!('ok' in result) || !db.isShared) return authResult(result)
    return { kind: 'user', user: presenting(result.ok, token) }
  })
}

async function authenticateSecret(
  { webdavSignIn, db }: Services,
  { name, secret }: { readonly name: string | undefined; readonly secret: string },
  client: HttpRequest,
): Promise<AuthResult<Account>> {
  const found = authResult(await webdavSignIn.authenticate({ name, secret, client }))
  // A token can seal the keys of encrypted libraries. A password cannot, because it may be short.
  if (found.kind !== 'user' || !db.isShared || found.user.scope === undefined) return found
  return { kind: 'user', user: presenting(found.user, secret) }
}

function authResult(result: Authentication): AuthResult<Account> {
  return 'ok' in result ? { kind: 'user', user: result.ok } : { kind: result.reason }
}

export function createNotifications(
  { activity, core, notificationTokens, syncAccess }: Services,
  logger: Logger,
): Notifications {
  const notifications = new Notifications({
    core,
    onLibraryEvent: (listener) => activity.onLibraryEvent(listener),
    tokens: notificationTokens,
    mayRead: ({ syncToken, libraryId }) => syncAccess.opensByReference(syncToken, libraryId),
    onError: (error) => logger.error({ err: error }, 'a notification failed'),
  })
  // Clients ask for the heads of all their libraries when they connect again.
  activity.onEventsLost(() => notifications.endAll())
  return notifications
}

function limitsOf({ http: { bodyMemory, connections, connectionsPerAddress } }: Config) {
  return { bodyMemory, connections, connectionsPerAddress }
}
