import type { BlockId } from '../../base/objects/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { BlockDamaged, BlockMissing } from '../../platform/storage/index.ts'
import {
  type BlockProblem,
  deleteDamagedBlocks,
  findDamagedBlocks,
  hasDamagedBlocks,
  insertDamagedBlock,
} from './damaged-block-store.ts'

/**
 * The blocks whose bytes are known to be lost. A failed read adds a block, storing its bytes again removes it. Clients are told
 * that such a block is missing, so that one that has the bytes sends them.
 */
export class DamagedBlocks {
  readonly #db: Database
  readonly #now: () => number

  constructor(db: Database, now: () => number) {
    this.#db = db
    this.#now = now
  }

  /** Records the block that an error of a read is about, if it is about its bytes. */
  async noteError(error: unknown): Promise<void> {
    const problem = problemOf(error)
    if (problem !== undefined) await this.note((error as BlockDamaged | BlockMissing).id, problem)
  }

  /** False if nothing holds the block (any more), so that its bytes are not missed. */
  async note(id: BlockId, problem: BlockProblem): Promise<boolean> {
    if ((await findDamagedBlocks(this.#db, [id])).size > 0) return true
    return insertDamagedBlock(this.#db, { id, problem, foundAt: this.#now() })
  }

  /** Called when the bytes of a block were stored, verified and durable. */
  async noteStored(id: BlockId): Promise<void> {
    if (!(await hasDamagedBlocks(this.#db))) return
    await this.#db.write((tx) => deleteDamagedBlocks(tx, [id]), { durable: false })
  }
}

/** What an error of a read says about the stored bytes; undefined if it says nothing, as with too many open files. */
export function problemOf(error: unknown): BlockProblem | undefined {
  if (error instanceof BlockMissing) return 'missing'
  return error instanceof BlockDamaged ? 'damaged' : undefined
}
