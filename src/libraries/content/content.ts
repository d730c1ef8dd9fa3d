import { type Fault, fail } from '../../base/errors.ts'
import {
  type BlockId,
  type BoundarySearch,
  Cutter,
  EMPTY_ID,
  type FileId,
  type FileObject,
  fileId,
  idToBytes,
  sha1Hex,
} from '../../base/objects/index.ts'
import { prefetched } from '../../base/scheduling/index.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import {
  BlockDamaged,
  BlockMismatch,
  BlockMissing,
  type BlockStore,
  type BorrowedBytes,
  type ByteRange,
  MAX_RANGE_BYTES,
  type ReadOptions,
} from '../../platform/storage/index.ts'
import {
  condemnedObjects,
  firstOfEach,
  type ObjectStore,
  objectRows,
  type PreparedObject,
  prepareFile,
} from '../tree/index.ts'
import { decryptPart, readPadding } from './block-decryption.ts'
import { EncryptingBlock } from './block-encryption.ts'
import {
  findHeldBlock,
  findSmallBlocks,
  grantedTo,
  type HeldBlock,
  insertSmallBlocks,
  type SizedBlock,
  storeBlocks,
} from './block-rows-store.ts'
import { DamagedBlocks } from './damaged-blocks.ts'
import type { DataKey } from './data-key.ts'
import { FileLayout, FileLayouts, layoutOf, paddedLayoutOf } from './file-layouts.ts'
import {
  allSynced,
  BlockSequence,
  IncomingBlock,
  keepAll,
  type PendingBlocks,
  smallOf,
  type TakenBlock,
} from './incoming-block.ts'
import { SmallBlocks } from './small-blocks.ts'
import type { StagedBlock } from './staged-block-store.ts'
import { type ChunkSpan, type StagedChunk, stageChunk } from './staged-chunk.ts'

/** Smaller blocks are stored in the database, so that a thousand small files are one durable transaction. */
export const SMALLEST_STORED_BLOCK = 64 * 1024

/** A received file. Its blocks are durable, except for pending ones and small ones, which the commit writes. */
export interface Content {
  readonly id: FileId
  readonly size: number
  readonly blocks: readonly SizedBlock[]
  readonly small: ReadonlyMap<BlockId, Uint8Array>
}

export const emptyContent: Content = { id: EMPTY_ID, size: 0, blocks: [], small: new Map() }

/** As `receive` for less than SMALLEST_STORED_BLOCK bytes in a plain library. */
export function smallContent(bytes: Buffer): Content {
  if (bytes.length === 0) return emptyContent
  const id = sha1Hex(bytes) as BlockId
  const size = bytes.length
  const blocks = [{ id, size }]
  return { id: fileId(fileOf({ blocks, size })), size, blocks, small: new Map([[id, bytes]]) }
}

interface ReceiveOptions {
  /** Called with all bytes in order. An error it throws aborts the transfer. */
  readonly onBytes?: (bytes: Buffer) => void
  /** The data key of an encrypted library. */
  readonly key?: DataKey | undefined
  /** Collects the blocks, to be kept with those of other files before the commit. Default: they are kept at once. */
  readonly pending?: PendingBlocks
}

/** Stored bytes. */
export interface StoredBytes {
  readonly size: number
  /**
   * Yields the whole range or throws BlockMissing, BlockDamaged. A chunk is borrowed until the next one is
   * requested, unless it is the only one.
   */
  readonly read: (range: ByteRange) => AsyncGenerator<Buffer, void>
  /**
   * A range in one buffer, verified before it is returned. Undefined if it is too long or spans several blocks. Throws like `read`,
   * synchronously or by rejection.
   */
  readonly readAtOnce: (range: ByteRange) => BorrowedBytes | Promise<BorrowedBytes> | undefined
}

/**
 * Converts bytes to blocks and back, for all surfaces. With a data key, callers write and read plaintext, and only ciphertext
 * is stored.
 */
export class ContentStore {
  readonly #db: Database
  readonly #blocks: BlockStore
  readonly #objects: ObjectStore
  readonly #boundarySearch: BoundarySearch
  readonly #layouts: FileLayouts
  readonly #small: SmallBlocks
  readonly #damaged: DamagedBlocks
  /** The fault while the disk has space only for what frees some. */
  diskFault: () => Fault | undefined = () => undefined

  /** `now` in Unix seconds. */
  constructor(
    db: Database,
    blocks: BlockStore,
    objects: ObjectStore,
    now: () => number,
    boundarySearch: BoundarySearch = 'fast',
  ) {
    this.#boundarySearch = boundarySearch
    this.#db = db
    this.#blocks = blocks
    this.#objects = objects
    this.#layouts = new FileLayouts(objects.epochs)
    this.#small = new SmallBlocks(objects.epochs)
    this.#damaged = new DamagedBlocks(db, now)
  }

  /**
   * Reads `source` to its end. Blocks are cut, hashed and stored while it arrives. A chunk may be reused once the next is requested.
   * On an error no block is kept, except those that were kept before a disk error on another one. They are unreferenced.
   */
  async receive(source: AsyncIterable<Buffer>, options: ReceiveOptions = {}): Promise<Content> {
    const { onBytes, key, pending } = options
    using _lease = key?.lease()
    const cutter = new Cutter(undefined, this.#boundarySearch)
    const sequence = new BlockSequence(() => this.#incoming(key))
    try {
      for await (const bytes of source) {
        onBytes?.(bytes)
        for (let from = 0; from < bytes.length; ) {
          const end = cutter.next(bytes, from)
          const wait = sequence.write(bytes.subarray(from, end))
          if (wait !== undefined) await wait
          from = end ?? bytes.length
          if (end !== undefined) await sequence.cut()
        }
      }
      if (sequence.pending > 0) await sequence.cut()
      const blocks = await sequence.end()
      // Only after all have arrived, so that an aborted transfer leaves nothing behind.
      await (pending === undefined ? keepAll(blocks) : allSynced(blocks))
      pending?.add(blocks)
      return contentOf(blocks)
    } catch (error) {
      await sequence.abort()
      throw error
    }
  }

  /**
   * Receives a chunk of an unfinished upload, whose blocks from the first unfinished one on are `earlier`. The blocks are not kept yet. Throws like
   * `receive`, and BlockMissing or BlockDamaged if earlier bytes are lost.
   */
  async stage(
    chunk: ChunkSpan,
    earlier: readonly StagedBlock[],
    source: AsyncIterable<Buffer>,
    key: DataKey | undefined,
  ): Promise<StagedChunk> {
    using _lease = key?.lease()
    return await stageChunk(
      {
        cutter: new Cutter(undefined, this.#boundarySearch),
        incoming: () => this.#incoming(key),
        read: (blocks, range, small) => this.readStaged(blocks, range, small, key),
      },
      chunk,
      earlier,
      source,
    )
  }

  /** Bytes of a file from its staged blocks, of which those in `small` have no row yet. Throws BlockMissing, BlockDamaged. */
  async *readStaged(
    blocks: readonly StagedBlock[],
    span: ByteRange,
    small: ReadonlyMap<BlockId, Uint8Array>,
    key: DataKey | undefined,
  ): AsyncGenerator<Buffer, void> {
    using _lease = key?.lease()
    for (const block of blocks) {
      const start = Math.max(0, span.start - block.offset)
      const end = Math.min(block.length, span.end - block.offset)
      if (start >= end) continue
      const read = (range: ByteRange) => this.#readStagedBlock(block, range, small)
      const padded = { id: block.id, size: block.size, padding: block.size - block.length }
      yield* key === undefined ? read({ start, end }) : decryptPart(key, padded, { start, end }, read)
    }
  }

  async *#readStagedBlock(
    block: StagedBlock,
    range: ByteRange,
    small: ReadonlyMap<BlockId, Uint8Array>,
  ): AsyncGenerator<Buffer, void> {
    if (block.size >= SMALLEST_STORED_BLOCK) {
      yield* this.#readStored(block, range, { lend: true })
      return
    }
    const data = small.get(block.id) ?? (await findSmallBlocks(this.#db, [idToBytes(block.id)])).get(block.id)
    yield checkedSmall({ ...block, data }).subarray(range.start, range.end)
  }

  /** Stores small blocks before the commit, for callers that receive too many of them to buffer in memory. */
  async putSmall(content: Content): Promise<Content> {
    await this.#db.write((tx) => insertSmallBlocks(tx, content.small), { durable: 'replicated' })
    return { ...content, small: new Map() }
  }

  /** Receives one block of a client under its claimed id. Throws block-mismatch, also for an empty one, and errors of the source. */
  async receiveBlock(id: BlockId, source: AsyncIterable<Buffer>): Promise<TakenBlock> {
    const block = this.#incomingBlock()
    try {
      for await (const piece of source) {
        const wait = block.write(piece)
        if (wait !== undefined) await wait
      }
    } catch (error) {
      await block.abort()
      throw error
    }
    if (block.size === 0) fail({ code: 'block-mismatch', id })
    try {
      return await block.finish(id)
    } catch (error) {
      if (error instanceof BlockMismatch) fail({ code: 'block-mismatch', id })
      throw error
    }
  }

  /**
   * Streams the bytes of a file on demand. Reads only blocks that the library holds (I7) and that
   * hash to their id (I6). Throws BlockMissing, BlockDamaged.
   */
  async *read(
    libraryKey: number,
    file: FileObject,
    range?: ByteRange,
    key?: DataKey,
  ): AsyncGenerator<Buffer, void> {
    const layout = await this.#layoutOf(libraryKey, file, key)
    yield* this.#readParts(libraryKey, layout, range ?? { start: 0, end: file.size }, {}, key)
  }

  /** All bytes of a file that fits into memory. Throws like `read`. */
  async readWhole(libraryKey: number, file: FileObject, key?: DataKey): Promise<BorrowedBytes> {
    const whole = { start: 0, end: file.size }
    const layout = await this.#layoutOf(libraryKey, file, key)
    const piece = key === undefined ? this.#readPartAtOnce(libraryKey, layout, whole) : undefined
    if (piece !== undefined) return piece
    const chunks = await Array.fromAsync(this.#readParts(libraryKey, layout, whole, {}, key))
    const [only] = chunks
    const bytes = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks)
    return { bytes, release: undefined }
  }

  /** Opens a file for reads of ranges, with a cached layout. */
  async open(libraryKey: number, id: FileId, key?: DataKey): Promise<StoredBytes> {
    const layout = this.#layouts.find(libraryKey, id)
    if (layout !== undefined) return this.#openLayout(libraryKey, layout, key)
    const readAt = this.#layouts.now
    const file = await this.#objects.getFile(libraryKey, id)
    const [only, ...more] = file.blockIds
    // Fast path: most files are one small block, whose row contains the bytes.
    if (only !== undefined && more.length === 0 && key === undefined) {
      return this.#openSingle(libraryKey, id, file, only, readAt)
    }
    const loaded = await this.#layoutOf(libraryKey, file, key)
    this.#layouts.put(libraryKey, id, loaded, readAt)
    return this.#openLayout(libraryKey, loaded, key)
  }

  /** Opens a block of a library as stored. Throws BlockMissing. */
  async openBlock(libraryKey: number, id: BlockId): Promise<StoredBytes> {
    return (await this.findBlock(libraryKey, id)) ?? missing(id)
  }

  /** As openBlock, for an untrusted id; undefined for a block that the library does not hold (I7). */
  findBlock(libraryKey: number, id: BlockId): StoredBytes | Promise<StoredBytes | undefined> {
    const known = this.#small.find(libraryKey, id)
    return known === undefined ? this.#lookUpBlock(libraryKey, id) : inMemory(known)
  }

  /** Evicts all caches and frees pooled buffers, to return memory while the server is idle. */
  clearCaches(): void {
    this.#layouts.clear()
    this.#small.clear()
    this.#blocks.releaseBuffers?.()
  }

  /** Invalidates cached files that garbage collection deleted. */
  forgetFiles(libraryKey: number, ids: readonly string[]): void {
    for (const id of ids) this.#layouts.delete(libraryKey, id as FileId)
  }

  /**
   * Invalidates cached blocks of a library that garbage collection deleted. Other processes learn of it by the epoch of the library's objects
   * (`CacheEpochs`). Whether a new file may refer to a block is always decided by rows (`findHeldBlocks`), never by these caches.
   */
  forgetBlocks(libraryKey: number, ids: readonly string[]): void {
    for (const id of ids) this.#small.delete(libraryKey, id as BlockId)
  }

  async #lookUpBlock(libraryKey: number, id: BlockId): Promise<StoredBytes | undefined> {
    const readAt = this.#small.now
    const held = await findHeldBlock(this.#db, libraryKey, id)
    if (held === undefined) return undefined
    if (held.size < SMALLEST_STORED_BLOCK) return inMemory(await this.#checked(libraryKey, held, readAt))
    return {
      size: held.size,
      read: (range) => this.#readStored(held, range, { lend: true }),
      readAtOnce: (range) => this.#readStoredAtOnce(held, range),
    }
  }

  async #openSingle(
    libraryKey: number,
    id: FileId,
    file: FileObject,
    only: BlockId,
    readAt: number,
  ): Promise<StoredBytes> {
    const block = await this.openBlock(libraryKey, only)
    const layout = new FileLayout(file.size, [{ id: only, size: block.size, padding: 0 }])
    layout.checkPlain()
    this.#layouts.put(libraryKey, id, layout, readAt)
    return block
  }

  #openLayout(libraryKey: number, layout: FileLayout, key: DataKey | undefined): StoredBytes {
    if (key === undefined) layout.checkPlain()
    const read = (range: ByteRange) => this.#readParts(libraryKey, layout, range, { lend: true }, key)
    const readAtOnce = (range: ByteRange) =>
      key === undefined ? this.#readPartAtOnce(libraryKey, layout, range) : undefined
    return { size: layout.size, read, readAtOnce }
  }

  /** For a range within one block. */
  #readPartAtOnce(
    libraryKey: number,
    layout: FileLayout,
    span: ByteRange,
  ): BorrowedBytes | Promise<BorrowedBytes> | undefined {
    const part = layout.onlyPartOf(span)
    if (part === undefined) return undefined
    const { block, range } = part
    if (block.size >= SMALLEST_STORED_BLOCK) return this.#readStoredAtOnce(block, range)
    const small = this.#readSmall(libraryKey, block)
    return small instanceof Promise ? small.then((bytes) => partOf(bytes, range)) : partOf(small, range)
  }

  #readStoredAtOnce({ id }: SizedBlock, range: ByteRange): Promise<BorrowedBytes> | undefined {
    if (range.end - range.start > MAX_RANGE_BYTES) return undefined
    return this.#blocks.readAtOnce(id, range).catch((error: unknown) => this.#failRead(error))
  }

  /** Records a lost block and throws the error of the read. */
  async #failRead(failure: unknown): Promise<never> {
    // What cannot be recorded now is found again by the next read.
    await this.#damaged.noteError(failure).catch(() => {})
    throw failure
  }

  async #layoutOf(libraryKey: number, file: FileObject, key: DataKey | undefined): Promise<FileLayout> {
    const stored = await layoutOf(this.#db, libraryKey, file)
    if (key !== undefined) {
      using _lease = key.lease()
      return await paddedLayoutOf(stored, async (block) => {
        const read = (range: ByteRange) => this.#readBlock(libraryKey, block, range, { unchecked: true })
        return readPadding(key, block, read)
      })
    }
    stored.checkPlain()
    return stored
  }

  async *#readParts(
    libraryKey: number,
    layout: FileLayout,
    span: ByteRange,
    options: ReadOptions,
    key: DataKey | undefined,
  ): AsyncGenerator<Buffer, void> {
    if (span.start >= span.end) return
    using _lease = key?.lease()
    const blocks = layout.partsOf(span).map(({ block, range }) => {
      const read = (stored: ByteRange) => this.#readBlock(libraryKey, block, stored, options)
      return key === undefined ? read(range) : decryptPart(key, block, range, read)
    })
    yield* prefetched(blocks, this.#blocks.readAhead)
  }

  /** Reads a range of a block that the library is known to hold. */
  async *#readBlock(
    libraryKey: number,
    block: SizedBlock,
    range: ByteRange,
    options: ReadOptions,
  ): AsyncGenerator<Buffer, void> {
    if (block.size >= SMALLEST_STORED_BLOCK) yield* this.#readStored(block, range, options)
    else yield (await this.#readSmall(libraryKey, block)).subarray(range.start, range.end)
  }

  async *#readStored(
    block: SizedBlock,
    range: ByteRange,
    options: ReadOptions,
  ): AsyncGenerator<Buffer, void> {
    const isWhole = range.start === 0 && range.end === block.size
    try {
      yield* this.#blocks.read(block.id, isWhole ? undefined : range, options)
    } catch (error) {
      await this.#failRead(error)
    }
  }

  /** All of a block that is stored in the database, without a query if it is cached. */
  #readSmall(libraryKey: number, { id }: SizedBlock): Buffer | Promise<Buffer> {
    const known = this.#small.find(libraryKey, id)
    if (known !== undefined) return known
    const readAt = this.#small.now
    return findHeldBlock(this.#db, libraryKey, id).then((held) =>
      this.#checked(libraryKey, held ?? missing(id), readAt),
    )
  }

  #checked(libraryKey: number, held: HeldBlock, readAt: number): Buffer | Promise<never> {
    try {
      const bytes = checkedSmall(held)
      this.#small.put(libraryKey, held.id, bytes, readAt)
      return bytes
    } catch (error) {
      return this.#failRead(error)
    }
  }

  #incoming(key: DataKey | undefined): IncomingBlock | EncryptingBlock {
    const block = this.#incomingBlock()
    return key === undefined ? block : new EncryptingBlock(block, key.encryptor())
  }

  #incomingBlock(): IncomingBlock {
    return new IncomingBlock(this.#blocks, SMALLEST_STORED_BLOCK, {
      onKept: (id) => this.#damaged.noteStored(id),
      diskFault: () => this.diskFault(),
    })
  }
}

/** A small block in memory. */
function inMemory(bytes: Buffer): StoredBytes {
  return {
    size: bytes.length,
    async *read({ start, end }) {
      yield bytes.subarray(start, end)
    },
    readAtOnce: (range) => partOf(bytes, range),
  }
}

/** The bytes are shared with the cache, so they are not returned to a pool. */
function partOf(bytes: Buffer, { start, end }: ByteRange): BorrowedBytes {
  return { bytes: bytes.subarray(start, end), release: undefined }
}

function missing(id: BlockId): never {
  throw new BlockMissing(id)
}

function checkedSmall({ id, data }: HeldBlock): Buffer {
  if (data === undefined) throw new BlockMissing(id)
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  if (sha1Hex(bytes) !== id) throw new BlockDamaged(id, 'its row holds other bytes')
  return bytes
}

/**
 * Writes the rows of received files: small blocks, access to all blocks, file objects (I1). `dirs` are further objects of the same transaction:
 * with them, both kinds take one statement each to be released and inserted.
 */
export async function insertContents(
  tx: Transaction,
  libraryKey: number,
  contents: readonly Content[],
  dirs: readonly PreparedObject[],
): Promise<void> {
  const files = contents.filter((content) => content.size > 0)
  const objects = firstOfEach([...files.map((content) => prepareFile(content.id, fileOf(content))), ...dirs])
  const ids = Array.from(objects.keys(), idToBytes)
  await Promise.all([
    storeBlocks(
      tx,
      contents.flatMap((content) => grantedTo(libraryKey, content.blocks)),
      new Map(contents.flatMap((content) => [...content.small])),
      condemnedObjects.releases(tx, libraryKey, ids),
    ),
    objectRows.insertReleased(tx, libraryKey, objects),
  ])
}

/** A file of staged blocks, in order. Those in `small` are written by the commit. */
export function stagedContent(
  blocks: readonly Omit<StagedBlock, 'isFinal'>[],
  small: ReadonlyMap<BlockId, Uint8Array>,
): Content {
  const size = blocks.reduce((sum, { length }) => sum + length, 0)
  const own = blocks.map((block) => ({ id: block.id, size: block.size }))
  return { id: fileId(fileOf({ blocks: own, size })), size, blocks: own, small }
}

function contentOf(taken: readonly TakenBlock[]): Content {
  const small = smallOf(taken)
  const blocks = taken.map(({ id, size }) => ({ id, size }))
  const size = taken.reduce((sum, block) => sum + block.size - (block.padding ?? 0), 0)
  return { id: fileId(fileOf({ blocks, size })), size, blocks, small }
}

function fileOf(content: Pick<Content, 'blocks' | 'size'>): FileObject {
  return { blockIds: content.blocks.map((block) => block.id), size: content.size }
}
