import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** The numbers a server keeps about itself, in a registry of its own; other rooms may add theirs. */
export interface HttpMetrics {
  readonly registry: Registry
  started(): void
  ended(route: string, method: string, status: number, seconds: number): void
}

/** `processMetrics` adds memory, CPU and event-loop lag, which are per process: once is enough. */
export function createMetrics({ processMetrics = false } = {}): HttpMetrics {
  const registry = new Registry()
  const registers = [registry]
  const labelNames = ['route', 'method', 'status'] as const
  const requests = new Counter({
    name: 'carrel_http_requests_total',
    help: 'Requests answered, by route and class of status',
    labelNames,
    registers,
  })
  const durations = new Histogram({
    name: 'carrel_http_request_seconds',
    help: 'Seconds from the request line to the end of the answer',
    labelNames,
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60],
    registers,
  })
  const inFlight = new Gauge({
    name: 'carrel_http_requests_in_flight',
    help: 'Requests being answered at this moment',
    registers,
  })
  if (processMetrics) collectDefaultMetrics({ register: registry, prefix: 'carrel_' })
  return {
    registry,
    started: () => inFlight.inc(),
    ended(route, method, status, seconds) {
      inFlight.dec()
      const labels = { route, method, status: `${Math.trunc(status / 100)}xx` }
      requests.inc(labels)
      durations.observe(labels, seconds)
    },
  }
}
