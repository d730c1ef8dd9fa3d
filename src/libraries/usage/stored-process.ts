import { serveSideProcess } from '../../platform/database/index.ts'
import { blockRows } from '../content/index.ts'
import type { StoredBlocks } from './usage-store.ts'

const ROWS_PER_STEP = 500

serveSideProcess(async (reader): Promise<StoredBlocks> => {
  const sums = { bytes: 0, blocks: 0 }
  for (let after: Uint8Array = new Uint8Array(0); ; ) {
    const rows = await blockRows.listStoredAfter(reader, after, ROWS_PER_STEP)
    for (const { size } of rows) sums.bytes += size
    sums.blocks += rows.length
    const last = rows.at(-1)
    if (last === undefined || rows.length < ROWS_PER_STEP) return sums
    after = last.id
  }
})
