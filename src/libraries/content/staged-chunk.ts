import type { BlockId, Cutter } from '../../base/objects/index.ts'
import type { ByteRange } from '../../platform/storage/index.ts'
import type { EncryptingBlock } from './block-encryption.ts'
import {
  allSynced,
  BlockSequence,
  type IncomingBlock,
  keepAll,
  smallOf,
  type TakenBlock,
} from './incoming-block.ts'
import type { StagedBlock } from './staged-block-store.ts'

/** Pieces of an incomplete block. The next chunk makes one of them, so that tiny chunks do not add up to thousands of pieces. */
const MAX_PIECES = 64

/** The place of a chunk in its file. */
export interface ChunkSpan extends ByteRange {
  /** Bytes of the whole file. */
  readonly total: number
}

/** A received chunk, cut into blocks. They are flushed, and still to be kept or discarded. */
export interface StagedChunk {
  /** The blocks of the upload that begin here or later are replaced by those of this chunk. */
  readonly from: number
  readonly blocks: readonly StagedBlock[]
  readonly taken: readonly TakenBlock[]
  /** The bytes of small blocks, which are stored by the transaction that records the chunk. */
  readonly small: ReadonlyMap<BlockId, Uint8Array>
}

/** What staging needs of the content store. */
interface StagingParts {
  readonly cutter: Cutter
  readonly incoming: () => IncomingBlock | EncryptingBlock
  readonly read: (
    blocks: readonly StagedBlock[],
    range: ByteRange,
    small: ReadonlyMap<BlockId, Uint8Array>,
  ) => AsyncIterable<Buffer>
}

/**
 * Cuts a chunk of an upload into blocks where the whole file would be cut. `earlier` are the blocks of the upload from the one on that
 * contains the start of the chunk; none if the chunk is received by itself. What is left after the last cut becomes a piece, which the next chunk continues.
 */
export async function stageChunk(
  parts: StagingParts,
  chunk: ChunkSpan,
  earlier: readonly StagedBlock[],
  source: AsyncIterable<Buffer>,
): Promise<StagedChunk> {
  const staging = new Staging(parts, chunk, earlier)
  try {
    await staging.receive(source)
    return await staging.end()
  } catch (error) {
    await staging.abort()
    throw error
  }
}

const noSmall: ReadonlyMap<BlockId, Uint8Array> = new Map()

class Staging {
  readonly #parts: StagingParts
  readonly #chunk: ChunkSpan
  /** Blocks of the upload that the chunk changes: the pieces before it, and what it overlaps. */
  readonly #earlier: readonly StagedBlock[]
  /** Where the block begins that the chunk continues. */
  readonly #base: number
  readonly #received: number
  /** Whether the bytes of the chunk become a piece of their own until a block is complete, instead of being copied with the pieces before them. */
  #isPiece: boolean
  readonly #sequence: BlockSequence
  readonly #spans: { offset: number; length: number; isFinal: boolean }[] = []
  /** Blocks of the upload after the chunk that stay as they are. */
  #adopted: readonly StagedBlock[] = []
  /** The piece that was completed to a block. */
  #merged: TakenBlock[] = []
  /** Where the current block begins, and where the next byte goes. */
  #start: number
  #position: number

  constructor(parts: StagingParts, chunk: ChunkSpan, blocks: readonly StagedBlock[]) {
    this.#parts = parts
    this.#chunk = chunk
    const first = blocks.findIndex((block) => !block.isFinal || endOf(block) > chunk.start)
    this.#earlier = first === -1 ? [] : blocks.slice(first)
    this.#base = this.#earlier[0]?.offset ?? chunk.start
    const last = this.#earlier.at(-1)
    this.#received = last === undefined ? chunk.start : endOf(last)
    const { max } = parts.cutter.sizes
    this.#isPiece =
      this.#base < chunk.start &&
      this.#received === chunk.start &&
      chunk.end < chunk.total &&
      chunk.end - this.#base < max &&
      this.#earlier.length < MAX_PIECES
    this.#start = this.#isPiece ? chunk.start : this.#base
    this.#position = this.#start
    this.#sequence = new BlockSequence(parts.incoming)
  }

  async receive(source: AsyncIterable<Buffer>): Promise<void> {
    const { start, end } = this.#chunk
    const { cutter } = this.#parts
    if (!this.#isPiece) await this.#write(this.#read({ start: this.#base, end: start }))
    else if (end - this.#base >= cutter.sizes.min) {
      for await (const bytes of this.#read({ start: this.#base, end: start })) cutter.next(bytes)
    }
    await this.#write(source)
    if (end < this.#received) await this.#writeRest()
    if (this.#sequence.pending > 0) await this.#cut(this.#position === this.#chunk.total)
  }

  async end(): Promise<StagedChunk> {
    const taken = await this.#sequence.end()
    await allSynced(taken)
    // The piece that was completed to a block is not part of the upload any more.
    const own = taken.filter((block) => !this.#merged.includes(block))
    const blocks = own.map(({ id, size }, index): StagedBlock => {
      const span = this.#spans[index]
      if (span === undefined) throw new Error('a block has no place')
      return { id, size, ...span }
    })
    const from = Math.min(this.#start, blocks[0]?.offset ?? this.#start)
    return { from, blocks: [...blocks, ...this.#adopted], taken: own, small: smallOf(own) }
  }

  abort(): Promise<void> {
    return this.#sequence.abort()
  }

  #read(range: ByteRange): AsyncIterable<Buffer> {
    return this.#parts.read(this.#earlier, range, noSmall)
  }

  async #write(source: AsyncIterable<Buffer>): Promise<void> {
    const { cutter } = this.#parts
    // A piece that is too short to complete a block is not searched for its end.
    const isSearched = !this.#isPiece || this.#chunk.end - this.#base >= cutter.sizes.min
    for await (const bytes of source) {
      for (let from = 0; from < bytes.length; ) {
        const end = isSearched ? cutter.next(bytes, from) : undefined
        const wait = this.#sequence.write(bytes.subarray(from, end))
        if (wait !== undefined) await wait
        this.#position += (end ?? bytes.length) - from
        from = end ?? bytes.length
        if (end === undefined) continue
        if (this.#isPiece) await this.#merge()
        else await this.#cut(true)
      }
    }
  }

  async #cut(isFinal: boolean): Promise<void> {
    await this.#sequence.cut()
    this.#spans.push({ offset: this.#start, length: this.#position - this.#start, isFinal })
    this.#start = this.#position
  }

  /** Completes a block from the pieces before the chunk and the first bytes of the chunk, which were received as a piece. */
  async #merge(): Promise<void> {
    await this.#sequence.cut()
    this.#merged = await this.#sequence.end()
    await keepAll(this.#merged)
    const { start } = this.#chunk
    const piece = this.#merged.map(
      ({ id, size }): StagedBlock => ({
        id,
        size,
        offset: start,
        length: this.#position - start,
        isFinal: false,
      }),
    )
    const whole = { start: this.#base, end: this.#position }
    const bytes = this.#parts.read([...this.#earlier, ...piece], whole, smallOf(this.#merged))
    for await (const part of bytes) await this.#sequence.write(part)
    this.#isPiece = false
    this.#start = this.#base
    await this.#cut(true)
  }

  /**
   * What was stored after the end of the chunk is cut again, up to a place where both have a cut. From there on the blocks stay as they are.
   */
  async #writeRest(): Promise<void> {
    const { end } = this.#chunk
    const rest = this.#earlier.filter((block) => endOf(block) > end)
    const firstPiece = this.#earlier.find((block) => !block.isFinal)
    for (const [index, block] of rest.entries()) {
      const isAtCut = block.isFinal || block === firstPiece
      if (isAtCut && this.#sequence.pending === 0 && this.#position === block.offset) {
        this.#adopted = rest.slice(index)
        return
      }
      await this.#write(this.#read({ start: Math.max(end, block.offset), end: endOf(block) }))
    }
  }
}

function endOf({ offset, length }: StagedBlock): number {
  return offset + length
}
