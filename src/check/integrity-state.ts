import { countDamagedBlocks } from '../content/index.ts'
import type { Reader } from '../database/index.ts'

/** What is known about the integrity of the stored data. */
export interface IntegrityState {
  /** Blocks whose bytes are known to be missing or damaged. */
  readonly damagedBlocks: number
}

export async function readIntegrityState(reader: Reader): Promise<IntegrityState> {
  return { damagedBlocks: await countDamagedBlocks(reader) }
}
