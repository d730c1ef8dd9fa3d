import type { Database } from '../database/index.ts'
import type { FileId, FileObject } from '../objects/index.ts'
import { TwoGenerationCache } from '../scheduling/index.ts'
import { BlockDamaged, BlockMissing, type ByteRange } from '../storage/index.ts'
import { findHeldBlocks, type SizedBlock } from './block-rows-store.ts'
import { CIPHER_BLOCK_BYTES } from './data-key.ts'

/** A block of a file, and how much of it is padding: none unless the library is encrypted. */
export interface LaidBlock extends SizedBlock {
  readonly padding: number
}

/** A part of a block, in bytes of the file's content. */
export interface BlockPart {
  readonly block: LaidBlock
  readonly range: ByteRange
}

/** A file whose blocks the library was seen to hold, and where each of them begins. */
export class FileLayout {
  readonly size: number
  readonly blocks: readonly LaidBlock[]
  /** One more than there are blocks: the last is where the last block ends. */
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

  /** The parts of blocks that make up a range. Throws BlockDamaged where the blocks end before it does. */
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

  /** As partsOf, for a range that lies in one block; undefined for any other. */
  onlyPartOf({ start, end }: ByteRange): BlockPart | undefined {
    const index = this.#indexAt(start)
    const block = this.blocks[index]
    const from = this.#starts[index] ?? 0
    if (block === undefined || end > (this.#starts[index + 1] ?? 0)) return undefined
    return { block, range: { start: start - from, end: end - from } }
  }

  /**
   * Throws BlockDamaged unless the blocks amount to the file and nothing else. Those of an encrypted library have
   * padding: what is read without its key ends here, and not as garbage in somebody's file.
   */
  checkPlain(): void {
    if (this.#stored < this.size) throw new BlockDamaged(this.#lastId(), 'its file ends too early')
    if (this.#stored > this.size) throw new BlockDamaged(this.#lastId(), 'it has more than its file')
  }

  /** The block that holds a byte, found by halving. */
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

// A block of a layout takes some 150 bytes, and a layout as much as four of them: a few megabytes at most (I9).
const MOST_WEIGHT = 32_768
const WEIGHT_OF_LAYOUT = 4

/** Remembers the layouts of files used last: every range asked for needs them again. */
export class FileLayouts {
  readonly #layouts = new TwoGenerationCache<string, FileLayout>(MOST_WEIGHT, weightOf)

  find(libraryKey: number, id: FileId): FileLayout | undefined {
    return this.#layouts.get(`${libraryKey}:${id}`)
  }

  remember(libraryKey: number, id: FileId, layout: FileLayout): void {
    this.#layouts.set(`${libraryKey}:${id}`, layout)
  }
}

function weightOf({ blocks }: FileLayout): number {
  return blocks.length + WEIGHT_OF_LAYOUT
}

/** Throws BlockMissing for a block the library does not hold (I7). */
export async function layoutOf(db: Database, libraryKey: number, file: FileObject): Promise<FileLayout> {
  const sizes = await findHeldBlocks(db, libraryKey, file.blockIds)
  const blocks = file.blockIds.map((id) => {
    const size = sizes.get(id)
    if (size === undefined) throw new BlockMissing(id)
    return { id, size, padding: 0 }
  })
  return new FileLayout(file.size, blocks)
}

const PADDINGS_AT_ONCE = 8

/**
 * The layout of an encrypted file. All but a file of one block, whose size says it, need `paddingOf`, which
 * looks at the end of each block. Throws BlockDamaged where the blocks do not amount to the file.
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
    for (let start = 0; start < blocks.length; start += PADDINGS_AT_ONCE) {
      const some = blocks.slice(start, start + PADDINGS_AT_ONCE)
      padded.push(
        ...(await Promise.all(some.map(async (one) => ({ ...one, padding: await paddingOf(one) })))),
      )
    }
  }
  const length = padded.reduce((sum, block) => sum + block.size - block.padding, 0)
  const odd = padded.find(({ padding }) => padding < 1 || padding > CIPHER_BLOCK_BYTES)
  if (odd !== undefined || length !== size) {
    throw new BlockDamaged((odd ?? only).id, 'its file has another size')
  }
  return new FileLayout(size, padded)
}
