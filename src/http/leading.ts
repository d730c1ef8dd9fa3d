import type { Socket } from 'node:net'
import { type Answer, answer } from './answer.ts'
import type { Dispatcher } from './dispatcher.ts'
import { detail, notFound } from './refusal.ts'
import type { Route } from './route.ts'
import { Router } from './router.ts'
import { MethodTable } from './routing.ts'
import type { Wording } from './surface.ts'
import type { ConnectionRules, Incoming } from './wire/connection.ts'
import type { Outgoing } from './wire/outgoing.ts'
import type { RequestHead } from './wire/request-head.ts'

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
export function leading<User, Services>(
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
function answerFor(method: string, url: string, methods: MethodTable): Answer {
  const allowed = methods.allowedAt(url)
  const headers = { Allow: allowed.join(', ') }
  if (allowed.length > 0 && method === 'OPTIONS') return answer(200, { methods: allowed }, headers)
  if (allowed.length === 0 || allowed.includes(method)) return notFound().toAnswer()
  return detail(405, `Method "${method}" not allowed.`, headers).toAnswer()
}
