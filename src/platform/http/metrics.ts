import { Counter, collectDefaultMetrics, Gauge, type Histogram, Registry } from 'prom-client'

/** The metrics of a server, in a registry of its own, to which other modules may add theirs. */
export interface HttpMetrics {
  readonly registry: Registry
  started(): void
  ended(route: string, method: string, status: number, seconds: number): void
}

/** Upper bounds of the histogram, in seconds. */
const bounds = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60]

type Labels = Readonly<Record<'route' | 'method' | 'status', string>>

/** The requests of one route, method and status class. */
interface Series {
  readonly labels: Labels
  count: number
  seconds: number
  /** Number of requests per histogram bucket, not cumulative. */
  readonly within: number[]
}

/**
 * Requests are counted in plain numbers and converted for prom-client when metrics are read: its own counters
 * cost 7 µs per request, a tenth of a ping. `processMetrics` adds memory, CPU and event-loop lag of the
 * process; one registry per process needs them.
 */
export function createMetrics({ processMetrics = false } = {}): HttpMetrics {
  const registry = new Registry()
  const series: Series[] = []
  // Nested maps per label, because a combined key would have to be built and hashed for every request.
  const known = new Map<string, Map<string, Series[]>>()
  let inFlight = 0
  registerRequests(registry, series, () => inFlight)
  if (processMetrics) collectDefaultMetrics({ register: registry, prefix: 'carrel_' })
  const addSeries = (route: string, method: string, statusClass: number) => {
    const created = newSeries({ route, method, status: `${statusClass}xx` })
    series.push(created)
    const methods = known.get(route) ?? new Map<string, Series[]>()
    const statuses = methods.get(method) ?? []
    statuses[statusClass] = created
    known.set(route, methods.set(method, statuses))
    return created
  }
  return {
    registry,
    started() {
      inFlight += 1
    },
    ended(route, method, status, seconds) {
      inFlight -= 1
      const statusClass = Math.trunc(status / 100)
      count(known.get(route)?.get(method)?.[statusClass] ?? addSeries(route, method, statusClass), seconds)
    },
  }
}

function newSeries(labels: Labels): Series {
  return { labels, count: 0, seconds: 0, within: bounds.map(() => 0) }
}

function count(series: Series, seconds: number): void {
  series.count += 1
  series.seconds += seconds
  let at = 0
  while (at < bounds.length && seconds > (bounds[at] ?? 0)) at += 1
  if (at < bounds.length) series.within[at] = (series.within[at] ?? 0) + 1
}

function registerRequests(registry: Registry, series: readonly Series[], inFlight: () => number): void {
  const requests = new Counter({
    name: 'carrel_http_requests_total',
    help: 'Requests answered, by route and class of status',
    labelNames: ['route', 'method', 'status'],
    registers: [],
    collect() {
      this.reset()
      for (const { labels, count } of series) this.inc(labels, count)
    },
  })
  const running = new Gauge({
    name: 'carrel_http_requests_in_flight',
    help: 'Requests being answered at this moment',
    registers: [],
    collect() {
      this.set(inFlight())
    },
  })
  const name = 'carrel_http_request_seconds'
  const help = 'Seconds from the request line to the end of the answer'
  const durations = {
    name,
    help,
    type: 'histogram',
    aggregator: 'sum',
    get: () => Promise.resolve({ name, help, type: 'histogram', values: series.flatMap(histogramOf) }),
  }
  // A registry needs no more of a metric than this, but its types accept only prom-client's own classes.
  for (const metric of [requests, running, durations as unknown as Histogram]) registry.registerMetric(metric)

  function histogramOf({ labels, count, seconds, within }: Series) {
    let upTo = 0
    const buckets = bounds.map((le, at) => {
      upTo += within[at] ?? 0
      return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: upTo }
    })
    return [
      ...buckets,
      { metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: count },
      { metricName: `${name}_sum`, labels, value: seconds },
      { metricName: `${name}_count`, labels, value: count },
    ]
  }
}
