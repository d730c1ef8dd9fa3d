import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { type BlockId, sha1Hex } from '../../base/objects/index.ts'
import { SMALLEST_STORED_BLOCK } from '../../libraries/content/index.ts'
import { type Adopter, type Adoption, BlockMismatch, type BlockStore } from '../../platform/storage/index.ts'

const CONCURRENT_BLOCKS = 8
const ADOPTED_AT_ONCE = 500
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
export interface CopiedBlock {
  /** Stored bytes; undefined if the source has none that hash to the id. */
  readonly size: number | undefined
  readonly problem: 'missing' | 'damaged' | undefined
  /** The bytes of a small block, to be stored in a row. */
  readonly small: Uint8Array | undefined
}

interface BlockCopierOptions {
  /** Undefined to look only whether the blocks are there. */
  readonly blocks: BlockStore | undefined
  /** Copies even where the file system could share the bytes. */
  readonly copy: boolean
}

const COUNTED = {
  reflink: 'reflinked',
  'hard link': 'hardLinked',
  copy: 'copied',
  present: 'present',
} as const

/** Brings blocks of files into a block store, each verified against its id. */
export class BlockCopier implements AsyncDisposable {
  readonly counts: BlockCounts = { reflinked: 0, hardLinked: 0, copied: 0, small: 0, present: 0, bytes: 0 }
  readonly #blocks: BlockStore | undefined
  /** Undefined for stores that do not take files: their blocks are put one by one. */
  readonly #adopter: Adopter | undefined

  /** Closed before the block store. */
  constructor({ blocks, copy }: BlockCopierOptions) {
    this.#blocks = blocks
    this.#adopter = blocks?.openAdopter?.({ copy, returnBelow: SMALLEST_STORED_BLOCK })
  }

  /** Stores the blocks whose bytes are in the files of `fileOf`. They are durable after the next `flush`. */
  async copy(ids: readonly BlockId[], fileOf: (id: BlockId) => string): Promise<Map<BlockId, CopiedBlock>> {
    if (this.#adopter !== undefined) return this.#adopt(this.#adopter, ids, fileOf)
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

  /** Resolves once all blocks copied before are durable (I4). Rows that refer to them are written afterwards (I1). */
  async flush(): Promise<void> {
    await this.#adopter?.flush()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#adopter?.[Symbol.asyncDispose]()
  }

  async #adopt(
    adopter: Adopter,
    ids: readonly BlockId[],
    fileOf: (id: BlockId) => string,
  ): Promise<Map<BlockId, CopiedBlock>> {
    const copied = new Map<BlockId, CopiedBlock>()
    for (let start = 0; start < ids.length; start += ADOPTED_AT_ONCE) {
      const some = ids.slice(start, start + ADOPTED_AT_ONCE)
      const adoptions = await adopter.add(some.map((id) => ({ id, file: fileOf(id) })))
      for (const [index, id] of some.entries()) copied.set(id, this.#count(adoptions[index]))
    }
    return copied
  }

  #count(adoption: Adoption | undefined): CopiedBlock {
    if (adoption === undefined) throw new Error('a block was not looked at')
    if (adoption.how === 'returned') {
      const { bytes } = adoption
      this.counts.small += 1
      this.counts.bytes += bytes.length
      return { size: bytes.length, problem: undefined, small: bytes }
    }
    if (!('size' in adoption)) return failed(adoption.how)
    const { how, size } = adoption
    this.counts[COUNTED[how]] += 1
    this.counts.bytes += size
    return { size, problem: undefined, small: undefined }
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
      await this.#blocks.put(id, createReadStream(file, { highWaterMark: CHUNK_BYTES }))
      this.counts.copied += 1
    } catch (error) {
      if (error instanceof BlockMismatch || isUnreadable(error)) return failed('damaged')
      throw error
    }
    return stored
  }
}

function failed(problem: 'missing' | 'damaged'): CopiedBlock {
  return { size: undefined, problem, small: undefined }
}

/** The disk of the source cannot read the file. */
function isUnreadable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EIO'
}
