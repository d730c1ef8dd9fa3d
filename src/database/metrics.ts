import { Counter, Gauge, type Registry } from 'prom-client'
import type { RowCacheStatistics } from './row-cache.ts'

const counters: readonly { name: string; help: string; of: (statistics: RowCacheStatistics) => number }[] = [
  {
    name: 'carrel_row_cache_hits_total',
    help: 'Reads that the row cache answered',
    of: ({ hits }) => hits,
  },
  {
    name: 'carrel_row_cache_misses_total',
    help: 'Cacheable reads that went to the database',
    of: ({ misses }) => misses,
  },
  {
    name: 'carrel_row_cache_evictions_total',
    help: 'Entries the row cache dropped to make room',
    of: ({ evictions }) => evictions,
  },
]

/** Adds the size of the write-ahead log, which grows while a reader keeps it from being restarted. */
export function registerLogMetrics(registry: Registry, logBytes: () => number | undefined): void {
  registry.registerMetric(
    new Gauge({
      name: 'carrel_database_log_bytes',
      help: 'Size of the write-ahead log of SQLite; it grows while another program reads the database for long',
      registers: [],
      collect() {
        this.set(logBytes() ?? 0)
      },
    }),
  )
}

/** Adds the counters of the row cache to the metrics of the server. */
export function registerRowCacheMetrics(
  registry: Registry,
  statistics: () => RowCacheStatistics | undefined,
): void {
  for (const { name, help, of } of counters) {
    registry.registerMetric(
      new Counter({
        name,
        help,
        registers: [],
        collect() {
          const current = statistics()
          this.reset()
          this.inc(current === undefined ? 0 : of(current))
        },
      }),
    )
  }
  registry.registerMetric(
    new Counter({
      name: 'carrel_row_cache_invalidations_total',
      help: 'Invalidations of the row cache: of the tables a commit of this process wrote to, or of everything',
      labelNames: ['scope'],
      registers: [],
      collect() {
        const current = statistics()
        this.reset()
        this.inc({ scope: 'tables' }, current?.tableInvalidations ?? 0)
        this.inc({ scope: 'all' }, current?.fullInvalidations ?? 0)
      },
    }),
  )
  registry.registerMetric(
    new Gauge({
      name: 'carrel_row_cache_bytes',
      help: 'Estimated size of the row cache',
      registers: [],
      collect() {
        this.set(statistics()?.bytes ?? 0)
      },
    }),
  )
}
