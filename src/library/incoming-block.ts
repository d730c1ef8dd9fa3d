import { type BlockId, sha1Hex } from '../objects/ids.ts'
import type { BlockStore } from '../storage/block-store.ts'
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
  readonly #signal: AbortSignal | undefined
  #held: Buffer[] = []
  #size = 0
  #pipe: { pieces: Pieces; received: ReturnType<BlockStore['receive']> } | undefined

  constructor(store: BlockStore, smallestStored: number, signal: AbortSignal | undefined) {
    this.#store = store
    this.#smallest = smallestStored
    this.#signal = signal
  }

  get size(): number {
    return this.#size
  }

  /** Resolves when there is room for more. */
  async write(piece: Buffer): Promise<void> {
    this.#size += piece.length
    if (this.#pipe !== undefined) return this.#push(piece)
    this.#held.push(piece)
    if (this.#size < this.#smallest) return
    const pieces = new Pieces()
    const received = this.#store.receive(pieces, this.#signal)
    received.catch((error: unknown) => pieces.fail(error))
    this.#pipe = { pieces, received }
    for (const held of this.#held) await this.#push(held)
    this.#held = []
  }

  async finish(): Promise<TakenBlock> {
    if (this.#pipe !== undefined) {
      this.#pipe.pieces.end()
      return { ...(await this.#pipe.received), bytes: undefined }
    }
    const bytes = this.#held.length === 1 && this.#held[0] ? this.#held[0] : Buffer.concat(this.#held)
    const id = sha1Hex(bytes) as BlockId
    return { id, size: bytes.length, bytes, durable: Promise.resolve() }
  }

  /** Nothing of the block is kept. */
  async abort(reason: Error): Promise<void> {
    this.#held = []
    if (this.#pipe === undefined) return
    this.#pipe.pieces.fail(reason)
    await Promise.allSettled([this.#pipe.received])
  }

  async #push(piece: Buffer): Promise<void> {
    await this.#pipe?.pieces.push(piece)
  }
}

/** Pieces on their way from who pushes to who iterates, one at a time, so that neither runs ahead. */
class Pieces implements AsyncIterable<Buffer> {
  #next = Promise.withResolvers<Buffer | undefined>()
  #taken = Promise.withResolvers<void>()
  #ended = false

  async push(piece: Buffer): Promise<void> {
    this.#next.resolve(piece)
    await this.#taken.promise
  }

  end(): void {
    this.#ended = true
    this.#next.resolve(undefined)
  }

  fail(reason: unknown): void {
    if (this.#ended) return
    this.#ended = true
    this.#next.reject(reason)
    this.#taken.reject(reason)
    // Whoever waits hears of it; if nobody does, it is no unhandled rejection.
    void Promise.allSettled([this.#next.promise, this.#taken.promise])
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void> {
    for (;;) {
      const piece = await this.#next.promise
      if (piece === undefined) return
      if (!this.#ended) this.#next = Promise.withResolvers()
      const taken = this.#taken
      if (!this.#ended) this.#taken = Promise.withResolvers()
      taken.resolve()
      yield piece
    }
  }
}
