import type { BlockId } from '../objects/index.ts'

/** Bytes `start` up to but not including `end`. */
export interface ByteRange {
  start: number
  end: number
}

export interface ReadOptions {
  /** A chunk is the caller's only until it asks for the next: its memory may be used again then. */
  readonly lend?: boolean
  /** A range need not be checked against the id, for bytes that do not leave the server. */
  readonly unchecked?: boolean
}

/** Most bytes that are read in one piece. */
export const LONGEST_AT_ONCE = 1024 * 1024

/** Bytes in memory that may be used again for others, once whoever has them says so. They need not. */
export interface LentBytes {
  readonly bytes: Buffer
  readonly giveBack: (() => void) | undefined
}

/** A block on its way in: all of it, or its pieces as they arrive. */
export type BlockSource = Uint8Array | AsyncIterable<Uint8Array>

/**
 * Keeps blocks under the hash of their bytes. A block never changes, so any call may be repeated,
 * and two writers of one id cannot conflict. A caller that removes blocks sees to it that nobody
 * puts the same id meanwhile.
 */
export interface BlockStore extends AsyncDisposable {
  /**
   * Resolves once the block would survive a power cut (I4). Readers see the whole block or none of
   * it. Putting an id already held is not an error. On any throw the store holds what it held:
   * BlockMismatch if the bytes are not those of `id`, the error of the source if that failed, the
   * reason of `signal` if it was aborted, BlockStoreError if the bytes could not be kept.
   * A buffer given must not change until this settles.
   */
  put(id: BlockId, bytes: BlockSource, signal?: AbortSignal): Promise<void>

  /** Begins a block whose id shows only at its end. Nothing is kept until it is finished. */
  begin(): BlockWriter

  /**
   * The bytes, read as they are asked for; the chunks are the caller's to keep. Nothing is opened
   * before the first is asked for, and ending early closes everything. Throws BlockMissing and
   * BlockDamaged. The block is checked against its id: a whole one on the way, its last chunk given
   * only if it is sound, so a damaged block is never complete (I6); for a range before the first
   * chunk. A store may remember what it found while it can tell that nothing changed since.
   */
  read(id: BlockId, range?: ByteRange, options?: ReadOptions): AsyncGenerator<Buffer, void>

  /**
   * A range of at most LONGEST_AT_ONCE bytes in one piece, checked as by `read` before any of it is given. Throws what
   * `read` throws.
   */
  readAtOnce(id: BlockId, range: ByteRange): Promise<LentBytes>

  /** In bytes. Throws BlockMissing. */
  size(id: BlockId): Promise<number>

  /** Those of `ids` not held, in the order asked. */
  missing(ids: readonly BlockId[]): Promise<BlockId[]>

  /** Removing an id not held is not an error. After a power cut the block may be back. */
  remove(id: BlockId): Promise<void>

  /** All ids held, ascending. What is put or removed meanwhile may or may not be among them. */
  list(): AsyncIterable<BlockId>
}

/** A block that comes in piece by piece, under no name yet. Ends with `finish` or `abort`. */
export interface BlockWriter {
  /**
   * Takes the next piece. Gives a promise if the caller is to wait before it brings more; until then the piece must not
   * change. Throws BlockStoreError if the bytes could not be kept.
   */
  write(piece: Uint8Array): Promise<void> | undefined

  /**
   * Resolves when all is written, not yet synced and under no name yet. The store holds what it held until the block
   * is kept. At least one byte must have come. Throws BlockMismatch if the bytes are not those of the id that was
   * expected, if one was.
   */
  finish(expected?: BlockId): Promise<ReceivedBlock>

  /** Keeps nothing of it. */
  abort(): Promise<void>
}

/** A block that came in under no name. Ends with `keep` or `discard`, so that a file that never became one leaves nothing. */
export interface ReceivedBlock {
  readonly id: BlockId
  readonly size: number
  /** Resolves when its bytes are on the disk. Throws BlockStoreError, as `keep` then does; nobody need listen. */
  readonly synced: Promise<void>
  /** Resolves once the block is held under its id and would survive a power cut (I4). Throws BlockStoreError. */
  keep(): Promise<void>
  discard(): Promise<void>
}

/** The store does not hold the block. */
export class BlockMissing extends Error {
  readonly id: BlockId
  constructor(id: BlockId, options?: ErrorOptions) {
    super(`The block ${id} is missing.`, options)
    this.name = 'BlockMissing'
    this.id = id
  }
}

/** What the store holds under the id is not the block any more. */
export class BlockDamaged extends Error {
  readonly id: BlockId
  constructor(id: BlockId, found: string) {
    super(`The block ${id} is damaged: ${found}.`)
    this.name = 'BlockDamaged'
    this.id = id
  }
}

/** The bytes offered under the id are not the block. */
export class BlockMismatch extends Error {
  readonly id: BlockId
  constructor(id: BlockId, actual: string) {
    super(`The bytes offered as block ${id} hash to ${actual}.`)
    this.name = 'BlockMismatch'
    this.id = id
  }
}

/** The place where blocks rest cannot be used; the cause says why. */
export class BlockStoreError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'BlockStoreError'
  }
}

/** A whole block in memory, checked against its id. For blocks known to be small enough. */
export async function readWhole(store: BlockStore, id: BlockId): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of store.read(id)) chunks.push(chunk)
  const [only] = chunks
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks)
}
