import { answer, raw } from './answer.ts'
import { plainAddress } from './client-address.ts'
import type { HttpMetrics } from './metrics.ts'
import type { HttpRequest } from './request.ts'
import { type Route, routesFor } from './route.ts'

/** Whether the server can do its work, and what was looked at. */
export interface Readiness {
  readonly ok: boolean
  readonly checks: Readonly<Record<string, string>>
}

/** The routes an operator's tools call: alive, able to serve, numbers. */
export function systemRoutes(
  metrics: HttpMetrics,
  ready: () => Promise<Readiness>,
): Route<unknown, unknown>[] {
  const route = routesFor<unknown, unknown>()
  const routes: Route<unknown, unknown>[] = [
    route({
      method: 'GET',
      path: '/healthz',
      auth: 'none',
      summary: 'Whether the process is alive.',
      handle: () => ({ status: 'ok' }),
    }),
    route({
      method: 'GET',
      path: '/readyz',
      auth: 'none',
      summary: 'Whether the server can serve, and what was checked; 503 when it cannot.',
      async handle() {
        const { ok, checks } = await ready()
        return answer(ok ? 200 : 503, { status: ok ? 'ok' : 'unavailable', checks })
      },
    }),
    {
      ...route({
        method: 'GET',
        path: '/metrics',
        auth: 'admin',
        summary: 'Numbers for Prometheus; from this machine without a token.',
        limit: 'none',
        handle: async () =>
          raw({
            headers: { 'Content-Type': metrics.registry.contentType },
            body: await metrics.registry.metrics(),
          }),
      }),
      openTo: isLocal,
    },
  ]
  return routes.map((route) => ({ ...route, isProbe: true }))
}

/**
 * Whether a request was made on this machine. One that a proxy passed on was not, though it comes from here;
 * a local proxy that adds no forwarding header at all must not pass on /metrics.
 */
function isLocal({ peer, headers }: HttpRequest): boolean {
  const address = plainAddress(peer ?? '')
  if (address !== '::1' && !address.startsWith('127.')) return false
  return !['x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'forwarded', 'via'].some(
    (name) => name in headers,
  )
}
