import type { Registry } from 'prom-client'
import { registerGauges, type StateMetric } from '../../base/metrics.ts'
import { damagedBlocks } from '../../libraries/content/index.ts'
import type { Reader } from '../../platform/database/index.ts'
import { findLastPass, findOpenPass } from './check-store.ts'
import { findScrubProgress, type ScrubProgress } from './scrub-store.ts'

const gauges: readonly StateMetric<IntegrityState>[] = [
  {
    name: 'carrel_damaged_blocks',
    help: 'Blocks whose stored bytes are known to be missing or damaged',
    of: ({ damagedBlocks }) => damagedBlocks,
  },
  {
    name: 'carrel_scrub_last_finished_seconds',
    help: 'Unix time when the background scrub last completed a pass; 0 if it never did',
    of: ({ scrub }) => scrub?.last?.finishedAt ?? 0,
  },
  {
    name: 'carrel_scrub_blocks',
    help: 'Blocks that the current pass of the scrub has read',
    of: ({ scrub }) => scrub?.blocks ?? 0,
  },
  {
    name: 'carrel_scrub_bytes',
    help: 'Bytes that the current pass of the scrub has read',
    of: ({ scrub }) => scrub?.bytes ?? 0,
  },
  {
    name: 'carrel_scrub_found',
    help: 'Missing or damaged blocks that the current and the last pass of the scrub found',
    of: ({ scrub }) => (scrub?.found ?? 0) + (scrub?.last?.found ?? 0),
  },
  {
    name: 'carrel_check_last_finished_seconds',
    help: 'Unix time when carrel check last completed; 0 if it never did',
    of: ({ lastCheck }) => lastCheck?.finishedAt ?? 0,
  },
  {
    name: 'carrel_check_unfinished_since_seconds',
    help: 'Unix time when the newest carrel check began if it has not finished; otherwise 0',
    of: ({ unfinishedCheckSince }) => unfinishedCheckSince ?? 0,
  },
  {
    name: 'carrel_check_findings',
    help: 'Findings of the last complete carrel check',
    of: ({ lastCheck }) => lastCheck?.findings ?? 0,
  },
]

/** Registers the metrics of stored data. */
export function registerIntegrityMetrics(registry: Registry, state: () => Promise<IntegrityState>): void {
  registerGauges(registry, gauges, state)
}

/** What is known about the integrity of the stored data. */
export interface IntegrityState {
  /** Blocks whose bytes are known to be missing or damaged. */
  readonly damagedBlocks: number
  /** Undefined before the first pass. */
  readonly scrub: ScrubProgress | undefined
  /** The last complete pass of `carrel check`. */
  readonly lastCheck: { readonly finishedAt: number; readonly findings: number } | undefined
  /** When the newest pass began if it is not complete: it runs, or was interrupted and will be continued. */
  readonly unfinishedCheckSince: number | undefined
}

export async function readIntegrityState(reader: Reader): Promise<IntegrityState> {
  const last = await findLastPass(reader)
  return {
    damagedBlocks: await damagedBlocks.count(reader),
    scrub: await findScrubProgress(reader),
    lastCheck:
      last?.finishedAt == null ? undefined : { finishedAt: last.finishedAt, findings: last.findings },
    unfinishedCheckSince: (await findOpenPass(reader))?.startedAt,
  }
}
