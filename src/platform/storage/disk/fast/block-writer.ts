import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import type { BlockId } from '../../../../base/objects/index.ts'
import { BlockMismatch, BlockStoreError, type BlockWriter, type ReceivedBlock } from '../../index.ts'
import { UNNAMED, writing } from '../disk-errors.ts'
import { writeFully } from './file-chunks.ts'
import type { HashThread } from './hash-thread.ts'
import { SHARED_BUFFER_BYTES, type SharedBuffer, type SharedBufferPool } from './shared-buffer-pool.ts'

/** What a writer needs of its store. */
interface WriterContext {
  /** Opens a temp file. */
  readonly open: () => Promise<TemporaryFile>
  readonly buffers: SharedBufferPool
  readonly thread: () => HashThread
  /** Takes over a written file, to flush it and give it its name. */
  readonly receive: (id: BlockId, file: TemporaryFile) => Pick<ReceivedBlock, 'synced' | 'keep' | 'discard'>
}

export interface TemporaryFile {
  readonly handle: FileHandle
  readonly path: string
  /** Closes and removes it. */
  readonly discard: () => Promise<void>
}

/** A block that a thread hashes while it is written. */
interface LongBlock {
  readonly file: TemporaryFile
  readonly thread: HashThread
  /** The thread's number for the file. */
  readonly number: number
}

/** Writes a block as it arrives. A block longer than one buffer is hashed by a thread, a shorter one at its end on the event loop. */
export class FastBlockWriter implements BlockWriter {
  readonly #context: WriterContext
  #buffer: SharedBuffer | undefined
  /** Bytes in the buffer. */
  #filled = 0
  #size = 0
  #long: LongBlock | undefined

  constructor(context: WriterContext) {
    this.#context = context
  }

  write(piece: Uint8Array): Promise<void> | undefined {
    this.#size += piece.length
    const rest = this.#fill(piece)
    return this.#filled < SHARED_BUFFER_BYTES ? undefined : this.#writeOn(rest)
  }

  async finish(expected?: BlockId): Promise<ReceivedBlock> {
    if (this.#size === 0) throw new BlockStoreError('A block has at least one byte.')
    const { id, file } = this.#long === undefined ? await this.#writeShort() : await this.#endLong(this.#long)
    if (expected !== undefined && id !== expected) {
      await file.discard()
      throw new BlockMismatch(expected, id)
    }
    return { id, size: this.#size, ...this.#context.receive(id, file) }
  }

  async abort(): Promise<void> {
    if (this.#buffer !== undefined) this.#context.buffers.return(this.#takeBuffer())
    const long = this.#long
    if (long === undefined) return
    await long.thread.abandon(long.number)
    await long.file.discard()
  }

  /** Copies as much as fits and returns the rest. */
  #fill(piece: Uint8Array): Uint8Array {
    this.#buffer ??= this.#context.buffers.borrow()
    const taken = piece.subarray(0, SHARED_BUFFER_BYTES - this.#filled)
    const end = this.#filled + taken.length
    // V8 copies into shared memory byte by byte unless both ends are aligned; `fill` does it at full speed.
    if (taken.length > 0) this.#buffer.bytes.fill(taken, this.#filled, end)
    this.#filled = end
    return piece.subarray(taken.length)
  }

  /** Sends full buffers to the thread until the rest of a piece fits into one. */
  async #writeOn(piece: Uint8Array): Promise<void> {
    let rest = piece
    this.#long ??= await this.#beginLong()
    const { thread, number } = this.#long
    while (this.#filled === SHARED_BUFFER_BYTES) {
      await writing(UNNAMED, thread.write(number, this.#takeBuffer(), SHARED_BUFFER_BYTES))
      if (rest.length > 0) rest = this.#fill(rest)
    }
  }

  async #beginLong(): Promise<LongBlock> {
    const file = await this.#context.open()
    const thread = this.#context.thread()
    return { file, thread, number: thread.begin(file.handle) }
  }

  async #endLong({ file, thread, number }: LongBlock) {
    try {
      const length = this.#filled
      const id = await writing(UNNAMED, thread.finish(number, this.#takeBuffer(), length))
      return { id: id as BlockId, file }
    } catch (error) {
      await this.abort()
      throw error
    }
  }

  async #writeShort() {
    const length = this.#filled
    const buffer = this.#takeBuffer()
    const bytes = buffer.bytes.subarray(0, length)
    try {
      const id = createHash('sha1').update(bytes).digest('hex') as BlockId
      const file = await this.#context.open()
      try {
        await writing(UNNAMED, writeFully(file.handle, [bytes]))
      } catch (error) {
        await file.discard()
        throw error
      }
      return { id, file }
    } finally {
      this.#context.buffers.return(buffer)
    }
  }

  /** The caller returns it to the pool. */
  #takeBuffer(): SharedBuffer {
    const buffer = this.#buffer ?? this.#context.buffers.borrow()
    this.#buffer = undefined
    this.#filled = 0
    return buffer
  }
}
