import type { Socket } from 'node:net'
import { detail, type HttpResponse, jsonResponse, notFound } from '../responses/index.ts'
import type { Dispatcher } from './dispatcher.ts'
import { isPageAddress, notFoundPage, wantsPage } from './not-found-page.ts'
import { originFormOf } from './request-target.ts'
import type { Route } from './route.ts'
import { Router } from './router.ts'
import { MethodTable } from './routing.ts'
import type { ErrorResponses } from './surface.ts'
import type { RequestHandler, RequestHead } from './transport.ts'

interface Target<User, Services> {
  readonly surface: ErrorResponses
  readonly route: Route<User, Services>
}

/** Accepts protocol upgrades at one path. */
export interface Upgrade {
  readonly path: string
  take(head: RequestHead, socket: Socket, rest: Buffer): void
}

/** Finds the route of each request and dispatches it. */
export function createRequestHandler<User, Services>(
  surfaces: readonly (ErrorResponses & { readonly routes: readonly Route<User, Services>[] })[],
  dispatcher: Dispatcher<User, Services>,
  upgrade: Upgrade | undefined,
): RequestHandler {
  const methods = new MethodTable(surfaces.flatMap((surface) => surface.routes))
  const router = new Router<Target<User, Services>>()
  for (const surface of surfaces) for (const route of surface.routes) addRoute(router, { surface, route })
  return {
    serve(request, response) {
      const { method, url, headers } = request.head
      const found = router.find(method, url)
      if (found !== undefined)
        return dispatcher.serve(found.target.surface, found.target.route, found.segments, request, response)
      dispatcher.send(responseFor(method, url, headers.one('accept'), methods), request, response)
      return undefined
    },
    acceptsUpgrade({ url, headers }) {
      if (upgrade === undefined || headers.one('upgrade') === undefined) return false
      return originFormOf(url).split('?', 1)[0] === upgrade.path
    },
    upgrade: (head, socket, rest) => upgrade?.take(head, socket, rest),
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

/** The response if no route matches: the path is unknown, or does not have the method. */
function responseFor(
  method: string,
  url: string,
  accept: string | undefined,
  methods: MethodTable,
): HttpResponse {
  const allowed = methods.allowedAt(originFormOf(url))
  const headers = { Allow: allowed.join(', ') }
  if (allowed.length > 0 && method === 'OPTIONS') return jsonResponse(200, { methods: allowed }, headers)
  if (allowed.length === 0 || allowed.includes(method)) {
    const isVisit = (method === 'GET' || method === 'HEAD') && wantsPage(accept)
    return isVisit && isPageAddress(originFormOf(url))
      ? notFoundPage(originFormOf(url))
      : notFound().toResponse()
  }
  return detail(405, `Method "${method}" not allowed.`, headers).toResponse()
}
