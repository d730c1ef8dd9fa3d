import { type BlockId, sha1Hex } from '../../src/base/objects/index.ts'
import {
  BlockDamaged,
  BlockMismatch,
  BlockMissing,
  type BlockSource,
  type BlockStore,
  BlockStoreError,
  type BlockWriter,
  type BorrowedBytes,
  type ByteRange,
  verifiedWrite,
} from '../../src/platform/storage/index.ts'

/** Blocks in memory, for tests. */
export class MemoryBlockStore implements BlockStore {
  readonly #blocks = new Map<BlockId, Buffer>()
  readonly #retired = new Map<BlockId, Buffer>()

  async put(id: BlockId, bytes: BlockSource, signal?: AbortSignal): Promise<void> {
    const slices: Uint8Array[] = []
    for await (const slice of verifiedWrite(id, bytes, signal)) slices.push(slice)
    this.#set(id, Buffer.concat(slices))
  }

  begin(): BlockWriter {
    const pieces: Uint8Array[] = []
    return {
      write: (piece) => void pieces.push(Buffer.from(piece)),
      finish: async (expected) => {
        const block = Buffer.concat(pieces)
        if (block.length === 0) throw new BlockStoreError('A block has at least one byte.')
        const id = sha1Hex(block) as BlockId
        if (expected !== undefined && id !== expected) throw new BlockMismatch(expected, id)
        return {
          id,
          size: block.length,
          synced: Promise.resolve(),
          keep: async () => this.#set(id, block),
          discard: async () => {},
        }
      },
      abort: async () => void pieces.splice(0),
    }
  }

  // Bytes in memory cannot be damaged, so reads are not verified.
  async *read(id: BlockId, range?: ByteRange): AsyncGenerator<Buffer, void> {
    const block = this.#get(id)
    const { start, end } = range ?? { start: 0, end: block.length }
    if (end > block.length) throw new BlockDamaged(id, `it has ${block.length} bytes, not ${end}`)
    if (end > start) yield Buffer.from(block.subarray(start, end))
  }

  async readAtOnce(id: BlockId, { start, end }: ByteRange): Promise<BorrowedBytes> {
    const block = this.#get(id)
    if (end > block.length) throw new BlockDamaged(id, `it has ${block.length} bytes, not ${end}`)
    return { bytes: Buffer.from(block.subarray(start, end)), release: undefined }
  }

  async size(id: BlockId): Promise<number> {
    return this.#get(id).length
  }

  async missing(ids: readonly BlockId[]): Promise<BlockId[]> {
    return ids.filter((id) => this.#find(id) === undefined)
  }

  async *list(): AsyncGenerator<BlockId, void> {
    yield* [...this.#blocks.keys()].sort()
  }

  async retire(id: BlockId): Promise<void> {
    const block = this.#blocks.get(id)
    if (block === undefined) return
    this.#blocks.delete(id)
    this.#retired.set(id, block)
  }

  async restore(id: BlockId): Promise<boolean> {
    return this.#takeBack(id) !== undefined
  }

  async *listRetired(): AsyncGenerator<BlockId, void> {
    yield* [...this.#retired.keys()].sort()
  }

  async discard(id: BlockId): Promise<number> {
    const size = this.#retired.get(id)?.length ?? 0
    this.#retired.delete(id)
    return size
  }

  async deleteLeftovers(): Promise<number> {
    return 0
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#blocks.clear()
    this.#retired.clear()
  }

  #set(id: BlockId, block: Buffer): void {
    this.#retired.delete(id)
    this.#blocks.set(id, block)
  }

  #get(id: BlockId): Buffer {
    const block = this.#find(id)
    if (block === undefined) throw new BlockMissing(id)
    return block
  }

  #find(id: BlockId): Buffer | undefined {
    return this.#blocks.get(id) ?? this.#takeBack(id)
  }

  #takeBack(id: BlockId): Buffer | undefined {
    const block = this.#retired.get(id)
    if (block === undefined) return undefined
    this.#retired.delete(id)
    this.#blocks.set(id, block)
    return block
  }
}
