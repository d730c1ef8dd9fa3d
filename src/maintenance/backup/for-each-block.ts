import type { BlockId } from '../../base/objects/index.ts'
import type { ScratchBlocks } from './scratch-store.ts'

const CONCURRENT = 4
const PAGE = 256

/** Runs `work` for every block, four at a time. The first failure is thrown once the others have ended. */
export async function forEachBlock(
  blocks: ScratchBlocks,
  work: (id: BlockId) => Promise<void>,
): Promise<void> {
  for (const page of blocks.pages(PAGE)) {
    const ids = page.values()
    const worker = async () => {
      for (const id of ids) await work(id)
    }
    const workers = await Promise.allSettled(Array.from({ length: CONCURRENT }, worker))
    for (const one of workers) if (one.status === 'rejected') throw one.reason
  }
}
