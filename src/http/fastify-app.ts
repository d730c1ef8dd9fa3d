import type { IncomingMessage, ServerResponse } from 'node:http'
import { type FastifyInstance, fastify } from 'fastify'
import { type Answer, answer } from './answer.ts'
import { answerClientError } from './client-error.ts'
import type { Connections } from './connections.ts'
import type { Dispatcher } from './dispatcher.ts'
import { detail, notFound } from './refusal.ts'
import type { Route } from './route.ts'
import { MethodTable, withoutSlash } from './routing.ts'
import type { Wording } from './surface.ts'

/** What Fastify and Node keep for us; times in milliseconds. */
interface AppLimits {
  readonly headersMs: number
  readonly keepAliveMs: number
  readonly checkMs: number
  /** The one path at which a connection may ask for another protocol; elsewhere the wish is ignored. */
  readonly upgradePath: string | undefined
}

/** Longest path segment: a name of 255 bytes, percent-encoded, and then some. */
const maxSegmentLength = 1024

/**
 * The routes on Fastify, which finds them and runs the server. A request leaves its lifecycle at the first hook:
 * credentials, bodies and errors are ours, in our order and our words.
 */
export function createApp<User, Services>(
  surfaces: readonly (Wording & { readonly routes: readonly Route<User, Services>[] })[],
  dispatcher: Dispatcher<User, Services>,
  connections: Connections,
  limits: AppLimits,
): FastifyInstance {
  const methods = new MethodTable(surfaces.flatMap((surface) => surface.routes))
  const refuse = (incoming: IncomingMessage, response: ServerResponse) =>
    void dispatcher.send(answerFor(incoming, methods), incoming, response)
  const app = fastify({
    logger: false,
    requestTimeout: 0,
    keepAliveTimeout: limits.keepAliveMs,
    http: {
      headersTimeout: limits.headersMs,
      connectionsCheckingInterval: limits.checkMs,
      shouldUpgradeCallback: ({ url = '' }) =>
        limits.upgradePath !== undefined && url.split('?', 1)[0] === limits.upgradePath,
      // Clients are told a little less than we wait, so that they do not call as we hang up.
      keepAliveTimeoutBuffer: Math.min(1000, limits.keepAliveMs),
    },
    return503OnClosing: false,
    exposeHeadRoutes: false,
    clientErrorHandler: (error, socket) => answerClientError(error, socket, connections.isAnswering(socket)),
    frameworkErrors: (_error, request, reply) => {
      // Escapes that are none, or a segment nothing we have is called by.
      reply.hijack()
      void dispatcher.send(notFound().toAnswer(), request.raw, reply.raw)
    },
    routerOptions: {
      ignoreTrailingSlash: true,
      caseSensitive: true,
      maxParamLength: maxSegmentLength,
      querystringParser: () => noQuery,
    },
  })
  connections.watch(app.server)
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done()
    reply.hijack()
    refuse(request.raw, reply.raw)
  })
  for (const surface of surfaces)
    for (const route of surface.routes) addRoute(app, surface, route, dispatcher)
  return app
}

function addRoute<User, Services>(
  app: FastifyInstance,
  surface: Wording,
  route: Route<User, Services>,
  dispatcher: Dispatcher<User, Services>,
): void {
  const path = withoutSlash(route.path)
  for (const url of route.prefix ? [path, `${path}/*`] : [path]) {
    app.route({
      method: route.method === 'GET' ? ['GET', 'HEAD'] : route.method,
      url,
      onRequest(request, reply) {
        reply.hijack()
        const segments = request.params as Record<string, string>
        void dispatcher.serve(surface, route, segments, request.raw, reply.raw)
      },
      handler: unreachable,
    })
  }
}

/** Queries are ours to read; Fastify need not. */
const noQuery = Object.freeze({})

/** The answer where no route took the request: an unknown path, or a method the path does not have. */
function answerFor({ method = '', url = '' }: IncomingMessage, methods: MethodTable): Answer {
  const allowed = methods.allowedAt(url)
  const headers = { Allow: allowed.join(', ') }
  if (allowed.length > 0 && method === 'OPTIONS') return answer(200, { methods: allowed }, headers)
  if (allowed.length === 0 || allowed.includes(method)) return notFound().toAnswer()
  return detail(405, `Method "${method}" not allowed.`, headers).toAnswer()
}

function unreachable(): never {
  throw new Error('Every request is taken over before its handler')
}
