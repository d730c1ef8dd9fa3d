import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Answer, answer } from './answer.ts'
import { answerClientError } from './client-error.ts'
import type { Connections } from './connections.ts'
import type { Dispatcher } from './dispatcher.ts'
import { detail, notFound } from './refusal.ts'
import type { Route } from './route.ts'
import { Router } from './router.ts'
import { MethodTable } from './routing.ts'
import type { Wording } from './surface.ts'

/** What Node keeps for us; times in milliseconds. */
interface ServerLimits {
  readonly headersMs: number
  readonly checkMs: number
  /** The one path at which a connection may ask for another protocol; elsewhere the wish is ignored. */
  readonly upgradePath: string | undefined
}

interface Target<User, Services> {
  readonly surface: Wording
  readonly route: Route<User, Services>
}

/** The routes on a server of Node's, not yet listening. */
export function createNodeServer<User, Services>(
  surfaces: readonly (Wording & { readonly routes: readonly Route<User, Services>[] })[],
  dispatcher: Dispatcher<User, Services>,
  connections: Connections,
  limits: ServerLimits,
): Server {
  const methods = new MethodTable(surfaces.flatMap((surface) => surface.routes))
  const router = new Router<Target<User, Services>>()
  for (const surface of surfaces) for (const route of surface.routes) addRoute(router, { surface, route })
  const options = {
    requestTimeout: 0,
    // Most requests have no body, and a stream of nothing costs as much as finding the route.
    optimizeEmptyRequests: true,
    headersTimeout: limits.headersMs,
    connectionsCheckingInterval: limits.checkMs,
    shouldUpgradeCallback: ({ url = '' }: IncomingMessage) =>
      limits.upgradePath !== undefined && url.split('?', 1)[0] === limits.upgradePath,
  }
  const server = createServer(options, (incoming: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '' } = incoming
    const found = router.find(method, url)
    if (found === undefined) dispatcher.send(answerFor(method, url, methods), incoming, response)
    else dispatcher.serve(found.target.surface, found.target.route, found.segments, incoming, response)
  })
  server.on('clientError', (error, socket) =>
    // A connection that is no socket comes from elsewhere than our own listening.
    answerClientError(error, socket as Socket, connections.isAnswering(socket as Socket)),
  )
  connections.watch(server)
  return server
}

function addRoute<User, Services>(
  router: Router<Target<User, Services>>,
  target: Target<User, Services>,
): void {
  const { method, path, prefix } = target.route
  router.add(method, path, target, { prefix })
  if (method === 'GET') router.add('HEAD', path, target, { prefix })
}

/** The answer where no route took the request: an unknown path, or a method the path does not have. */
function answerFor(method: string, url: string, methods: MethodTable): Answer {
  const allowed = methods.allowedAt(url)
  const headers = { Allow: allowed.join(', ') }
  if (allowed.length > 0 && method === 'OPTIONS') return answer(200, { methods: allowed }, headers)
  if (allowed.length === 0 || allowed.includes(method)) return notFound().toAnswer()
  return detail(405, `Method "${method}" not allowed.`, headers).toAnswer()
}
