import { Gauge, type Registry } from 'prom-client'
import type { SearchLag } from './reindexing.ts'

const gauges: readonly { name: string; help: string; of: (lag: SearchLag) => number }[] = [
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

/** Registers the lag metrics. One lookup serves all of them in a scrape. */
export function registerSearchMetrics(registry: Registry, lag: () => Promise<SearchLag>): void {
  let asked: Promise<SearchLag> | undefined
  const current = () => {
    asked ??= lag().finally(() => (asked = undefined))
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
