import type { Registry } from 'prom-client'
import { registerGauges, type StateMetric } from '../../base/metrics.ts'
import type { ClockJump } from './trusted-clock.ts'

const gauges: readonly StateMetric<ClockJump | undefined>[] = [
  {
    name: 'carrel_clock_jump_seconds',
    help: 'Seconds by which the clock is ahead of the last time that was seen, while deletions wait for a confirmation; 0 otherwise',
    of: (jump) => (jump === undefined ? 0 : jump.now - jump.seenAt),
  },
]

/** Registers the metric of a clock that jumped ahead. */
export function registerClockMetrics(registry: Registry, jump: () => ClockJump | undefined): void {
  registerGauges(registry, gauges, async () => jump())
}
