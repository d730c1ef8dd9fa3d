import { type Fault, fail } from '../../base/errors.ts'
import { type BlockId, sha1Hex } from '../../base/objects/index.ts'
import {
  BlockMismatch,
  type BlockStore,
  type BlockWriter,
  type ReceivedBlock,
} from '../../platform/storage/index.ts'
import type { EncryptingBlock } from './block-encryption.ts'
import type { SizedBlock } from './block-rows-store.ts'

// Maximum blocks that are written and flushed while the next one is received.
const MAX_UNFLUSHED_BLOCKS = 4

/** A received block: either in the block store, still to be kept or discarded, or small enough for a database row. */
export interface TakenBlock extends SizedBlock {
  /** The bytes of a small block. */
  readonly bytes: Buffer | undefined
  readonly stored: ReceivedBlock | undefined
  /** Length of the padding, in an encrypted library. */
  readonly padding?: number
}

interface IncomingOptions {
  /** Called when the block is durable in the store, before `keep` resolves. */
  readonly onKept: (id: BlockId) => Promise<void>
  /** The fault while the disk has space only for what frees some. */
  readonly diskFault: () => Fault | undefined
}

/** A block being received. It is buffered in memory until it is too large for a database row. */
export class IncomingBlock {
  readonly #store: BlockStore
  readonly #smallest: number
  readonly #options: IncomingOptions
  #buffered: Buffer[] = []
  #size = 0
  #writer: BlockWriter | undefined

  constructor(store: BlockStore, smallestStored: number, options: IncomingOptions) {
    this.#store = store
    this.#smallest = smallestStored
    this.#options = options
  }

  get size(): number {
    return this.#size
  }

  /** Returns a promise if the caller has to wait before it writes more or reuses the piece (backpressure). Throws disk-full. */
  write(piece: Buffer): Promise<void> | undefined {
    this.#size += piece.length
    if (this.#size < this.#smallest) return void this.#buffered.push(Buffer.from(piece))
    // For each piece: an upload in progress must not take the space that deleting needs.
    const fault = this.#options.diskFault()
    if (fault !== undefined) fail(fault)
    if (this.#writer !== undefined) return this.#writer.write(piece)
    this.#writer = this.#store.begin()
    const buffered = this.#buffered
    this.#buffered = []
    return buffered.length === 0
      ? this.#writer.write(piece)
      : this.#writeAll(this.#writer, [...buffered, piece])
  }

  /** Throws BlockMismatch if the bytes do not hash to the expected id. */
  async finish(expected?: BlockId): Promise<TakenBlock> {
    if (this.#writer !== undefined) {
      const stored = this.#reported(await this.#writer.finish(expected))
      return { id: stored.id, size: stored.size, bytes: undefined, stored }
    }
    const bytes =
      this.#buffered.length === 1 && this.#buffered[0] ? this.#buffered[0] : Buffer.concat(this.#buffered)
    const id = sha1Hex(bytes) as BlockId
    if (expected !== undefined && id !== expected) throw new BlockMismatch(expected, id)
    return { id, size: bytes.length, bytes, stored: undefined }
  }

  /** Discards the block. */
  async abort(): Promise<void> {
    this.#buffered = []
    await this.#writer?.abort()
  }

  #reported(stored: ReceivedBlock): ReceivedBlock {
    const { id, size, synced } = stored
    const keep = async () => {
      await stored.keep()
      await this.#options.onKept(id)
    }
    return { id, size, synced, keep, discard: () => stored.discard() }
  }

  async #writeAll(writer: BlockWriter, pieces: readonly Buffer[]): Promise<void> {
    for (const piece of pieces) await writer.write(piece)
  }
}

/** Blocks received one after another. The next one is received while the previous ones are hashed, written and flushed. */
export class BlockSequence {
  readonly #incoming: () => IncomingBlock | EncryptingBlock
  readonly #taken: Promise<TakenBlock>[] = []
  #block: IncomingBlock | EncryptingBlock

  constructor(incoming: () => IncomingBlock | EncryptingBlock) {
    this.#incoming = incoming
    this.#block = incoming()
  }

  /** Bytes since the last cut. */
  get pending(): number {
    return this.#block.size
  }

  /** As IncomingBlock.write. */
  write(piece: Buffer): Promise<void> | undefined {
    return this.#block.write(piece)
  }

  /** Ends the current block. */
  async cut(): Promise<void> {
    const finished = this.#block.finish()
    finished.catch(() => {}) // The error is thrown where it is awaited.
    this.#taken.push(finished)
    this.#block = this.#incoming()
    await (await this.#taken.at(-1 - MAX_UNFLUSHED_BLOCKS))?.stored?.synced
  }

  /** All blocks, in order. Later calls have the later ones, too. */
  end(): Promise<TakenBlock[]> {
    return Promise.all(this.#taken)
  }

  /** Discards all blocks. */
  async abort(): Promise<void> {
    await this.#block.abort()
    const ended = await Promise.allSettled(this.#taken)
    await discardAll(ended.flatMap((one) => (one.status === 'fulfilled' ? one.value : [])))
  }
}

/** The bytes of small blocks by id. */
export function smallOf(blocks: readonly TakenBlock[]): Map<BlockId, Buffer> {
  const small = new Map<BlockId, Buffer>()
  for (const { id, bytes } of blocks) if (bytes !== undefined) small.set(id, bytes)
  return small
}

/** Keeps blocks, none before all are flushed. Resolves when all are durable (I4). */
export async function keepAll(blocks: readonly TakenBlock[]): Promise<void> {
  await allSynced(blocks)
  await Promise.all(storedOf(blocks).map((block) => block.keep()))
}

/** Resolves when all blocks are flushed. They still have no names. */
export async function allSynced(blocks: readonly TakenBlock[]): Promise<void> {
  await Promise.all(storedOf(blocks).map((block) => block.synced))
}

/** Blocks kept concurrently. Each takes a few file system calls. */
const CONCURRENT_KEEPS = 64

/** The blocks of several files of one upload. None is kept before all were received. Disposal discards the others. */
export class PendingBlocks implements AsyncDisposable {
  readonly #blocks: TakenBlock[] = []
  /** Bytes of the blocks that have got names. */
  keptBytes = 0

  /** Whether `keep` has something to do. */
  get isEmpty(): boolean {
    return this.#blocks.length === 0
  }

  add(blocks: readonly TakenBlock[]): void {
    for (const block of blocks) if (block.stored !== undefined) this.#blocks.push(block)
  }

  /** Resolves when all are durable (I4). */
  async keep(): Promise<void> {
    while (this.#blocks.length > 0) {
      const some = this.#blocks.slice(0, CONCURRENT_KEEPS)
      for (const { size } of some) this.keptBytes += size
      await keepAll(some)
      this.#blocks.splice(0, CONCURRENT_KEEPS)
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
