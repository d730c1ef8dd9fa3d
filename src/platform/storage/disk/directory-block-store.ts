import type { BlockId } from '../../../base/objects/index.ts'
import type { BlockSource } from '../index.ts'
import type { BlockDirectory } from './block-directory.ts'

/** What the disk stores have in common: they leave names to a block directory, and wait for their writes when they are closed. */
export abstract class DirectoryBlockStore implements AsyncDisposable {
  protected readonly files: BlockDirectory
  readonly #writes = new Set<Promise<unknown>>()

  constructor(files: BlockDirectory) {
    this.files = files
  }

  protected abstract write(id: BlockId, bytes: BlockSource, signal?: AbortSignal): Promise<void>

  async put(id: BlockId, bytes: BlockSource, signal?: AbortSignal): Promise<void> {
    await this.track(this.write(id, bytes, signal))
  }

  size(id: BlockId): Promise<number> {
    return this.files.size(id)
  }

  missing(ids: readonly BlockId[]): Promise<BlockId[]> {
    return this.files.missing(ids)
  }

  list(): AsyncGenerator<BlockId, void> {
    return this.files.list()
  }

  async retire(id: BlockId): Promise<void> {
    await this.files.retire(id)
  }

  restore(id: BlockId): Promise<boolean> {
    return this.files.restore(id)
  }

  listRetired(): AsyncGenerator<BlockId, void> {
    return this.files.listRetired()
  }

  discard(id: BlockId): Promise<number> {
    return this.files.discard(id)
  }

  deleteLeftovers(idleSeconds: number): Promise<number> {
    return this.files.deleteLeftovers(idleSeconds)
  }

  /** Waits for writes in progress. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#writes)
    this.files[Symbol.dispose]()
  }

  /** Closing the store waits for it. */
  protected async track<T>(write: Promise<T>): Promise<T> {
    this.#writes.add(write)
    try {
      return await write
    } finally {
      this.#writes.delete(write)
    }
  }
}
