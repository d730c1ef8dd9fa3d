import type { Reader } from '../database/database.ts'
import { listStoredAfter } from './usage-store.ts'

const ROWS_A_STEP = 500

/** Bytes and number of all blocks, each counted once however many libraries hold it. */
export interface StoredBlocks {
  readonly bytes: number
  readonly blocks: number
}

/** A job for Database.aside: walks through all blocks there are. */
export async function run(reader: Reader): Promise<StoredBlocks> {
  const sums = { bytes: 0, blocks: 0 }
  for (let after: Uint8Array = new Uint8Array(0); ; ) {
    const rows = await listStoredAfter(reader, after, ROWS_A_STEP)
    for (const { size } of rows) sums.bytes += size
    sums.blocks += rows.length
    const last = rows.at(-1)
    if (last === undefined || rows.length < ROWS_A_STEP) return sums
    after = last.id
  }
}
