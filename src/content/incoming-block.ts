import { type BlockId, sha1Hex } from '../objects/index.ts'
import { BlockMismatch, type BlockStore, type BlockWriter, type ReceivedBlock } from '../storage/index.ts'
import type { SizedBlock } from './block-rows-store.ts'

/** A block that came in: either in the store, where it is kept or discarded, or small enough to be kept in a row. */
export interface TakenBlock extends SizedBlock {
  /** The bytes of a small block. */
  readonly bytes: Buffer | undefined
  readonly stored: ReceivedBlock | undefined
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
    if (this.#writer !== undefined) {
      const stored = await this.#writer.finish(expected)
      return { id: stored.id, size: stored.size, bytes: undefined, stored }
    }
    const bytes = this.#held.length === 1 && this.#held[0] ? this.#held[0] : Buffer.concat(this.#held)
    const id = sha1Hex(bytes) as BlockId
    if (expected !== undefined && id !== expected) throw new BlockMismatch(expected, id)
    return { id, size: bytes.length, bytes, stored: undefined }
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

/** Keeps blocks, none before all are on the disk. Resolves once all would survive a power cut (I4). */
export async function keepAll(blocks: readonly TakenBlock[]): Promise<void> {
  await allSynced(blocks)
  await Promise.all(storedOf(blocks).map((block) => block.keep()))
}

/** Resolves once the bytes of all are on the disk; they still need their names. */
export async function allSynced(blocks: readonly TakenBlock[]): Promise<void> {
  await Promise.all(storedOf(blocks).map((block) => block.synced))
}

/** Kept at a time: each is a few calls to the file system. */
const KEPT_AT_ONCE = 64

/** Blocks of files that belong together: none is kept before all have come. Disposing drops those that were not kept. */
export class UnkeptBlocks implements AsyncDisposable {
  readonly #blocks: TakenBlock[] = []

  add(blocks: readonly TakenBlock[]): void {
    for (const block of blocks) if (block.stored !== undefined) this.#blocks.push(block)
  }

  /** Resolves once all would survive a power cut (I4). */
  async keep(): Promise<void> {
    while (this.#blocks.length > 0) {
      await keepAll(this.#blocks.slice(0, KEPT_AT_ONCE))
      this.#blocks.splice(0, KEPT_AT_ONCE)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await discardAll(this.#blocks)
  }
}

export async function discardAll(blocks: readonly TakenBlock[]): Promise<void> {
  await Promise.all(storedOf(blocks).map((block) => block.discard()))
}

function storedOf(blocks: readonly TakenBlock[]): ReceivedBlock[] {
  return blocks.flatMap(({ stored }) => stored ?? [])
}
