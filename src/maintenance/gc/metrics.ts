import type { Registry } from 'prom-client'
import { registerCounters, registerGauges, type StateMetric } from '../../base/metrics.ts'
import type { GcState } from './report.ts'

const gauges: readonly StateMetric<GcState>[] = [
  {
    name: 'carrel_gc_running',
    help: 'Whether a garbage collection is running, on any node or as a command',
    of: ({ running }) => (running ? 1 : 0),
  },
  {
    name: 'carrel_gc_last_run_timestamp_seconds',
    help: 'End of the last garbage collection; 0 before the first',
    of: ({ lastEndedAt }) => lastEndedAt ?? 0,
  },
  {
    name: 'carrel_gc_last_run_duration_seconds',
    help: 'Duration of the last complete garbage collection; 0 before the first',
    of: ({ lastDuration = 0 }) => lastDuration,
  },
  {
    name: 'carrel_gc_failed',
    help: 'Whether the last garbage collection failed',
    of: ({ lastFailure }) => (lastFailure === undefined ? 0 : 1),
  },
  {
    name: 'carrel_gc_waiting_bytes',
    help: 'Bytes of blocks that are condemned and not deleted yet',
    of: ({ waitingBytes }) => waitingBytes,
  },
]

const counters: readonly StateMetric<GcState>[] = [
  {
    name: 'carrel_gc_deleted_blocks_total',
    help: 'Blocks that garbage collection deleted',
    of: ({ deletedBlocks }) => deletedBlocks,
  },
  {
    name: 'carrel_gc_freed_bytes_total',
    help: 'Bytes of blocks that garbage collection deleted',
    of: ({ freedBytes }) => freedBytes,
  },
]

/** Registers the metrics of garbage collection. */
export function registerGcMetrics(registry: Registry, state: () => Promise<GcState>): void {
  registerGauges(registry, gauges, state)
  registerCounters(registry, counters, state)
}
