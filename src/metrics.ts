import { Counter, Gauge, type Registry } from 'prom-client'

/** A metric that is read from a state when it is scraped. */
export interface StateMetric<State> {
  readonly name: string
  readonly help: string
  readonly of: (state: State) => number
}

/** Registers values that go up and down. All metrics of a scrape share one read of the state. */
export function registerGauges<State>(
  registry: Registry,
  metrics: readonly StateMetric<State>[],
  state: () => State | Promise<State>,
): void {
  const current = shared(state)
  for (const { name, help, of } of metrics) {
    registry.registerMetric(
      new Gauge({
        name,
        help,
        registers: [],
        async collect() {
          this.set(of(await current()))
        },
      }),
    )
  }
}

/** Registers totals that the state counts itself. All metrics of a scrape share one read of the state. */
export function registerCounters<State>(
  registry: Registry,
  metrics: readonly StateMetric<State>[],
  state: () => State | Promise<State>,
): void {
  const current = shared(state)
  for (const { name, help, of } of metrics) {
    registry.registerMetric(
      new Counter({
        name,
        help,
        registers: [],
        async collect() {
          const value = of(await current())
          this.reset()
          this.inc(value)
        },
      }),
    )
  }
}

function shared<State>(state: () => State | Promise<State>): () => Promise<State> {
  let reading: Promise<State> | undefined
  return () => {
    reading ??= Promise.resolve(state()).finally(() => (reading = undefined))
    return reading
  }
}
