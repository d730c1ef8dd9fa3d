import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import type { BlockId } from '../../objects/index.ts'
import { BlockMismatch, BlockStoreError, type BlockWriter, type ReceivedBlock } from '../index.ts'
import { UNNAMED, writing } from './disk-errors.ts'
import { writeFully } from './file-chunks.ts'
import type { HashThread } from './hash-thread.ts'
import { SlabFile } from './slab-file.ts'
import { SLAB_BYTES, type Slab, type Slabs } from './slabs.ts'

/** What a block on its way in needs of its store. */
export interface Intake {
  /** Opens a temp file. */
  readonly open: () => Promise<TemporaryFile>
  readonly slabs: Slabs
  readonly thread: () => HashThread
  /** Takes over a written file that is to be synced. */
  readonly take: (id: BlockId, file: TemporaryFile) => Pick<ReceivedBlock, 'synced' | 'keep' | 'discard'>
}

export interface TemporaryFile {
  readonly handle: FileHandle
  readonly path: string
  /** Whether what was written to it is not in the page cache. */
  isPastCache: boolean
  /** Closes and removes it. */
  readonly discard: () => Promise<void>
}

/** A block that is hashed by a thread while it is written. */
interface LongBlock {
  readonly file: TemporaryFile
  readonly target: SlabFile
  readonly thread: HashThread
  /** What the thread calls the file. */
  readonly number: number
}

/** A block that is written while it comes in: what is long with the help of a thread, what fits into one slab at its end. */
export class DiskBlockWriter implements BlockWriter {
  readonly #intake: Intake
  #slab: Slab | undefined
  /** Bytes in the slab. */
  #filled = 0
  #size = 0
  #long: LongBlock | undefined

  constructor(intake: Intake) {
    this.#intake = intake
  }

  write(piece: Uint8Array): Promise<void> | undefined {
    this.#size += piece.length
    const rest = this.#fill(piece)
    return this.#filled < SLAB_BYTES ? undefined : this.#writeOn(rest)
  }

  async finish(expected?: BlockId): Promise<ReceivedBlock> {
    if (this.#size === 0) throw new BlockStoreError('A block has at least one byte.')
    const { id, file } = this.#long === undefined ? await this.#writeShort() : await this.#endLong(this.#long)
    if (expected !== undefined && id !== expected) {
      await file.discard()
      throw new BlockMismatch(expected, id)
    }
    return { id, size: this.#size, ...this.#intake.take(id, file) }
  }

  async abort(): Promise<void> {
    if (this.#slab !== undefined) this.#intake.slabs.give(this.#takeSlab())
    const long = this.#long
    if (long === undefined) return
    await long.thread.abandon(long.number)
    long.target[Symbol.dispose]()
    await long.file.discard()
  }

  /** Copies what there is room for and gives back the rest. */
  #fill(piece: Uint8Array): Uint8Array {
    this.#slab ??= this.#intake.slabs.take()
    const taken = piece.subarray(0, SLAB_BYTES - this.#filled)
    const end = this.#filled + taken.length
    // V8 copies into shared memory byte by byte unless both ends are aligned; `fill` does it at full speed.
    if (taken.length > 0) this.#slab.bytes.fill(taken, this.#filled, end)
    this.#filled = end
    return piece.subarray(taken.length)
  }

  /** Sends full slabs on their way until the rest of a piece fits into one. */
  async #writeOn(piece: Uint8Array): Promise<void> {
    let rest = piece
    this.#long ??= await this.#beginLong()
    const { thread, number } = this.#long
    while (this.#filled === SLAB_BYTES) {
      await writing(UNNAMED, thread.write(number, this.#takeSlab(), SLAB_BYTES))
      if (rest.length > 0) rest = this.#fill(rest)
    }
  }

  async #beginLong(): Promise<LongBlock> {
    const file = await this.#intake.open()
    const target = await SlabFile.open(file.handle, file.path)
    const thread = this.#intake.thread()
    return { file, target, thread, number: thread.begin(target) }
  }

  async #endLong({ file, target, thread, number }: LongBlock) {
    try {
      const length = this.#filled
      const id = await writing(UNNAMED, thread.finish(number, this.#takeSlab(), length))
      target[Symbol.dispose]()
      file.isPastCache = target.isPastCache(this.#size)
      return { id: id as BlockId, file }
    } catch (error) {
      await this.abort()
      throw error
    }
  }

  async #writeShort() {
    const length = this.#filled
    const slab = this.#takeSlab()
    const bytes = slab.bytes.subarray(0, length)
    try {
      const id = createHash('sha1').update(bytes).digest('hex') as BlockId
      const file = await this.#intake.open()
      try {
        await writing(UNNAMED, writeFully(file.handle, [bytes]))
      } catch (error) {
        await file.discard()
        throw error
      }
      return { id, file }
    } finally {
      this.#intake.slabs.give(slab)
    }
  }

  /** Who takes it gives it back. */
  #takeSlab(): Slab {
    const slab = this.#slab ?? this.#intake.slabs.take()
    this.#slab = undefined
    this.#filled = 0
    return slab
  }
}
