import type { DatabaseKind } from './row.ts'

/** The run whose results are in `bench/results/`. It takes half an hour on two cores. */
export const published = {
  /** What is most worth measuring comes first: what does not begin in time is left out, with a note. */
  scenarios: [
    ['sqlite', 'ping'],
    ['sqlite', 'listing'],
    ['sqlite', 'commits'],
    ['sqlite', 'small-uploads'],
    ['sqlite', 'big-uploads'],
    ['sqlite', 'downloads'],
    ['sqlite', 'webdav'],
    ['sqlite', 'curve-folder'],
    ['sqlite', 'curve-library'],
    ['sqlite', 'curve-history'],
    ['sqlite', 'curve-accounts'],
    ['sqlite', 'curve-connections'],
    ['sqlite', 'mix'],
    ['postgres', 'ping'],
    ['postgres', 'listing'],
    ['postgres', 'commits'],
    ['postgres', 'small-uploads'],
    ['postgres', 'downloads'],
    ['sqlite', 'reading'],
    ['sqlite', 'create'],
    ['sqlite', 'adding'],
    ['sqlite', 'sync-blocks'],
    ['sqlite', 'archive'],
    ['sqlite', 'batch'],
    ['sqlite', 'encrypted'],
  ] as const satisfies readonly (readonly [DatabaseKind, string])[],
  /** No scenario begins later. */
  totalMinutes: 26,
  curveMinutes: 2,
  mixMinutes: 3,
  folder: 'bench/results',
  readme: 'README.md',
}
