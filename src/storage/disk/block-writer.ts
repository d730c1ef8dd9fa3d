import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import type { BlockId } from '../../objects/ids.ts'
import { BlockMismatch, BlockStoreError, type BlockWriter, type ReceivedBlock } from '../block-store.ts'
import { UNNAMED, writing } from './disk-errors.ts'
import { writeFully } from './file-chunks.ts'
import { type HashThread, SLAB_BYTES } from './hash-thread.ts'

/** What a block on its way in needs of its store. */
export interface Intake {
  /** Opens a temp file. */
  readonly open: () => Promise<TemporaryFile>
  readonly thread: () => HashThread
  /** Syncs a written file and gives it its name. */
  readonly name: (id: BlockId, file: TemporaryFile) => Promise<void>
}

export interface TemporaryFile {
  readonly handle: FileHandle
  readonly path: string
  /** Closes and removes it. */
  readonly discard: () => Promise<void>
}

/** A block that is hashed by a thread while it is written. */
interface LongBlock {
  readonly file: TemporaryFile
  readonly thread: HashThread
  /** What the thread calls the file. */
  readonly number: number
}

/** A block that is written while it comes in: what is long with the help of a thread, what fits into one slab at its end. */
export class DiskBlockWriter implements BlockWriter {
  readonly #intake: Intake
  #pieces: Uint8Array[] = []
  #held = 0
  #size = 0
  #long: LongBlock | undefined

  constructor(intake: Intake) {
    this.#intake = intake
  }

  write(piece: Uint8Array): Promise<void> | undefined {
    this.#pieces.push(piece)
    this.#held += piece.length
    this.#size += piece.length
    return this.#held < SLAB_BYTES ? undefined : this.#flush()
  }

  async finish(expected?: BlockId): Promise<ReceivedBlock> {
    if (this.#size === 0) throw new BlockStoreError('A block has at least one byte.')
    const { id, file } = this.#long === undefined ? await this.#writeShort() : await this.#endLong(this.#long)
    if (expected !== undefined && id !== expected) {
      await file.discard()
      throw new BlockMismatch(expected, id)
    }
    return { id, size: this.#size, durable: this.#intake.name(id, file) }
  }

  async abort(): Promise<void> {
    this.#pieces = []
    const long = this.#long
    if (long === undefined) return
    await long.thread.abandon(long.number)
    await long.file.discard()
  }

  async #flush(): Promise<void> {
    const pieces = this.#takePieces()
    if (this.#long === undefined) {
      const file = await this.#intake.open()
      const thread = this.#intake.thread()
      this.#long = { file, thread, number: thread.begin(file.handle) }
    }
    const { thread, number } = this.#long
    await writing(UNNAMED, thread.write(number, pieces))
  }

  async #endLong({ file, thread, number }: LongBlock) {
    try {
      const id = await writing(UNNAMED, thread.finish(number, this.#takePieces()))
      return { id: id as BlockId, file }
    } catch (error) {
      await this.abort()
      throw error
    }
  }

  async #writeShort() {
    const pieces = this.#takePieces()
    const hash = createHash('sha1')
    for (const piece of pieces) hash.update(piece)
    const file = await this.#intake.open()
    try {
      await writing(UNNAMED, writeFully(file.handle, pieces))
    } catch (error) {
      await file.discard()
      throw error
    }
    return { id: hash.digest('hex') as BlockId, file }
  }

  #takePieces(): Uint8Array[] {
    const pieces = this.#pieces
    this.#pieces = []
    this.#held = 0
    return pieces
  }
}
