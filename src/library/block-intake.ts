import type { Database } from '../database/database.ts'
import { fail } from '../errors.ts'
import { type BlockId, sha1Hex } from '../objects/ids.ts'
import { insertHeldBlocksOf, insertSmallBlocks } from './block-rows-store.ts'
import { type ContentStore, SMALLEST_STORED_BLOCK } from './content.ts'
import type { TakenBlock } from './incoming-block.ts'
import type { EditableLibrary } from './library.ts'
import { gathered } from './pace.ts'

// Bounds the time one transaction takes.
const LARGEST_BATCH = 256

interface Waiting {
  readonly libraryKey: number
  readonly block: TakenBlock
  resolve(): void
  reject(error: unknown): void
}

/**
 * Takes blocks that clients send one by one, many clients at once: all that came in while the last batch went to the disk
 * are the next one, in one transaction with one sync.
 */
export class BlockIntake {
  readonly #db: Database
  readonly #content: ContentStore
  #waiting: Waiting[] = []
  #isDraining = false

  constructor(db: Database, content: ContentStore) {
    this.#db = db
    this.#content = content
  }

  /** Resolves once the block is the library's (I7) and would survive a power cut (I4). Throws block-mismatch. */
  put(library: EditableLibrary, id: BlockId, bytes: Buffer): Promise<void> {
    if (bytes.length >= SMALLEST_STORED_BLOCK) return this.receive(library, id, one(bytes))
    if (bytes.length === 0 || sha1Hex(bytes) !== id) fail({ code: 'block-mismatch', id })
    return this.#hold(library, { id, size: bytes.length, bytes, stored: undefined })
  }

  /** As put, for a block that comes in pieces. Throws what the source throws, too. */
  async receive(library: EditableLibrary, id: BlockId, source: AsyncIterable<Buffer>): Promise<void> {
    const taken = await this.#content.receiveBlock(id, source)
    await taken.stored?.keep()
    await this.#hold(library, taken)
  }

  #hold(library: EditableLibrary, block: TakenBlock): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ libraryKey: library.info.key, block, resolve, reject })
      if (!this.#isDraining) void this.#drain()
    })
  }

  async #drain(): Promise<void> {
    this.#isDraining = true
    while (this.#waiting.length > 0) {
      await gathered(this.#waiting, LARGEST_BATCH)
      await this.#store(this.#waiting.splice(0, LARGEST_BATCH))
    }
    this.#isDraining = false
  }

  /** Resolves once the batch is committed, so that the next one is written while this one reaches the disk. */
  #store(batch: readonly Waiting[]): Promise<void> {
    const small = new Map<BlockId, Buffer>()
    for (const { block } of batch) if (block.bytes !== undefined) small.set(block.id, block.bytes)
    const held = batch.map(({ libraryKey, block: { id, size } }) => ({ libraryKey, id, size }))
    const { promise: committed, resolve: onCommitted } = Promise.withResolvers<void>()
    const durable = this.#db.write(
      async (tx) => {
        await insertSmallBlocks(tx, small)
        await insertHeldBlocksOf(tx, held)
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
