import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import type { BlockId } from '../../../../base/objects/index.ts'
import {
  type Adopter,
  type AdopterOptions,
  BlockDamaged,
  BlockMismatch,
  type BlockSource,
  type BlockStore,
  BlockStoreError,
  type BlockWriter,
  type BorrowedBytes,
  type ByteRange,
  type ReadOptions,
  type ReceivedBlock,
  verifiedRead,
  verifiedWrite,
} from '../../index.ts'
import { BlockDirectory, type BlockDirectoryOptions, removeTemporary } from '../block-directory.ts'
import { DirectoryBlockStore } from '../directory-block-store.ts'
import { DiskAdopter, type FileAdoption } from '../disk-adopter.ts'
import { reading, UNNAMED, writing } from '../disk-errors.ts'
import { type Adopted, type AdoptedFiles, FileAdopter } from '../file-adopter.ts'

/** Adopts files in this thread, one at a time. Meant for commands, which may hold their event loop for the time of a block. */
class InlineAdoption implements FileAdoption {
  readonly #adopter: FileAdopter

  constructor(options: AdopterOptions) {
    this.#adopter = new FileAdopter(options)
  }

  async adopt({ files, flushedBeforeMs }: AdoptedFiles): Promise<readonly Adopted[]> {
    const results: Adopted[] = []
    for (const file of files) {
      results.push(await this.#adopter.adopt(file, flushedBeforeMs))
      await setImmediate()
    }
    return results
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** Bytes per read and write. SHA-1 of as many holds the event loop for about a millisecond (I10). */
const CHUNK_BYTES = 1024 * 1024

/** Opens a plain store in a folder, which it creates if needed. Throws BlockStoreError if it cannot be written. */
export async function openPlainBlockStore(options: BlockDirectoryOptions): Promise<BlockStore> {
  return new PlainBlockStore(await BlockDirectory.open(options))
}

/**
 * The straightforward disk store: write a temp file, `fdatasync`, rename, `fsync` the folder. Every read hashes the whole block again. It
 * uses no threads, no caches and no open block files between calls, so it also suits network file systems.
 */
class PlainBlockStore extends DirectoryBlockStore implements BlockStore {
  // Also for a block already stored: it may be damaged, or its name may be lost by a flush that failed before the start.
  protected async write(id: BlockId, bytes: BlockSource, signal?: AbortSignal): Promise<void> {
    await this.files.restore(id)
    const verified = verifiedWrite(id, bytes, signal)
    const file = await TemporaryFile.create(this.files.newTemporary(), id)
    try {
      for await (const slice of verified) await file.append(slice)
      await file.flush()
    } catch (error) {
      await file.remove()
      throw error
    }
    await this.files.publish(id, file.path)
  }

  openAdopter(options: AdopterOptions): Adopter {
    return new DiskAdopter(this.files, options, new InlineAdoption(options))
  }

  begin(): BlockWriter {
    return new PlainBlockWriter(
      () => TemporaryFile.create(this.files.newTemporary(), UNNAMED),
      (id, file) => this.#receive(id, file),
    )
  }

  #receive(id: BlockId, file: TemporaryFile): Pick<ReceivedBlock, 'synced' | 'keep' | 'discard'> {
    const synced = this.track(file.flush())
    synced.catch(() => file.remove()) // `keep` rejects with the error.
    return {
      synced,
      keep: () => this.track(synced.then(() => this.files.publish(id, file.path))),
      discard: async () => {
        await synced.catch(() => {})
        await file.remove()
      },
    }
  }

  async *read(id: BlockId, range?: ByteRange, options: ReadOptions = {}): AsyncGenerator<Buffer, void> {
    await using handle = await this.files.opened(id, (file) => open(file, 'r'))
    const whole = { start: 0, end: (await reading(id, handle.stat())).size }
    const verified = () => verifiedRead(id, whole.end, readChunks(id, handle, whole))
    if (range === undefined) return yield* verified()
    // A block of one chunk is verified before its only chunk is returned.
    if (range.start === 0 && range.end === whole.end && whole.end <= CHUNK_BYTES) return yield* verified()
    if (!options.unchecked) for await (const chunk of verified()) void chunk
    yield* readChunks(id, handle, range)
  }

  async readAtOnce(id: BlockId, range: ByteRange): Promise<BorrowedBytes> {
    const chunks = await Array.fromAsync(this.read(id, range))
    return { bytes: Buffer.concat(chunks), release: undefined }
  }
}

type CreateFile = () => Promise<TemporaryFile>
type ReceiveFile = (id: BlockId, file: TemporaryFile) => Pick<ReceivedBlock, 'synced' | 'keep' | 'discard'>

/** Hashes and writes a block as it arrives. */
class PlainBlockWriter implements BlockWriter {
  readonly #create: CreateFile
  readonly #receive: ReceiveFile
  readonly #hash = createHash('sha1')
  #file: TemporaryFile | undefined
  #size = 0

  constructor(create: CreateFile, receive: ReceiveFile) {
    this.#create = create
    this.#receive = receive
  }

  async write(piece: Uint8Array): Promise<void> {
    this.#file ??= await this.#create()
    for (let start = 0; start < piece.length; start += CHUNK_BYTES) {
      if (start > 0) await setImmediate()
      const slice = piece.subarray(start, start + CHUNK_BYTES)
      this.#hash.update(slice)
      this.#size += slice.length
      await this.#file.append(slice)
    }
  }

  async finish(expected?: BlockId): Promise<ReceivedBlock> {
    const file = this.#file
    if (file === undefined || this.#size === 0) {
      await this.abort()
      throw new BlockStoreError('A block has at least one byte.')
    }
    const id = this.#hash.digest('hex') as BlockId
    if (expected !== undefined && id !== expected) {
      await file.remove()
      throw new BlockMismatch(expected, id)
    }
    return { id, size: this.#size, ...this.#receive(id, file) }
  }

  async abort(): Promise<void> {
    await this.#file?.remove()
  }
}

/** A file in `tmp/` that is being written. */
class TemporaryFile {
  readonly path: string
  readonly #id: BlockId
  readonly #handle: FileHandle

  private constructor(path: string, id: BlockId, handle: FileHandle) {
    this.path = path
    this.#id = id
    this.#handle = handle
  }

  static async create(path: string, id: BlockId): Promise<TemporaryFile> {
    return new TemporaryFile(path, id, await writing(id, open(path, 'wx', 0o600)))
  }

  async append(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      at += (await writing(this.#id, this.#handle.write(bytes, at))).bytesWritten
    }
  }

  /** Flushes the bytes and closes the file. A network file system may report a failed write only then. */
  async flush(): Promise<void> {
    await writing(this.#id, this.#handle.datasync())
    await writing(this.#id, this.#handle.close())
  }

  async remove(): Promise<void> {
    await this.#handle.close().catch(() => {})
    await removeTemporary(this.path)
  }
}

async function* readChunks(
  id: BlockId,
  handle: FileHandle,
  { start, end }: ByteRange,
): AsyncGenerator<Buffer, void> {
  for (let position = start; position < end; ) {
    const buffer = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, end - position))
    const { bytesRead } = await reading(id, handle.read(buffer, 0, buffer.length, position))
    if (bytesRead === 0) throw new BlockDamaged(id, `it ends after ${position} bytes`)
    position += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}
