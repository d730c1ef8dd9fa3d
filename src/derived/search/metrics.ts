import type { Registry } from 'prom-client'
import { registerGauges, type StateMetric } from '../../base/metrics.ts'
import type { SearchLag } from './reindexing.ts'

const gauges: readonly StateMetric<SearchLag>[] = [
  {
    name: 'carrel_search_commits_behind',
    help: 'Commits the search index has not followed yet',
    of: ({ commits }) => commits,
  },
  {
    name: 'carrel_search_seconds_behind',
    help: 'Age of the oldest commit the search index has not followed yet',
    of: ({ seconds }) => seconds,
  },
  {
    name: 'carrel_search_texts_waiting',
    help: 'Files whose text has still to be read for searching',
    of: ({ waitingTexts }) => waitingTexts,
  },
  {
    name: 'carrel_search_texts_failed',
    help: 'Files whose text could not be read for searching',
    of: ({ failedTexts }) => failedTexts,
  },
]

/** Registers the lag metrics. */
export function registerSearchMetrics(registry: Registry, lag: () => Promise<SearchLag>): void {
  registerGauges(registry, gauges, lag)
}
