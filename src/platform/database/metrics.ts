import { Counter, type Registry } from 'prom-client'
import { registerCounters, registerGauges, type StateMetric } from '../../base/metrics.ts'
import type { Database } from './database.ts'
import type { RowCacheStatistics } from './row-cache.ts'

const counters: readonly StateMetric<RowCacheStatistics | undefined>[] = [
  {
    name: 'carrel_row_cache_hits_total',
    help: 'Reads that the row cache answered',
    of: (statistics) => statistics?.hits ?? 0,
  },
  {
    name: 'carrel_row_cache_misses_total',
    help: 'Cacheable reads that went to the database',
    of: (statistics) => statistics?.misses ?? 0,
  },
  {
    name: 'carrel_row_cache_evictions_total',
    help: 'Entries the row cache dropped to make room',
    of: (statistics) => statistics?.evictions ?? 0,
  },
]

const gauges: readonly StateMetric<RowCacheStatistics | undefined>[] = [
  {
    name: 'carrel_row_cache_bytes',
    help: 'Estimated size of the row cache',
    aggregator: 'sum',
    of: (statistics) => statistics?.bytes ?? 0,
  },
]

const logGauges: readonly StateMetric<number | undefined>[] = [
  {
    name: 'carrel_database_log_bytes',
    help: 'Size of the write-ahead log of SQLite; it grows while another program reads the database for long',
    of: (bytes) => bytes ?? 0,
  },
]

/** Adds the counters of the row cache, and the size of the write-ahead log, which grows while a reader keeps it from being restarted. */
export function registerDatabaseMetrics(
  registry: Registry,
  db: Pick<Database, 'cacheStatistics' | 'logBytes'>,
): void {
  const statistics = () => db.cacheStatistics
  registerGauges(registry, logGauges, () => db.logBytes)
  registerCounters(registry, counters, statistics)
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
  registerGauges(registry, gauges, statistics)
}
