/** One metric of a process, in the JSON of the metrics library. */
interface Metric {
  readonly name: string
  readonly type: string
  readonly aggregator: string
  readonly values: readonly MetricValue[]
}

interface MetricValue {
  readonly value: number
  readonly labels: Readonly<Record<string, string | number>>
  /** Of the parts of a histogram. */
  readonly metricName?: string
}

const TOTALS = new Set(['counter', 'histogram'])

/** The totals of processes that have ended. Added to those of the running ones, they keep the counters of the server from falling. */
export class EndedMetrics {
  readonly #byName = new Map<string, { metric: Metric; values: Map<string, MetricValue> }>()

  /** Adds the last metrics of a process that has ended. Its gauges end with it. */
  add(metrics: unknown): void {
    for (const metric of metrics as readonly Metric[]) {
      if (!TOTALS.has(metric.type) || metric.aggregator !== 'sum') continue
      const { values } = this.#of(metric)
      for (const one of metric.values) {
        const key = JSON.stringify([one.metricName, one.labels])
        values.set(key, { ...one, value: one.value + (values.get(key)?.value ?? 0) })
      }
    }
  }

  /** The totals as the metrics of one more process. */
  get metrics(): readonly Metric[] {
    return Array.from(this.#byName.values(), ({ metric, values }) => ({
      ...metric,
      values: [...values.values()],
    }))
  }

  #of(metric: Metric) {
    const found = this.#byName.get(metric.name) ?? { metric, values: new Map<string, MetricValue>() }
    this.#byName.set(metric.name, found)
    return found
  }
}
