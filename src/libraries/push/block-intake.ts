import { fail } from '../../base/errors.ts'
import { type BlockId, sha1Hex } from '../../base/objects/index.ts'
import { batchSettled } from '../../base/scheduling/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { blockRows, type ContentStore, SMALLEST_STORED_BLOCK, type TakenBlock } from '../content/index.ts'
import type { EditableLibrary } from '../library/index.ts'
import { isGuestIn, type Uncommitted } from './uncommitted.ts'
import { insertUncommitted } from './uncommitted-store.ts'

// Bounds the duration of one transaction.
const LARGEST_BATCH = 256

interface Waiting {
  readonly libraryKey: number
  readonly isGuest: boolean
  readonly block: TakenBlock
  resolve(): void
  reject(error: unknown): void
}

/**
 * Batches blocks that clients send one by one. All blocks received while the previous batch was flushed form
 * the next batch: one transaction with one flush.
 */
export class BlockIntake {
  readonly #db: Database
  readonly #content: ContentStore
  readonly #uncommitted: Uncommitted
  readonly #now: () => number
  #waiting: Waiting[] = []
  #isDraining = false

  constructor(db: Database, content: ContentStore, uncommitted: Uncommitted, now: () => number) {
    this.#db = db
    this.#content = content
    this.#uncommitted = uncommitted
    this.#now = now
  }

  /**
   * Resolves once the library holds the block (I7) and it is durable (I4). Throws block-mismatch,
   * quota-exceeded.
   */
  async put(library: EditableLibrary, id: BlockId, bytes: Buffer): Promise<void> {
    if (bytes.length >= SMALLEST_STORED_BLOCK) return this.receive(library, id, one(bytes))
    if (bytes.length === 0 || sha1Hex(bytes) !== id) fail({ code: 'block-mismatch', id })
    using _taken = await this.#uncommitted.take(library, 'blocks', bytes.length)
    await this.#hold(library, { id, size: bytes.length, bytes, stored: undefined })
  }

  /** As put, for a block that arrives as a stream. Its bytes are taken from the allowance as they arrive. Also throws what the source throws. */
  async receive(library: EditableLibrary, id: BlockId, source: AsyncIterable<Buffer>): Promise<void> {
    using taken = new DisposableStack()
    const uncommitted = this.#uncommitted
    const paid = async function* () {
      for await (const piece of source) {
        taken.use(await uncommitted.take(library, 'blocks', piece.length))
        yield piece
      }
    }
    const block = await this.#content.receiveBlock(id, paid())
    await block.stored?.keep()
    await this.#hold(library, block)
  }

  #hold(library: EditableLibrary, block: TakenBlock): Promise<void> {
    return new Promise((resolve, reject) => {
      const isGuest = isGuestIn(library)
      this.#waiting.push({ libraryKey: library.info.key, isGuest, block, resolve, reject })
      if (!this.#isDraining) void this.#drain()
    })
  }

  async #drain(): Promise<void> {
    this.#isDraining = true
    while (this.#waiting.length > 0) {
      await batchSettled(this.#waiting, LARGEST_BATCH)
      await this.#store(this.#waiting.splice(0, LARGEST_BATCH))
    }
    this.#isDraining = false
  }

  /** Resolves once the batch is committed. The next batch is written while this one is flushed. */
  #store(batch: readonly Waiting[]): Promise<void> {
    const small = new Map<BlockId, Buffer>()
    for (const { block } of batch) if (block.bytes !== undefined) small.set(block.id, block.bytes)
    const held = batch.map(({ libraryKey, isGuest, block: { id, size } }) => ({
      libraryKey,
      isGuest,
      id,
      size,
    }))
    const { promise: committed, resolve: onCommitted } = Promise.withResolvers<void>()
    const durable = this.#db.write(
      async (tx) => {
        await Promise.all([
          insertUncommitted(tx, this.#db.dialect, held, this.#now()),
          blockRows.store(tx, held, small),
        ])
      },
      { onCommitted },
    )
    void answerWhenDurable(batch, durable).then(onCommitted)
    return committed
  }
}

async function answerWhenDurable(batch: readonly Waiting[], durable: Promise<void>): Promise<void> {
  try {
    await durable
    for (const waiting of batch) waiting.resolve()
  } catch (error) {
    for (const waiting of batch) waiting.reject(error)
  }
}

async function* one(bytes: Buffer): AsyncGenerator<Buffer, void> {
  yield bytes
}
