import type { FileId, FileObject } from '../../base/objects/index.ts'
import { TwoGenerationCache } from '../../base/scheduling/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { BlockDamaged, BlockMissing, type ByteRange } from '../../platform/storage/index.ts'
import type { CacheEpochs } from '../tree/index.ts'
import { findHeldBlocks, type SizedBlock } from './block-rows-store.ts'
import { CIPHER_BLOCK_BYTES } from './data-key.ts'

/** A block of a file and the length of its padding, which is 0 unless the library is encrypted. */
interface LaidBlock extends SizedBlock {
  readonly padding: number
}

/** A range of a block, in bytes of plaintext. */
interface BlockPart {
  readonly block: LaidBlock
  readonly range: ByteRange
}

/** The blocks of a file with their offsets. The library is known to hold them. */
export class FileLayout {
  readonly size: number
  readonly blocks: readonly LaidBlock[]
  /** Offset of each block, followed by the end of the last one. */
  readonly #starts: Float64Array
  /** Stored bytes, padding included. */
  readonly #stored: number

  constructor(size: number, blocks: readonly LaidBlock[]) {
    this.size = size
    this.blocks = blocks
    this.#starts = new Float64Array(blocks.length + 1)
    let stored = 0
    for (const [index, block] of blocks.entries()) {
      stored += block.size
      this.#starts[index + 1] = (this.#starts[index] ?? 0) + block.size - block.padding
    }
    this.#stored = stored
  }

  /** The parts of blocks that a range consists of. Throws BlockDamaged if the blocks end before the range. */
  *partsOf({ start, end }: ByteRange): Generator<BlockPart, void> {
    if (end > (this.#starts.at(-1) ?? 0)) throw new BlockDamaged(this.#lastId(), 'its file ends too early')
    for (let index = this.#indexAt(start); ; index += 1) {
      const block = this.blocks[index]
      const from = this.#starts[index] ?? 0
      if (block === undefined || from >= end) return
      const length = block.size - block.padding
      yield { block, range: { start: Math.max(0, start - from), end: Math.min(length, end - from) } }
    }
  }

  /** As partsOf for a range within one block; undefined for others. */
  onlyPartOf({ start, end }: ByteRange): BlockPart | undefined {
    const index = this.#indexAt(start)
    const block = this.blocks[index]
    const from = this.#starts[index] ?? 0
    if (block === undefined || end > (this.#starts[index + 1] ?? 0)) return undefined
    return { block, range: { start: start - from, end: end - from } }
  }

  /**
   * Throws BlockDamaged unless the block sizes add up to the file size. Blocks of an encrypted library have padding, so reading
   * them without the key fails here instead of returning ciphertext.
   */
  checkPlain(): void {
    if (this.#stored < this.size) throw new BlockDamaged(this.#lastId(), 'its file ends too early')
    if (this.#stored > this.size) throw new BlockDamaged(this.#lastId(), 'it has more than its file')
  }

  /** The index of the block that contains an offset, by binary search. */
  #indexAt(position: number): number {
    let low = 0
    let high = this.blocks.length
    while (high - low > 1) {
      const middle = (low + high) >>> 1
      if ((this.#starts[middle] ?? 0) <= position) low = middle
      else high = middle
    }
    return low
  }

  #lastId() {
    return this.blocks.at(-1)?.id ?? ('of no name' as SizedBlock['id'])
  }
}

// The weight of one block of a layout is about 150 bytes: a few megabytes in total (I9).
const MAX_WEIGHT = 32_768
const WEIGHT_OF_LAYOUT = 4

/** Cache of file layouts, which each range request needs. */
export class FileLayouts {
  readonly #layouts = new TwoGenerationCache<string, FileLayout>(MAX_WEIGHT, weightOf)
  readonly #epochs: CacheEpochs

  constructor(epochs: CacheEpochs) {
    this.#epochs = epochs
  }

  /** To be taken before the rows are read, and handed to `put` with the layout. */
  get now(): number {
    return this.#epochs.now
  }

  find(libraryKey: number, id: FileId): FileLayout | undefined {
    return this.#layouts.get(this.#epochs.keyOf(libraryKey, id))
  }

  /** Caches a layout, unless something was deleted since `readAt`. */
  put(libraryKey: number, id: FileId, layout: FileLayout, readAt: number): void {
    if (readAt !== this.#epochs.now) return
    this.#layouts.set(this.#epochs.keyOf(libraryKey, id), layout)
  }

  clear(): void {
    this.#layouts.clear()
  }

  delete(libraryKey: number, id: FileId): void {
    this.#layouts.delete(this.#epochs.keyOf(libraryKey, id))
  }
}

function weightOf({ blocks }: FileLayout): number {
  return blocks.length + WEIGHT_OF_LAYOUT
}

/** Throws BlockMissing for a block that the library does not hold (I7). */
export async function layoutOf(db: Database, libraryKey: number, file: FileObject): Promise<FileLayout> {
  const sizes = await findHeldBlocks(db, libraryKey, file.blockIds, { orCondemned: true })
  const blocks = file.blockIds.map((id) => {
    const size = sizes.get(id)
    if (size === undefined) throw new BlockMissing(id)
    return { id, size, padding: 0 }
  })
  return new FileLayout(file.size, blocks)
}

const CONCURRENT_READS = 8

/**
 * The layout of an encrypted file. `paddingOf` reads the end of each block. A file of one block does not need it, because the file
 * size determines the padding. Throws BlockDamaged if the blocks do not add up to the file size.
 */
export async function paddedLayoutOf(
  { size, blocks }: FileLayout,
  paddingOf: (block: SizedBlock) => Promise<number>,
): Promise<FileLayout> {
  const [only] = blocks
  if (only === undefined) return new FileLayout(size, blocks)
  const padded: LaidBlock[] = []
  if (blocks.length === 1) padded.push({ ...only, padding: only.size - size })
  else {
    for (let start = 0; start < blocks.length; start += CONCURRENT_READS) {
      const some = blocks.slice(start, start + CONCURRENT_READS)
      padded.push(
        ...(await Promise.all(some.map(async (one) => ({ ...one, padding: await paddingOf(one) })))),
      )
    }
  }
  const length = padded.reduce((sum, block) => sum + block.size - block.padding, 0)
  const invalid = padded.find(({ padding }) => padding < 1 || padding > CIPHER_BLOCK_BYTES)
  if (invalid !== undefined || length !== size) {
    throw new BlockDamaged((invalid ?? only).id, 'its file has another size')
  }
  return new FileLayout(size, padded)
}
