import { findHeldBlocks, insertDamagedBlock, type SizedBlock } from '../content/index.ts'
import type { Database } from '../database/index.ts'
import type { BlockId, FileObject } from '../objects/index.ts'
import type { BlockCopier, CopiedBlock } from './block-copier.ts'
import type { Problems } from './problems.ts'
import type { SeafileLayout, SourceStore } from './seafile-layout.ts'

/** Blocks that are copied while the importer reads on. */
const MAX_BLOCKS_IN_FLIGHT = 800

interface TreeBlocksOptions {
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

/** Files whose blocks are being copied. */
interface Step {
  readonly blocks: number
  readonly done: Promise<void>
}

/**
 * Copies the blocks of the files of a library while the importer reads the next files, and collects the rows that refer to them. A file with blocks
 * that the source lost is kept: its history, and the other blocks, are worth it.
 */
export class TreeBlocks {
  readonly #options: TreeBlocksOptions
  /** The oldest first. */
  readonly #steps: Step[] = []
  #inFlight = 0
  #last: Promise<void> = Promise.resolve()
  /** Blocks that were asked for since the last `take`. */
  #asked = new Set<BlockId>()
  #held = new Map<BlockId, SizedBlock>()
  #small = new Map<BlockId, Uint8Array>()
  #smallBytes = 0
  readonly #lost = new Map<BlockId, 'missing' | 'damaged'>()

  constructor(options: TreeBlocksOptions) {
    this.#options = options
  }

  /** Number of rows that `take` would return now. */
  get rows(): number {
    return this.#held.size
  }

  /** Bytes of small blocks in memory. */
  get smallBytes(): number {
    return this.#smallBytes
  }

  /** Starts to copy the blocks of files. Resolves when more may be added (backpressure). Throws the error of an earlier copy. */
  async add(files: readonly NamedFile[]): Promise<void> {
    const ids = new Set<BlockId>()
    for (const { file } of files) for (const id of file.blockIds) if (!this.#asked.has(id)) ids.add(id)
    for (const id of ids) this.#asked.add(id)
    const done = this.#copy(files, [...ids], this.#last)
    done.catch(() => {}) // It rejects when the step is awaited.
    this.#last = done
    this.#steps.push({ blocks: ids.size, done })
    this.#inFlight += ids.size
    while (this.#inFlight > MAX_BLOCKS_IN_FLIGHT) await this.#finishOldest()
  }

  /** Waits until all blocks are copied and durable, and returns the rows that may refer to them now (I1). */
  async take(): Promise<BlockRows> {
    while (this.#steps.length > 0) await this.#finishOldest()
    if (this.#held.size > 0) await this.#options.copier.flush()
    const rows = { held: [...this.#held.values()], small: this.#small }
    this.#asked = new Set()
    this.#held = new Map()
    this.#small = new Map()
    this.#smallBytes = 0
    return rows
  }

  /** Records the blocks that the source does not have, so that reading them is refused and a check names them. */
  async recordLost(): Promise<number> {
    const { db, now } = this.#options
    for (const [id, problem] of this.#lost) await insertDamagedBlock(db, { id, problem, foundAt: now })
    return this.#lost.size
  }

  async #finishOldest(): Promise<void> {
    const oldest = this.#steps.shift()
    this.#inFlight -= oldest?.blocks ?? 0
    await oldest?.done
  }

  /** Blocks of several steps are copied at a time. Results are recorded in order, because a lost block may belong to a file of an earlier step. */
  async #copy(files: readonly NamedFile[], ids: readonly BlockId[], previous: Promise<void>): Promise<void> {
    const { db, libraryKey, copier, layout, store } = this.#options
    const held = await findHeldBlocks(db, libraryKey, ids, { orCondemned: true })
    const wanted = ids.filter((id) => !held.has(id))
    const copied = await copier.copy(wanted, (id) => layout.blockFile(store, id))
    await previous
    this.#record(files, copied, held)
  }

  #record(
    files: readonly NamedFile[],
    copied: ReadonlyMap<BlockId, CopiedBlock>,
    held: ReadonlyMap<BlockId, number>,
  ): void {
    const { problems, libraryId } = this.#options
    for (const [id, { size, small }] of copied) {
      if (size !== undefined) this.#held.set(id, { id, size })
      if (small === undefined) continue
      this.#small.set(id, small)
      this.#smallBytes += small.length
    }
    for (const { path, file } of files) {
      for (const block of file.blockIds) {
        const problem = copied.get(block)?.problem ?? this.#lost.get(block)
        if (problem === undefined) continue
        problems.add(`block-${problem}`, `${path}: the block ${block} is ${problem}.`, libraryId)
        this.#lost.set(block, problem)
        this.#held.set(block, { id: block, size: this.#sizeOfLost(file, block, held) })
      }
    }
  }

  /** The stored length of a lost block, as far as the rest of the file tells. */
  #sizeOfLost(file: FileObject, lost: BlockId, held: ReadonlyMap<BlockId, number>): number {
    let rest = file.size
    for (const id of file.blockIds) if (id !== lost) rest -= this.#held.get(id)?.size ?? held.get(id) ?? 0
    const plain = Math.max(1, rest)
    return this.#options.isEncrypted ? 16 * (Math.floor(plain / 16) + 1) : plain
  }
}
