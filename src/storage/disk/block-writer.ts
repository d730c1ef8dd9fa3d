import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import type { BlockId } from '../../objects/ids.ts'
import { BlockMismatch, BlockStoreError, type BlockWriter, type ReceivedBlock } from '../block-store.ts'
import { UNNAMED, writing } from './disk-errors.ts'
import { writeFully } from './file-chunks.ts'
import { type HashThread, SLAB_BYTES } from './hash-thread.ts'
import { SlabFile } from './slab-file.ts'

/** What a block on its way in needs of its store. */
export interface Intake {
  /** Opens a temp file. */
  readonly open: () => Promise<TemporaryFile>
  readonly thread: () => HashThread
  /** Takes over a written file that is to be synced. */
  readonly take: (id: BlockId, file: TemporaryFile) => Pick<ReceivedBlock, 'synced' | 'keep' | 'discard'>
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
  readonly slabs: SlabFile
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
    return { id, size: this.#size, ...this.#intake.take(id, file) }
  }

  async abort(): Promise<void> {
    this.#pieces = []
    const long = this.#long
    if (long === undefined) return
    await long.thread.abandon(long.number)
    await long.slabs[Symbol.asyncDispose]()
    await long.file.discard()
  }

  /** Hands on whole slabs, so that each begins a page of the file. */
  async #flush(): Promise<void> {
    this.#long ??= await this.#beginLong()
    const { thread, number } = this.#long
    while (this.#held >= SLAB_BYTES) await writing(UNNAMED, thread.write(number, this.#takeSlab()))
  }

  async #beginLong(): Promise<LongBlock> {
    const file = await this.#intake.open()
    const slabs = await SlabFile.open(file.handle, file.path)
    const thread = this.#intake.thread()
    return { file, slabs, thread, number: thread.begin(slabs) }
  }

  async #endLong({ file, slabs, thread, number }: LongBlock) {
    try {
      const id = await writing(UNNAMED, thread.finish(number, this.#takePieces()))
      await slabs[Symbol.asyncDispose]()
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

  /** As many of the pieces as fill a slab. */
  #takeSlab(): Uint8Array[] {
    const pieces = this.#takePieces()
    let room = SLAB_BYTES
    const count = pieces.findIndex((piece) => {
      room -= piece.length
      return room <= 0
    })
    const taken = pieces.splice(0, count + 1)
    const last = taken.at(-1)
    if (last !== undefined && room < 0) {
      taken[taken.length - 1] = last.subarray(0, room)
      pieces.unshift(last.subarray(room))
    }
    this.#pieces = pieces
    this.#held = pieces.reduce((sum, piece) => sum + piece.length, 0)
    return taken
  }
}
