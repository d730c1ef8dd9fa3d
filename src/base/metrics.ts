import { AggregatorRegistry, Counter, Gauge, type Registry } from 'prom-client'

/** A metric that is read from a state when it is scraped. */
export interface StateMetric<State> {
  readonly name: string
  readonly help: string
  /**
   * What is shown for several processes of one server. Default for gauges: the largest value, because most are read from the database, where they are the
   * same for all processes. `average` shows each process by itself.
   */
  readonly aggregator?: 'sum' | 'max' | 'average'
  readonly of: (state: State) => number
}

type ReadState<State> = () => State | Promise<State>

/** Registers values that go up and down. All metrics of a scrape share one read of the state. */
export function registerGauges<State>(
  registry: Registry,
  metrics: readonly StateMetric<State>[],
  state: ReadState<State>,
): void {
  const current = coalesced(state)
  for (const { of, ...metric } of metrics) {
    const collect = async () => {
      gauge.set(of(await current()))
    }
    const gauge: Gauge = new Gauge({ aggregator: 'max', ...metric, registers: [], collect })
    registry.registerMetric(gauge)
  }
}

/** Registers totals that the state counts itself. All metrics of a scrape share one read of the state. */
export function registerCounters<State>(
  registry: Registry,
  metrics: readonly StateMetric<State>[],
  state: ReadState<State>,
): void {
  const current = coalesced(state)
  for (const { of, ...metric } of metrics) {
    const collect = async () => {
      const value = of(await current())
      counter.reset()
      counter.inc(value)
    }
    const counter: Counter = new Counter({ ...metric, registers: [], collect })
    registry.registerMetric(counter)
  }
}

/** Coalesces concurrent reads into one. */
function coalesced<State>(state: ReadState<State>): () => Promise<State> {
  let reading: Promise<State> | undefined
  return () => {
    reading ??= Promise.resolve(state()).finally(() => (reading = undefined))
    return reading
  }
}

type MetricsOfProcess = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/** The metrics of one of several processes. Gauges of which neither a sum nor the largest makes sense get the number of the process as a label. */
export async function metricsOfProcess(registry: Registry, number: number): Promise<MetricsOfProcess> {
  const metrics = await registry.getMetricsAsJSON()
  return metrics.map((metric) => {
    if (MERGED.has(metric.aggregator)) return metric
    const values = metric.values.map((value) => ({
      ...value,
      labels: { ...value.labels, process: number },
    }))
    return { ...metric, values, aggregator: 'first' }
  })
}

const MERGED = new Set(['sum', 'max', 'first'])

/** The metrics of several processes as one text. */
export function mergeMetrics(processes: readonly unknown[]): Promise<string> {
  return AggregatorRegistry.aggregate([...processes] as object[]).metrics()
}
