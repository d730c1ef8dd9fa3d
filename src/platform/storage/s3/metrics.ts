import type { Registry } from 'prom-client'
import { registerCounters, registerGauges, type StateMetric } from '../../../base/metrics.ts'
import type { S3BlockStoreStatistics } from './s3-block-store.ts'

const counters: readonly StateMetric<S3BlockStoreStatistics>[] = [
  { name: 'carrel_s3_requests_total', help: 'Requests to S3, with retries', of: ({ requests }) => requests },
  {
    name: 'carrel_s3_request_seconds_total',
    help: 'Seconds that successful requests to S3 took, with the transfer of their bytes',
    of: ({ seconds }) => seconds,
  },
  { name: 'carrel_s3_retries_total', help: 'Requests to S3 that were retried', of: ({ retries }) => retries },
  {
    name: 'carrel_s3_failures_total',
    help: 'Calls of S3 that failed after all retries',
    of: ({ failures }) => failures,
  },
  {
    name: 'carrel_block_cache_hits_total',
    help: 'Reads of blocks that were cached on disk',
    of: ({ cacheHits }) => cacheHits,
  },
  {
    name: 'carrel_block_cache_misses_total',
    help: 'Reads of blocks that were fetched from S3',
    of: ({ cacheMisses }) => cacheMisses,
  },
]

const gauges: readonly StateMetric<S3BlockStoreStatistics>[] = [
  {
    name: 'carrel_block_cache_bytes',
    help: 'Bytes of the blocks that are cached on disk',
    aggregator: 'sum',
    of: ({ cacheBytes }) => cacheBytes,
  },
]

/** Registers the metrics of a block store in S3. */
export function registerS3Metrics(registry: Registry, state: () => S3BlockStoreStatistics): void {
  registerCounters(registry, counters, state)
  registerGauges(registry, gauges, state)
}
