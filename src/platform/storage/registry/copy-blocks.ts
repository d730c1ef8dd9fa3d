import type { BlockId } from '../../../base/objects/index.ts'
import { BlockDamaged, BlockMissing, type BlockStore } from '../index.ts'

/** Figures of a copy. */
export interface CopyReport {
  /** Blocks that were looked at. */
  blocks: number
  copied: number
  copiedBytes: number
  /** Blocks that could not be read in the old store. They stay there. */
  readonly damaged: BlockId[]
}

/** From one store to another. */
interface Copy {
  readonly from: BlockStore
  readonly to: BlockStore
  readonly signal: AbortSignal
  onProgress(report: CopyReport): void
}

const IDS_PER_STEP = 256
const CONCURRENT_COPIES = 8

/**
 * Copies all blocks that `to` lacks. It may be interrupted at any time and run again, beside servers that write to either store. Every block is
 * verified while it is read and by the store that receives it.
 */
export async function copyBlocks(copy: Copy): Promise<CopyReport> {
  const report: CopyReport = { blocks: 0, copied: 0, copiedBytes: 0, damaged: [] }
  for await (const ids of inSteps(copy)) {
    await inParallel(await copy.to.missing(ids), (id) => copyOne(copy, id, report))
    report.blocks += ids.length
    copy.onProgress(report)
  }
  return report
}

/**
 * Deletes all blocks of `from` that `to` has, and copies those that it lacks first. Nobody may write to `from` any more. A block is retired before it
 * is looked for in `to`: a reader that still needs it takes it back, and it is deleted later. Resolves to the deleted bytes.
 */
export async function emptyStore(
  copy: Copy,
): Promise<{ readonly deletedBytes: number; readonly report: CopyReport }> {
  const { from, to } = copy
  const report: CopyReport = { blocks: 0, copied: 0, copiedBytes: 0, damaged: [] }
  let deletedBytes = 0
  for await (const ids of inSteps(copy)) {
    await inParallel(await to.missing(ids), (id) => copyOne(copy, id, report))
    const lost = new Set(report.damaged)
    await inParallel(
      ids.filter((id) => !lost.has(id)),
      async (id) => {
        await from.retire(id)
        if ((await to.missing([id])).length > 0) {
          await from.restore(id)
          return
        }
        const bytes = await from.discard(id)
        deletedBytes += bytes
      },
    )
    report.blocks += ids.length
    copy.onProgress(report)
  }
  return { deletedBytes: deletedBytes + (await from.deleteLeftovers(0)), report }
}

/** Whether a store has no block, retired ones included. */
export async function isEmpty(store: BlockStore): Promise<boolean> {
  for (const ids of [store.list(), store.listRetired()]) for await (const _ of ids) return false
  return true
}

/** The ids of all blocks. Retired ones first: they may be taken back at any time, and are then listed as stored. */
async function* inSteps({ from, signal }: Copy): AsyncGenerator<BlockId[], void> {
  for (const ids of [from.listRetired(), from.list()]) {
    let step: BlockId[] = []
    for await (const id of ids) {
      signal.throwIfAborted()
      step.push(id)
      if (step.length < IDS_PER_STEP) continue
      yield step
      step = []
    }
    if (step.length > 0) yield step
  }
}

async function copyOne({ from, to, signal }: Copy, id: BlockId, report: CopyReport): Promise<void> {
  signal.throwIfAborted()
  let size = 0
  async function* counted(): AsyncGenerator<Buffer, void> {
    for await (const chunk of from.read(id, undefined, { stored: true })) {
      size += chunk.length
      yield chunk
    }
  }
  try {
    await to.put(id, counted(), signal)
  } catch (error) {
    // Deleted by garbage collection since it was listed.
    if (error instanceof BlockMissing && error.id === id) return
    if (!(error instanceof BlockDamaged)) throw error
    report.damaged.push(id)
    return
  }
  report.copied += 1
  report.copiedBytes += size
}

async function inParallel(ids: readonly BlockId[], work: (id: BlockId) => Promise<void>): Promise<void> {
  const left = ids.values()
  const worker = async () => {
    for (const id of left) await work(id)
  }
  await Promise.all(Array.from({ length: CONCURRENT_COPIES }, worker))
}
