import { countDamagedBlocks } from '../content/index.ts'
import type { Reader } from '../database/index.ts'
import { findLastPass, findOpenPass } from './check-store.ts'
import { findScrubProgress, type ScrubProgress } from './scrub-store.ts'

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
    damagedBlocks: await countDamagedBlocks(reader),
    scrub: await findScrubProgress(reader),
    lastCheck:
      last?.finishedAt == null ? undefined : { finishedAt: last.finishedAt, findings: last.findings },
    unfinishedCheckSince: (await findOpenPass(reader))?.startedAt,
  }
}
