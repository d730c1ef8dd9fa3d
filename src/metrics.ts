import { Counter, Gauge, type Registry } from 'prom-client'

/** A metric that is read from a state when it is scraped. */
export interface StateMetric<State> {
  readonly name: string
  readonly help: string
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
    const gauge: Gauge = new Gauge({ ...metric, registers: [], collect })
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
