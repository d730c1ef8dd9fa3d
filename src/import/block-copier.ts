import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { SMALLEST_STORED_BLOCK } from '../content/index.ts'
import { type BlockId, sha1Hex } from '../objects/index.ts'
import { BlockMismatch, type BlockStore } from '../storage/index.ts'

const CONCURRENT_BLOCKS = 8
const CHUNK_BYTES = 1024 * 1024

/** How blocks get into the block store. */
export interface BlockCounts {
  reflinked: number
  hardLinked: number
  copied: number
  /** Below the limit for files: in rows of the database. */
  small: number
  /** Already there, from another library or an earlier run. */
  present: number
  bytes: number
}

/** The state of a block after it was asked for. */
interface CopiedBlock {
  /** Stored bytes; undefined if the source has none that hash to the id. */
  readonly size: number | undefined
  readonly problem: 'missing' | 'damaged' | undefined
  /** The bytes of a small block, to be stored in a row. */
  readonly small: Buffer | undefined
}

interface BlockCopierOptions {
  /** Undefined to look only whether the blocks are there. */
  readonly blocks: BlockStore | undefined
  /** Copies even where the file system could share the bytes. */
  readonly copy: boolean
}

/** Brings blocks of files into a block store, each verified against its id. */
export class BlockCopier {
  readonly counts: BlockCounts = { reflinked: 0, hardLinked: 0, copied: 0, small: 0, present: 0, bytes: 0 }
  readonly #blocks: BlockStore | undefined
  /** Turned off by the first file that cannot be shared: the others are on the same file system. */
  #shares: boolean

  constructor({ blocks, copy }: BlockCopierOptions) {
    this.#blocks = blocks
    this.#shares = !copy && blocks?.adopt !== undefined
  }

  /** Stores the blocks whose bytes are in the files of `fileOf`. Large ones are durable when this resolves. */
  async copy(ids: readonly BlockId[], fileOf: (id: BlockId) => string): Promise<Map<BlockId, CopiedBlock>> {
    const copied = new Map<BlockId, CopiedBlock>()
    let next = 0
    const work = async () => {
      for (let id = ids[next++]; id !== undefined; id = ids[next++])
        copied.set(id, await this.#copyOne(id, fileOf(id)))
    }
    const workers = await Promise.allSettled(
      Array.from({ length: Math.min(CONCURRENT_BLOCKS, ids.length) }, work),
    )
    for (const worker of workers) if (worker.status === 'rejected') throw worker.reason
    return copied
  }

  async #copyOne(id: BlockId, file: string): Promise<CopiedBlock> {
    const found = await stat(file).catch(() => undefined)
    if (found === undefined || !found.isFile()) return failed('missing')
    if (found.size === 0) return failed('damaged')
    const { size } = found
    this.counts.bytes += size
    if (size < SMALLEST_STORED_BLOCK) {
      this.counts.small += 1
      if (this.#blocks === undefined) return { size, problem: undefined, small: undefined }
      const bytes = await readFile(file).catch(() => undefined)
      if (bytes === undefined || sha1Hex(bytes) !== id) return failed('damaged')
      return { size: bytes.length, problem: undefined, small: bytes }
    }
    const stored = { size, problem: undefined, small: undefined }
    if (this.#blocks === undefined) {
      this.counts.copied += 1
      return stored
    }
    if ((await this.#blocks.missing([id])).length === 0 && (await this.#blocks.size(id)) === size) {
      this.counts.present += 1
      return stored
    }
    try {
      await this.#store(this.#blocks, id, file)
    } catch (error) {
      if (error instanceof BlockMismatch || isUnreadable(error)) return failed('damaged')
      throw error
    }
    return stored
  }

  async #store(blocks: BlockStore, id: BlockId, file: string): Promise<void> {
    if (this.#shares) {
      const adoption = await blocks.adopt?.(id, file)
      if (adoption === 'reflink') this.counts.reflinked += 1
      if (adoption === 'hard link') this.counts.hardLinked += 1
      if (adoption !== undefined) return
      this.#shares = false
    }
    await blocks.put(id, createReadStream(file, { highWaterMark: CHUNK_BYTES }))
    this.counts.copied += 1
  }
}

function failed(problem: 'missing' | 'damaged'): CopiedBlock {
  return { size: undefined, problem, small: undefined }
}

/** The disk of the source cannot read the file. */
function isUnreadable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EIO'
}
