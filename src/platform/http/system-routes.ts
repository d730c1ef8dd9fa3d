import { createHash, timingSafeEqual } from 'node:crypto'
import { jsonResponse, rawResponse } from '../responses/index.ts'
import type { HttpMetrics } from './metrics.ts'
import type { HttpRequest } from './request.ts'
import { type Route, routesFor } from './route.ts'

/** Whether the server is ready, and the result of each check. */
export interface Readiness {
  readonly ok: boolean
  readonly checks: Readonly<Record<string, string>>
  /** What is wrong, in one sentence. */
  readonly reason?: string | undefined
}

interface SystemRoutesOptions {
  readonly metrics: HttpMetrics
  /** Replaces the text of the metrics, with those of other processes of this server. */
  readonly metricsText?: (() => Promise<string>) | undefined
  /** Authorizes a program without an account to read `/metrics`. */
  readonly metricsToken?: string | undefined
  readonly ready: () => Promise<Readiness>
  /** Whether the server is about to stop. */
  readonly isDraining: () => boolean
}

/** Routes for monitoring: liveness, readiness, metrics. */
export function systemRoutes({
  metrics,
  metricsText = () => metrics.registry.metrics(),
  metricsToken,
  ready,
  isDraining,
}: SystemRoutesOptions): Route<unknown, unknown>[] {
  const route = routesFor<unknown, unknown>()
  const routes: Route<unknown, unknown>[] = [
    route({
      method: 'GET',
      path: '/healthz',
      auth: 'none',
      summary: 'Returns 200 while the process is alive.',
      handle: () => ({ status: 'ok' }),
    }),
    route({
      method: 'GET',
      path: '/readyz',
      auth: 'none',
      summary:
        'Returns the results of the readiness checks; 503 if one fails, or while the server starts or stops.',
      async handle() {
        // Without the checks: a server that stops because the database hangs says so at once.
        if (isDraining()) return jsonResponse(503, { status: 'draining', reason: 'The server is stopping.' })
        const { ok, checks, reason } = await ready()
        return jsonResponse(ok ? 200 : 503, {
          status: ok ? 'ok' : 'unavailable',
          ...(reason !== undefined && { reason }),
          checks,
        })
      },
    }),
    {
      ...route({
        method: 'GET',
        path: '/metrics',
        auth: 'admin',
        summary: 'Returns metrics for Prometheus; also with the token of `CARREL_METRICS_TOKEN`.',
        limit: 'none',
        handle: async () =>
          rawResponse({
            headers: { 'Content-Type': metrics.registry.contentType },
            body: await metricsText(),
          }),
      }),
      openTo: showsToken(metricsToken),
    },
  ]
  return routes.map((route) => ({ ...route, isProbe: true }))
}

/**
 * Whether a request has the token of `/metrics`. Loopback addresses are not exempt: a local proxy may forward
 * requests from anywhere without a header that shows it.
 */
function showsToken(token: string | undefined): (request: HttpRequest) => boolean {
  if (token === undefined) return () => false
  const expected = digest(token)
  return (request) => {
    const [, shown] = /^(?:token|bearer)\s+(\S+)$/i.exec(request.header('authorization')?.trim() ?? '') ?? []
    return shown !== undefined && timingSafeEqual(digest(shown), expected)
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
