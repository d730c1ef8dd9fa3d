import { type BlockId, idFromBytes, idToBytes, sha1Hex } from '../../base/objects/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { BlockStore } from '../../platform/storage/index.ts'
import { findSmallBlocks, findStoredBlocks, type SizedBlock } from './block-rows-store.ts'
import { SMALLEST_STORED_BLOCK } from './content.ts'
import type { BlockProblem } from './damaged-block-store.ts'
import { DamagedBlocks, problemOf } from './damaged-blocks.ts'

/** What is wrong with a block. `unheld`: the library has no row for it, so that it cannot read it (I7). */
export interface BlockFault {
  readonly problem: BlockProblem | 'unheld'
  readonly reason: string
}

/** Checks the stored bytes of blocks, and keeps the record of damaged blocks up to date with what it finds. */
export class BlockCheck {
  readonly #db: Database
  readonly #blocks: BlockStore
  readonly #damaged: DamagedBlocks
  /** Blocks and bytes looked at. */
  blocks = 0
  bytes = 0

  /** `now` in Unix seconds. */
  constructor(db: Database, blocks: BlockStore, now: () => number) {
    this.#db = db
    this.#blocks = blocks
    this.#damaged = new DamagedBlocks(db, now)
  }

  /**
   * The blocks of `ids` with a fault. Without `readData` only their presence and length are checked. Throws errors of the disk that say
   * nothing about a block.
   */
  async faultsOf(
    libraryKey: number,
    ids: readonly BlockId[],
    { readData }: { readonly readData: boolean },
  ): Promise<Map<BlockId, BlockFault>> {
    const faults = new Map<BlockId, BlockFault>()
    const held = await findStoredBlocks(this.#db, libraryKey, ids, { withData: readData })
    for (const id of ids) {
      const block = held.get(id)
      const fault =
        block === undefined
          ? ({ problem: 'unheld', reason: 'the library has no row for it' } as const)
          : await this.#faultOf(id, block, readData)
      if (fault !== undefined) faults.set(id, fault)
    }
    return faults
  }

  /** As `faultsOf` for blocks of an unfinished upload or an archive, which no library holds. */
  async faultsOfStaged(
    blocks: readonly SizedBlock[],
    { readData }: { readonly readData: boolean },
  ): Promise<Map<BlockId, BlockFault>> {
    const faults = new Map<BlockId, BlockFault>()
    for (const { id, size } of blocks) {
      const data =
        size < SMALLEST_STORED_BLOCK ? (await findSmallBlocks(this.#db, [idToBytes(id)])).get(id) : undefined
      const fault = await this.#faultOf(id, { size, length: data?.length, data }, readData)
      if (fault !== undefined) faults.set(id, fault)
    }
    return faults
  }

  /** Keeps the record of damaged blocks up to date, too. */
  async #faultOf(
    id: BlockId,
    block: { size: number; length: number | undefined; data: Uint8Array | undefined },
    readData: boolean,
  ): Promise<BlockFault | undefined> {
    const fault =
      block.size < SMALLEST_STORED_BLOCK
        ? faultOfRow(id, block)
        : await this.#faultOfFile(id, block.size, readData)
    this.blocks += 1
    this.bytes += readData ? block.size : 0
    if (fault !== undefined) await this.#damaged.note(id, fault.problem)
    else if (readData) await this.#damaged.noteStored(id)
    return fault
  }

  /** Reads and verifies some blocks, whichever libraries and uploads hold them. */
  async scrub(
    blocks: readonly { readonly id: Uint8Array; readonly size: number }[],
  ): Promise<{ bytes: number; faults: number }> {
    const sums = { bytes: 0, faults: 0 }
    const small = blocks.filter(({ size }) => size < SMALLEST_STORED_BLOCK).map(({ id }) => id)
    const rows = await findSmallBlocks(this.#db, small)
    for (const { id: bytes, size } of blocks) {
      const id = idFromBytes<BlockId>(bytes)
      const data = rows.get(id)
      const fault =
        size < SMALLEST_STORED_BLOCK
          ? faultOfRow(id, { size, length: data?.length, data })
          : await this.#faultOfFile(id, size, true)
      sums.bytes += size
      if (fault === undefined) await this.#damaged.noteStored(id)
      else if (await this.#damaged.note(id, fault.problem)) sums.faults += 1
    }
    return sums
  }

  async #faultOfFile(
    id: BlockId,
    size: number,
    readData: boolean,
  ): Promise<{ problem: BlockProblem; reason: string } | undefined> {
    try {
      const actual = await this.#blocks.size(id, { stored: true })
      if (actual !== size) return { problem: 'damaged', reason: `its file has ${actual} of ${size} bytes` }
      const options = { lend: true, stored: true }
      if (readData) for await (const chunk of this.#blocks.read(id, undefined, options)) void chunk
      return undefined
    } catch (error) {
      const problem = problemOf(error)
      if (problem === undefined) throw error
      return { problem, reason: (error as Error).message }
    }
  }
}

function faultOfRow(
  id: BlockId,
  { size, length, data }: { size: number; length: number | undefined; data: Uint8Array | undefined },
): { problem: BlockProblem; reason: string } | undefined {
  if (length === undefined)
    return { problem: 'missing', reason: `The block ${id} has no row with its bytes.` }
  if (length !== size) return { problem: 'damaged', reason: `its row has ${length} of ${size} bytes` }
  if (data !== undefined && sha1Hex(Buffer.from(data)) !== id) {
    return { problem: 'damaged', reason: 'its row holds other bytes' }
  }
  return undefined
}
