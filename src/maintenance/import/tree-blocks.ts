import type { BlockId, FileObject } from '../../base/objects/index.ts'
import { blockRows, damagedBlocks, type SizedBlock } from '../../libraries/content/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { BlockCopier, CopiedBlock } from './block-copier.ts'
import type { Problems } from './problems.ts'
import type { SeafileLayout, SourceStore } from './seafile-layout.ts'

/** Blocks that are copied while the importer reads on. */
const MAX_BLOCKS_IN_FLIGHT = 800

export interface TreeBlocksOptions {
  readonly db: Database
  readonly libraryKey: number
  /** For the report. */
  readonly libraryId: string
  readonly layout: SeafileLayout
  readonly store: SourceStore
  readonly copier: BlockCopier
  readonly problems: Problems
  /** Blocks of an encrypted library are longer than their plaintext. */
  readonly isEncrypted: boolean
  /** Unix seconds. */
  readonly now: number
}

/** A file whose blocks are wanted, with its path for the report. */
interface NamedFile {
  readonly path: string
  readonly file: FileObject
}

/** Rows of blocks that are durable. */
interface BlockRows {
  readonly held: readonly SizedBlock[]
  /** The bytes of those that are stored in rows. */
  readonly small: ReadonlyMap<BlockId, Uint8Array>
}

/** Blocks whose rows are written together. */
class Batch {
  /** Blocks that were asked for. */
  readonly asked = new Set<BlockId>()
  readonly held = new Map<BlockId, SizedBlock>()
  readonly small = new Map<BlockId, Uint8Array>()
  smallBytes = 0
}

/** Files whose blocks are being copied. */
interface Step {
  readonly files: readonly NamedFile[]
  readonly ids: readonly BlockId[]
  readonly batch: Batch
  /** The batch whose rows were being written when the step began. */
  readonly earlier: Batch | undefined
}

/**
 * Copies the blocks of the files of a library while the importer reads the next files, and collects the rows that refer to them. A file with blocks
 * that the source lost is kept: its history, and the other blocks, are worth it.
 */
export class TreeBlocks {
  readonly #options: TreeBlocksOptions
  /** The steps in progress, the oldest first. */
  readonly #steps: Promise<void>[] = []
  #inFlight = 0
  #last: Promise<void> = Promise.resolve()
  #batch = new Batch()
  /** The batch whose rows are being written. */
  #taken: Batch | undefined
  readonly #lost = new Map<BlockId, 'missing' | 'damaged'>()

  constructor(options: TreeBlocksOptions) {
    this.#options = options
  }

  /** Number of rows that `take` would return now. */
  get rows(): number {
    return this.#batch.held.size
  }

  /** Bytes of small blocks in memory, without those that were taken. */
  get smallBytes(): number {
    return this.#batch.smallBytes
  }

  /** Starts to copy the blocks of files. Resolves when more may be added (backpressure). Throws the error of an earlier copy. */
  async add(files: readonly NamedFile[]): Promise<void> {
    const [batch, earlier] = [this.#batch, this.#taken]
    const ids: BlockId[] = []
    for (const { file } of files) {
      for (const id of file.blockIds) {
        if (batch.asked.has(id) || earlier?.asked.has(id) === true) continue
        batch.asked.add(id)
        ids.push(id)
      }
    }
    const done = this.#copy({ files, ids, batch, earlier }, this.#last)
    done.catch(() => {}) // It rejects when the step is awaited.
    this.#last = done
    this.#steps.push(done)
    this.#inFlight += ids.length
    while (this.#inFlight > MAX_BLOCKS_IN_FLIGHT) await this.#steps[0]
  }

  /**
   * Waits until all blocks that were added are copied and durable, and returns the rows that may refer to them then (I1). Blocks may be added
   * meanwhile, which belong to the next batch. Call `release` when the rows are written, before the next call.
   */
  async take(): Promise<BlockRows> {
    const [batch, last] = [this.#batch, this.#last]
    this.#batch = new Batch()
    this.#taken = batch
    await last
    if (batch.held.size > 0) await this.#options.copier.flush()
    return { held: [...batch.held.values()], small: batch.small }
  }

  /** Call it when the rows that were taken can be found in the database. */
  release(): void {
    this.#taken = undefined
  }

  /** Resolves when nothing is being copied any more, also after an error. */
  async settled(): Promise<void> {
    await this.#last.catch(() => {})
  }

  /** Records the blocks that the source does not have, so that reading them is refused and a check names them. */
  async recordLost(): Promise<number> {
    const { db, now } = this.#options
    for (const [id, problem] of this.#lost) await damagedBlocks.insert(db, { id, problem, foundAt: now })
    return this.#lost.size
  }

  /** Blocks of several steps are copied at a time. Results are recorded in order, because a lost block may belong to a file of an earlier step. */
  async #copy(step: Step, previous: Promise<void>): Promise<void> {
    const { db, libraryKey, copier, layout, store } = this.#options
    const held = await blockRows.findHeld(db, libraryKey, step.ids, { orCondemned: true })
    const wanted = step.ids.filter((id) => !held.has(id))
    const copied = await copier.copy(wanted, (id) => layout.blockFile(store, id))
    await previous
    this.#record(step, copied, held)
    // It is the oldest one: the others wait for it.
    void this.#steps.shift()
    this.#inFlight -= step.ids.length
  }

  #record(step: Step, copied: ReadonlyMap<BlockId, CopiedBlock>, held: ReadonlyMap<BlockId, number>): void {
    const { problems, libraryId } = this.#options
    const { batch } = step
    for (const [id, { size, small }] of copied) {
      if (size !== undefined) batch.held.set(id, { id, size })
      if (small === undefined) continue
      batch.small.set(id, small)
      batch.smallBytes += small.length
    }
    for (const { path, file } of step.files) {
      for (const block of file.blockIds) {
        const problem = copied.get(block)?.problem ?? this.#lost.get(block)
        if (problem === undefined) continue
        problems.add(`block-${problem}`, `${path}: the block ${block} is ${problem}.`, libraryId)
        this.#lost.set(block, problem)
        batch.held.set(block, { id: block, size: this.#sizeOfLost(file, block, step, held) })
      }
    }
  }

  /** The stored length of a lost block, as far as the rest of the file tells. */
  #sizeOfLost(
    file: FileObject,
    lost: BlockId,
    { batch, earlier }: Step,
    held: ReadonlyMap<BlockId, number>,
  ): number {
    const sizeOf = (id: BlockId) =>
      batch.held.get(id)?.size ?? earlier?.held.get(id)?.size ?? held.get(id) ?? 0
    let rest = file.size
    for (const id of file.blockIds) if (id !== lost) rest -= sizeOf(id)
    const plain = Math.max(1, rest)
    return this.#options.isEncrypted ? 16 * (Math.floor(plain / 16) + 1) : plain
  }
}
