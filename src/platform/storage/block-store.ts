import type { BlockId } from '../../base/objects/index.ts'

/** Bytes `start` up to but not including `end`. */
export interface ByteRange {
  start: number
  end: number
}

export interface ReadOptions {
  /** Chunks are borrowed: each is valid only until the next one is requested. */
  readonly lend?: boolean
  /** Skips the verification of a range, for bytes that do not leave the server. */
  readonly unchecked?: boolean
  /** Reads the stored copy itself, neither from a cache nor into one. For checks and backups. */
  readonly stored?: boolean
}

/** The longest range `readAtOnce` accepts. */
export const MAX_RANGE_BYTES = 1024 * 1024

/** Bytes in a pooled buffer. `release` returns it to the pool; a caller that does not leaves it to the garbage collector. */
export interface BorrowedBytes {
  readonly bytes: Buffer
  readonly release: (() => void) | undefined
}

/** A file whose bytes should be those of a block. */
export interface BlockFile {
  readonly id: BlockId
  readonly file: string
}

/** What became of the file of a block. */
export type Adoption =
  /** Stored. A reflink shares bytes with the file, and a hard link also its inode. `present` was stored before. */
  | { readonly how: 'reflink' | 'hard link' | 'copy' | 'present'; readonly size: number }
  /** Short, so it is not stored. The bytes are verified. */
  | { readonly how: 'returned'; readonly bytes: Uint8Array }
  /** Nothing is stored: there is no such file, or it is empty, unreadable, or does not hash to the id. */
  | { readonly how: 'missing' | 'damaged' }

export interface AdopterOptions {
  /** Copies even where the file system could share the bytes. */
  readonly copy: boolean
  /** Shorter files are returned instead of stored. In bytes. */
  readonly returnBelow: number
}

/** Stores blocks whose bytes are in files, many at a time. The files are not changed. Closed before its store. */
export interface Adopter extends AsyncDisposable {
  /**
   * Stores files as blocks, each verified against its id by reading it. One result for each file, in order. Readers see the blocks when this
   * resolves, but only `flush` makes them durable. Throws BlockStoreError if one of them could not be stored; others then may be.
   */
  add(files: readonly BlockFile[]): Promise<Adoption[]>

  /** Resolves once all blocks added before are durable (I4), also those that were present. Throws BlockStoreError. */
  flush(): Promise<void>
}

/** The bytes of a block to be stored: whole, or as a stream. */
export type BlockSource = Uint8Array | AsyncIterable<Uint8Array>

/**
 * Stores blocks under the hash of their bytes. A block never changes, so all calls are idempotent, and two writers of one id cannot
 * conflict. Blocks are removed in two steps, `retire` and `discard`, so that a reference made meanwhile finds its bytes.
 */
export interface BlockStore extends AsyncDisposable {
  /** Blocks that a long read requests ahead of the one that is sent; one unless given. */
  readonly readAhead?: number

  /**
   * Resolves once the block is durable (I4). Readers see the whole block or nothing. Putting a stored id is not an error. On any throw the
   * store is unchanged: BlockMismatch if the bytes do not hash to `id`, the error of the source, the reason of `signal`, or BlockStoreError if
   * the bytes could not be stored. The given buffer must not change until this settles.
   */
  put(id: BlockId, bytes: BlockSource, signal?: AbortSignal): Promise<void>

  /** Stores blocks from files. Absent in stores that do not keep blocks on a file system. */
  openAdopter?(options: AdopterOptions): Adopter

  /** Starts a block whose id is known only at its end. Nothing is stored until it is kept. */
  begin(): BlockWriter

  /**
   * The bytes, read on demand (backpressure). Chunks belong to the caller unless borrowed. The file is opened with the first request and
   * closed when the caller stops early. Throws BlockMissing and BlockDamaged. The bytes are verified against the id (I6): a whole block while
   * it is read, with its last chunk held back; a range before its first chunk. A store may cache the verification while the block is
   * unchanged.
   */
  read(id: BlockId, range?: ByteRange, options?: ReadOptions): AsyncGenerator<Buffer, void>

  /**
   * A range of at most MAX_RANGE_BYTES bytes in one buffer, verified as by `read`. Throws what `read` throws.
   */
  readAtOnce(id: BlockId, range: ByteRange): Promise<BorrowedBytes>

  /** In bytes. Throws BlockMissing. With `stored`, the stored copy itself is looked at. */
  size(id: BlockId, options?: Pick<ReadOptions, 'stored'>): Promise<number>

  /** Those of `ids` that are not stored, in order. */
  missing(ids: readonly BlockId[]): Promise<BlockId[]>

  /** All stored ids, ascending, without retired ones. Blocks put or removed meanwhile may or may not be included. */
  list(): AsyncIterable<BlockId>

  /**
   * First step of a removal by garbage collection: the block is not listed any more, but a read, `size`, `missing` or `put` that asks for
   * it takes it back. Retiring an id that is not stored is not an error.
   */
  retire(id: BlockId): Promise<void>

  /** Takes a retired block back, durably. False if it is not retired. */
  restore(id: BlockId): Promise<boolean>

  /** All retired ids, ascending. */
  listRetired(): AsyncIterable<BlockId>

  /** Second step of a removal: deletes a retired block and resolves to its size, 0 if it was not retired. Never touches a stored block. */
  discard(id: BlockId): Promise<number>

  /**
   * Deletes what writes of killed processes left and what has not changed for `idleSeconds`, by the clock of the file system. Resolves to
   * its bytes.
   */
  deleteLeftovers(idleSeconds: number): Promise<number>

  /** Frees pooled buffers, while the server is idle. Absent in stores without a pool. */
  releaseBuffers?(): void
}

/** A block being received, without an id yet. Ends with `finish` or `abort`. */
export interface BlockWriter {
  /**
   * Appends a piece. Returns a promise if the caller has to wait before the next one (backpressure); the piece must not change until then.
   * Throws BlockStoreError if the bytes could not be stored.
   */
  write(piece: Uint8Array): Promise<void> | undefined

  /**
   * Resolves when all bytes are written, but neither flushed nor named: the store is unchanged until `keep`. A block has at least one byte.
   * Throws BlockMismatch if the bytes do not hash to the expected id, if one is given.
   */
  finish(expected?: BlockId): Promise<ReceivedBlock>

  /** Discards everything. */
  abort(): Promise<void>
}

/** A received block without a name. Ends with `keep` or `discard`, so that a failed upload leaves nothing behind. */
export interface ReceivedBlock {
  readonly id: BlockId
  readonly size: number
  /** Resolves when its bytes are flushed. Rejects with BlockStoreError, as `keep` then does; it need not be awaited. */
  readonly synced: Promise<void>
  /** Resolves once the block is stored under its id and durable (I4). Throws BlockStoreError. */
  keep(): Promise<void>
  discard(): Promise<void>
}

/** The block is not in the store. */
export class BlockMissing extends Error {
  readonly id: BlockId
  constructor(id: BlockId, options?: ErrorOptions) {
    super(`The block ${id} is missing.`, options)
    this.name = 'BlockMissing'
    this.id = id
  }
}

/** The stored bytes do not hash to the id any more. */
export class BlockDamaged extends Error {
  readonly id: BlockId
  constructor(id: BlockId, found: string) {
    super(`The block ${id} is damaged: ${found}.`)
    this.name = 'BlockDamaged'
    this.id = id
  }
}

/** The bytes given for the id do not hash to it. */
export class BlockMismatch extends Error {
  readonly id: BlockId
  /** The id that the bytes have. */
  readonly actual: string
  constructor(id: BlockId, actual: string) {
    super(`The bytes offered as block ${id} hash to ${actual}.`)
    this.name = 'BlockMismatch'
    this.id = id
    this.actual = actual
  }
}

/** The store cannot be used; the cause says why. */
export class BlockStoreError extends Error {
  override readonly name: string = 'BlockStoreError'
}

/** The store is out of reach at the moment. The same call may succeed later. */
export class BlockStoreUnavailable extends BlockStoreError {
  override readonly name = 'BlockStoreUnavailable'
}

/** A whole verified block in memory. For blocks known to be small. */
export async function readWhole(store: BlockStore, id: BlockId): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of store.read(id)) chunks.push(chunk)
  const [only] = chunks
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks)
}
