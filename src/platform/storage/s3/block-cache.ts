import type { BlockId } from '../../../base/objects/index.ts'
import { BlockMissing, type BlockStore } from '../index.ts'

/**
 * Bounds the blocks in a disk store that serves as a cache: evicts the least recently used ones. Pinned blocks stay, so the limit is
 * exceeded while more bytes than that are in use. The index costs about 100 bytes of memory per block.
 */
export class BlockCache {
  readonly #store: BlockStore
  readonly #maxBytes: number
  /** Sizes, least recently used first. */
  readonly #sizes = new Map<BlockId, number>()
  readonly #pins = new Map<BlockId, number>()
  #bytes = 0
  #evicting: Promise<void> | undefined

  constructor(store: BlockStore, maxBytes: number) {
    this.#store = store
    this.#maxBytes = maxBytes
  }

  get bytes(): number {
    return this.#bytes
  }

  has(id: BlockId): boolean {
    return this.#sizes.has(id)
  }

  /** Counts what other processes, or this one before a restart, left in the store. */
  async load(): Promise<void> {
    for await (const id of this.#store.list()) {
      if (this.#sizes.has(id)) continue
      const size = await this.#store.size(id).catch(ignoreMissing)
      if (size !== undefined && !this.#sizes.has(id)) this.add(id, size)
    }
  }

  /** Counts a block that was written, as the most recently used one. */
  add(id: BlockId, size: number): void {
    this.#bytes += size - (this.#sizes.get(id) ?? 0)
    this.#sizes.delete(id)
    this.#sizes.set(id, size)
    this.#startEvicting()
  }

  /** Makes a block the most recently used one. */
  touch(id: BlockId): void {
    const size = this.#sizes.get(id)
    if (size === undefined) return
    this.#sizes.delete(id)
    this.#sizes.set(id, size)
  }

  /** Keeps a block until the result is disposed of. */
  pin(id: BlockId): Disposable {
    this.#pins.set(id, (this.#pins.get(id) ?? 0) + 1)
    let isPinned = true
    return {
      [Symbol.dispose]: () => {
        if (!isPinned) return
        isPinned = false
        const left = (this.#pins.get(id) ?? 1) - 1
        if (left > 0) this.#pins.set(id, left)
        else this.#pins.delete(id)
        this.#startEvicting()
      },
    }
  }

  async evict(id: BlockId): Promise<void> {
    await this.#store.retire(id)
    // A reader that came in between has taken the file back.
    const freed = await this.#store.discard(id)
    if (freed === 0 && (await this.#store.missing([id])).length === 0) return
    this.#bytes -= this.#sizes.get(id) ?? 0
    this.#sizes.delete(id)
  }

  /** Evicts so many bytes, the least recently used first, because the disk is full. Resolves to the bytes that it freed. */
  async makeRoom(bytes: number): Promise<number> {
    const before = this.#bytes
    for (const id of this.#sizes.keys()) {
      if (before - this.#bytes >= bytes) break
      if (!this.#pins.has(id)) await this.evict(id)
    }
    return Math.max(0, before - this.#bytes)
  }

  /** Resolves when no eviction is running. */
  async settled(): Promise<void> {
    await this.#evicting
  }

  #startEvicting(): void {
    if (this.#bytes <= this.#maxBytes) return
    // What cannot be evicted now is tried again with the next block.
    this.#evicting ??= this.#evictAll()
      .catch(() => {})
      .finally(() => (this.#evicting = undefined))
  }

  async #evictAll(): Promise<void> {
    for (const id of this.#sizes.keys()) {
      if (this.#bytes <= this.#maxBytes) return
      if (!this.#pins.has(id)) await this.evict(id)
    }
  }
}

function ignoreMissing(error: unknown): undefined {
  if (!(error instanceof BlockMissing)) throw error
}
