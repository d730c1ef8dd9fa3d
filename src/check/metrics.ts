import { Gauge, type Registry } from 'prom-client'
import type { IntegrityState } from './integrity-state.ts'

const gauges: readonly { name: string; help: string; of: (state: IntegrityState) => number }[] = [
  {
    name: 'carrel_damaged_blocks',
    help: 'Blocks whose stored bytes are known to be missing or damaged',
    of: ({ damagedBlocks }) => damagedBlocks,
  },
]

/** Registers the metrics of stored data. One lookup serves all of them in a scrape. */
export function registerIntegrityMetrics(registry: Registry, state: () => Promise<IntegrityState>): void {
  let asked: Promise<IntegrityState> | undefined
  const current = () => {
    asked ??= state().finally(() => (asked = undefined))
    return asked
  }
  for (const { name, help, of } of gauges) {
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
