import type { Socket } from 'node:net'
import type { Dispatcher } from './dispatcher.ts'
import type { ConnectionRules, Incoming } from './fast/connection.ts'
import type { RequestHead } from './fast/request-head.ts'
import type { Outgoing } from './fast/socket-response.ts'
import { detail, notFound } from './refusal.ts'
import { type HttpResponse, jsonResponse } from './response.ts'
import type { Route } from './route.ts'
import { Router } from './router.ts'
import { MethodTable } from './routing.ts'
import type { Wording } from './surface.ts'

interface Target<User, Services> {
  readonly surface: Wording
  readonly route: Route<User, Services>
}

/** Takes connections over that ask for another protocol at one path; elsewhere the wish is ignored. */
export interface Upgrade {
  readonly path: string
  take(head: RequestHead, socket: Socket, rest: Buffer): void
}

/** Leads each request to its route, and each wish for another protocol to who speaks it. */
export function createRequestHandler<User, Services>(
  surfaces: readonly (Wording & { readonly routes: readonly Route<User, Services>[] })[],
  dispatcher: Dispatcher<User, Services>,
  upgrade: Upgrade | undefined,
): Pick<ConnectionRules, 'serve' | 'upgrade'> {
  const methods = new MethodTable(surfaces.flatMap((surface) => surface.routes))
  const router = new Router<Target<User, Services>>()
  for (const surface of surfaces) for (const route of surface.routes) addRoute(router, { surface, route })
  return {
    serve(incoming: Incoming, outgoing: Outgoing) {
      const { method, url } = incoming.head
      const found = router.find(method, url)
      if (found === undefined) dispatcher.send(answerFor(method, url, methods), incoming, outgoing)
      else dispatcher.serve(found.target.surface, found.target.route, found.segments, incoming, outgoing)
    },
    upgrade(head, socket, rest) {
      if (upgrade === undefined || head.url.split('?', 1)[0] !== upgrade.path) return false
      if (head.headers.one('upgrade') === undefined) return false
      upgrade.take(head, socket, rest)
      return true
    },
  }
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
function answerFor(method: string, url: string, methods: MethodTable): HttpResponse {
  const allowed = methods.allowedAt(url)
  const headers = { Allow: allowed.join(', ') }
  if (allowed.length > 0 && method === 'OPTIONS') return jsonResponse(200, { methods: allowed }, headers)
  if (allowed.length === 0 || allowed.includes(method)) return notFound().toResponse()
  return detail(405, `Method "${method}" not allowed.`, headers).toResponse()
}
