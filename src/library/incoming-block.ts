import { type BlockId, sha1Hex } from '../objects/ids.ts'
import { BlockMismatch, type BlockStore, type BlockWriter } from '../storage/block-store.ts'
import type { SizedBlock } from './block-rows-store.ts'

/** A block that came in: at rest in the store once `durable` resolves, or small enough to be kept in a row. */
export interface TakenBlock extends SizedBlock {
  /** The bytes of a small block. */
  readonly bytes: Buffer | undefined
  readonly durable: Promise<void>
  /** How much of its end is no content, in an encrypted library. */
  readonly padding?: number
}

/** A block that is coming in piece by piece. It is held in memory until it is too large for a row. */
export class IncomingBlock {
  readonly #store: BlockStore
  readonly #smallest: number
  #held: Buffer[] = []
  #size = 0
  #writer: BlockWriter | undefined

  constructor(store: BlockStore, smallestStored: number) {
    this.#store = store
    this.#smallest = smallestStored
  }

  get size(): number {
    return this.#size
  }

  /** Gives a promise if the caller is to wait before it brings more, or changes the piece. */
  write(piece: Buffer): Promise<void> | undefined {
    this.#size += piece.length
    if (this.#writer !== undefined) return this.#writer.write(piece)
    if (this.#size < this.#smallest) return void this.#held.push(Buffer.from(piece))
    this.#writer = this.#store.begin()
    const held = this.#held
    this.#held = []
    return held.length === 0 ? this.#writer.write(piece) : this.#writeAll(this.#writer, [...held, piece])
  }

  /** Throws BlockMismatch if the bytes are not those of the id that was expected, if one was. */
  async finish(expected?: BlockId): Promise<TakenBlock> {
    if (this.#writer !== undefined) return { ...(await this.#writer.finish(expected)), bytes: undefined }
    const bytes = this.#held.length === 1 && this.#held[0] ? this.#held[0] : Buffer.concat(this.#held)
    const id = sha1Hex(bytes) as BlockId
    if (expected !== undefined && id !== expected) throw new BlockMismatch(expected, id)
    return { id, size: bytes.length, bytes, durable: Promise.resolve() }
  }

  /** Nothing of the block is kept. */
  async abort(): Promise<void> {
    this.#held = []
    await this.#writer?.abort()
  }

  async #writeAll(writer: BlockWriter, pieces: readonly Buffer[]): Promise<void> {
    for (const piece of pieces) await writer.write(piece)
  }
}
