import type { BlockId } from '../../../base/objects/index.ts'
import {
  BlockMissing,
  type BlockSource,
  type BlockStore,
  type BlockWriter,
  type BorrowedBytes,
  type ByteRange,
  type ReadOptions,
} from '../index.ts'

/**
 * Two stores while blocks are moved from one to the other. Everything is written to the first one. A block that it lacks is read from the second
 * one, which garbage collection leaves alone: what it holds is listed, retired and discarded once it was copied.
 */
export class MigratingBlockStore implements BlockStore {
  readonly #store: BlockStore
  readonly #other: BlockStore

  /** Owns both stores. */
  constructor(store: BlockStore, other: BlockStore) {
    this.#store = store
    this.#other = other
  }

  /** The two stores, the one that is written to first. */
  get stores(): readonly [BlockStore, BlockStore] {
    return [this.#store, this.#other]
  }

  put(id: BlockId, bytes: BlockSource, signal?: AbortSignal): Promise<void> {
    return this.#store.put(id, bytes, signal)
  }

  begin(): BlockWriter {
    return this.#store.begin()
  }

  async *read(id: BlockId, range?: ByteRange, options?: ReadOptions): AsyncGenerator<Buffer, void> {
    let isGiven = false
    try {
      for await (const chunk of this.#store.read(id, range, options)) {
        isGiven = true
        yield chunk
      }
      return
    } catch (error) {
      if (isGiven || !(error instanceof BlockMissing)) throw error
    }
    yield* this.#other.read(id, range, options)
  }

  readAtOnce(id: BlockId, range: ByteRange): Promise<BorrowedBytes> {
    return this.#inEither((store) => store.readAtOnce(id, range))
  }

  size(id: BlockId, options?: Pick<ReadOptions, 'stored'>): Promise<number> {
    return this.#inEither((store) => store.size(id, options))
  }

  async missing(ids: readonly BlockId[]): Promise<BlockId[]> {
    const missing = await this.#store.missing(ids)
    return missing.length === 0 ? [] : this.#other.missing(missing)
  }

  list(): AsyncIterable<BlockId> {
    return this.#store.list()
  }

  retire(id: BlockId): Promise<void> {
    return this.#store.retire(id)
  }

  restore(id: BlockId): Promise<boolean> {
    return this.#store.restore(id)
  }

  listRetired(): AsyncIterable<BlockId> {
    return this.#store.listRetired()
  }

  discard(id: BlockId): Promise<number> {
    return this.#store.discard(id)
  }

  async deleteLeftovers(idleSeconds: number): Promise<number> {
    const bytes = await this.#store.deleteLeftovers(idleSeconds)
    return bytes + (await this.#other.deleteLeftovers(idleSeconds))
  }

  releaseBuffers(): void {
    for (const store of this.stores) store.releaseBuffers?.()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await using _other = this.#other
    await this.#store[Symbol.asyncDispose]()
  }

  async #inEither<T>(call: (store: BlockStore) => Promise<T>): Promise<T> {
    try {
      return await call(this.#store)
    } catch (error) {
      if (!(error instanceof BlockMissing)) throw error
      return call(this.#other)
    }
  }
}
