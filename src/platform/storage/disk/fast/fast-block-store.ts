import { type Stats, statSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { type BlockId, sha1Hex } from '../../../../base/objects/index.ts'
import { ThreadPool } from '../../../../base/thread-pool.ts'
import {
  type Adopter,
  type AdopterOptions,
  BlockDamaged,
  type BlockSource,
  type BlockStore,
  type BlockWriter,
  type BorrowedBytes,
  type ByteRange,
  type ReadOptions,
  verifiedRead,
  verifiedWrite,
} from '../../index.ts'
import { BlockDirectory, type BlockDirectoryOptions, removeTemporary } from '../block-directory.ts'
import { DirectoryBlockStore } from '../directory-block-store.ts'
import { DiskAdopter, type FileAdoption } from '../disk-adopter.ts'
import { UNNAMED, writing } from '../disk-errors.ts'
import type { Adopted, AdoptedFiles } from '../file-adopter.ts'
import { FastBlockWriter, type TemporaryFile } from './block-writer.ts'
import { ChunkBufferPool } from './chunk-buffer-pool.ts'
import { readChunks, writeChunks } from './file-chunks.ts'
import { type BorrowedFile, FileHandleCache } from './file-handle-cache.ts'
import { HashThread } from './hash-thread.ts'
import { RangeBufferPool, readRangeAtOnce } from './range-buffer-pool.ts'
import { SharedBufferPool } from './shared-buffer-pool.ts'
import { backdate, VerifiedBlocks } from './verified-blocks.ts'

/** More than there may be cores: they wait for the disk much of the time. */
const MAX_THREADS = 4
const MAX_FILES_PER_JOB = 32

type Results = readonly Adopted[]

/** Adopts files in several threads, so that reading, hashing and flushing overlap. */
class AdoptionThreads implements FileAdoption {
  readonly #threads: ThreadPool<AdoptedFiles, Results>

  constructor(options: AdopterOptions) {
    const entry = new URL('./adoption-worker.ts', import.meta.url)
    this.#threads = new ThreadPool(entry, { threads: MAX_THREADS, workerData: options })
  }

  async adopt({ files, flushedBeforeMs }: AdoptedFiles): Promise<Results> {
    // Several jobs for each thread, because files differ in length. A few long files are one job each, so that all threads have one.
    const most = Math.min(Math.ceil(files.length / (4 * MAX_THREADS)), MAX_FILES_PER_JOB)
    const jobs: Promise<Results>[] = []
    for (let start = 0; start < files.length; start += most) {
      jobs.push(this.#threads.run({ files: files.slice(start, start + most), flushedBeforeMs }))
    }
    return (await Promise.all(jobs)).flat()
  }

  /** Calls in progress fail. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#threads[Symbol.asyncDispose]()
  }
}

interface FastBlockStoreOptions extends BlockDirectoryOptions {
  /** Threads that hash long blocks; one unless given. */
  readonly threads?: number
}

/** Opens a fast store in a folder, which it creates if needed. Throws BlockStoreError if it cannot be written. */
export async function openFastBlockStore(options: FastBlockStoreOptions): Promise<BlockStore> {
  return new FastBlockStore(await BlockDirectory.open(options), options.threads ?? 1)
}

/**
 * The disk store for local disks. It hashes long blocks in threads, verifies a block once while its file is unchanged, keeps files open
 * between range reads, and reuses buffers.
 */
class FastBlockStore extends DirectoryBlockStore implements BlockStore {
  readonly #verified = new VerifiedBlocks()
  readonly #checks = new Map<BlockId, Promise<void>>()
  readonly #handles = new FileHandleCache()
  readonly #chunks = new ChunkBufferPool()
  readonly #ranges = new RangeBufferPool()
  readonly #sharedBuffers = new SharedBufferPool()
  readonly #threads: readonly [HashThread, ...HashThread[]]

  constructor(files: BlockDirectory, threads: number) {
    super(files)
    const more = Array.from({ length: threads - 1 }, () => new HashThread(this.#sharedBuffers))
    this.#threads = [new HashThread(this.#sharedBuffers), ...more]
  }

  openAdopter(options: AdopterOptions): Adopter {
    return new DiskAdopter(this.files, options, new AdoptionThreads(options))
  }

  begin(): BlockWriter {
    return new FastBlockWriter({
      open: () => this.#openTemporary(),
      buffers: this.#sharedBuffers,
      thread: () => this.#leastBusyThread(),
      receive: (id, file) => this.#receive(id, file),
    })
  }

  async #openTemporary(): Promise<TemporaryFile> {
    const file = this.files.newTemporary()
    const handle = await writing(UNNAMED, open(file, 'wx', 0o600))
    const discard = async () => {
      await handle.close()
      await removeTemporary(file)
    }
    return { handle, path: file, discard }
  }

  #leastBusyThread(): HashThread {
    return this.#threads.reduce((least, one) => (one.load < least.load ? one : least))
  }

  #receive(id: BlockId, { handle, path: file }: TemporaryFile) {
    const synced = this.track(this.#sync(id, handle, file))
    synced.catch(() => {}) // `keep` rejects with the error.
    return {
      synced,
      keep: () => this.track(synced.then(() => this.#publish(id, file))),
      discard: async () => {
        await synced.catch(() => {})
        await removeTemporary(file)
      },
    }
  }

  #publish(id: BlockId, temporary: string): Promise<void> {
    return this.files.publish(id, temporary, (file) => this.#noteWritten(id, file))
  }

  /** The bytes were hashed while they were written. If `stat` fails, they are hashed again when read. */
  #noteWritten(id: BlockId, file: string): void {
    // Synchronous: the inode was just renamed and is in memory, so the call is as fast as queueing one in the thread pool.
    const stats = tryStat(file)
    if (stats !== undefined) this.#verified.add(id, stats)
  }

  // Also for a block already stored: it may be damaged, or its name may be lost by a flush that failed before the start.
  protected async write(id: BlockId, bytes: BlockSource, signal?: AbortSignal): Promise<void> {
    await this.files.restore(id)
    const chunks = verifiedWrite(id, bytes, signal)
    const temporary = this.files.newTemporary()
    const handle = await writing(id, open(temporary, 'wx', 0o600))
    try {
      await writeChunks(id, handle, chunks)
    } catch (error) {
      await handle.close()
      await removeTemporary(temporary)
      throw error
    }
    await this.#sync(id, handle, temporary)
    await this.#publish(id, temporary)
  }

  /** Flushes and closes a written temp file; removes it on failure. */
  async #sync(id: BlockId, handle: FileHandle, temporary: string): Promise<void> {
    try {
      try {
        if (!this.files.isCache) await writing(id, handle.datasync())
        await backdate(handle)
      } finally {
        await handle.close()
      }
    } catch (error) {
      await removeTemporary(temporary)
      throw error
    }
  }

  read(id: BlockId, range?: ByteRange, options: ReadOptions = {}): AsyncGenerator<Buffer, void> {
    const lent = options.lend ? this.#chunks : undefined
    const isChecked = !options.unchecked
    return range === undefined ? this.#readWhole(id, lent) : this.#readRange(id, range, lent, isChecked)
  }

  async *#readWhole(id: BlockId, lent: ChunkBufferPool | undefined): AsyncGenerator<Buffer, void> {
    using file = await this.files.opened(id, (file) => this.#handles.borrowOnce(file))
    const { fd, stats } = file
    const chunks = readChunks(id, fd, { start: 0, end: stats.size }, lent)
    if (this.#verified.has(id, stats)) return yield* chunks
    yield* verifiedRead(id, stats.size, chunks)
    this.#verified.add(id, stats)
  }

  async *#readRange(
    id: BlockId,
    range: ByteRange,
    lent: ChunkBufferPool | undefined,
    isChecked: boolean,
  ): AsyncGenerator<Buffer, void> {
    using file = await this.files.opened(id, (file) => this.#handles.borrow(file))
    if (isChecked && !this.#verified.has(id, file.stats)) await this.#check(id, file)
    yield* readChunks(id, file.fd, range, lent)
  }

  readAtOnce(id: BlockId, range: ByteRange): Promise<BorrowedBytes> {
    const file = this.#handles.borrowOpen(this.files.fileOf(id))
    if (file === undefined) return this.#openAndRead(id, range)
    return this.#verified.has(id, file.stats)
      ? readRangeAtOnce(id, file, range, this.#ranges)
      : this.#checkAndRead(id, file, range)
  }

  async #openAndRead(id: BlockId, range: ByteRange): Promise<BorrowedBytes> {
    const file = await this.files.opened(id, (file) => this.#handles.borrow(file))
    return this.#verified.has(id, file.stats)
      ? readRangeAtOnce(id, file, range, this.#ranges)
      : this.#checkAndRead(id, file, range)
  }

  async #checkAndRead(id: BlockId, file: BorrowedFile, range: ByteRange): Promise<BorrowedBytes> {
    const isWhole = range.start === 0 && range.end === file.stats.size
    try {
      if (!isWhole) await this.#check(id, file)
    } catch (error) {
      file[Symbol.dispose]()
      throw error
    }
    const read = await readRangeAtOnce(id, file, range, this.#ranges)
    if (isWhole) this.#checkWhole(id, file, read.bytes)
    return read
  }

  /** The range is short enough to be hashed without a yield (I10). */
  #checkWhole(id: BlockId, { stats }: BorrowedFile, bytes: Buffer): void {
    const actual = sha1Hex(bytes)
    if (actual !== id) throw new BlockDamaged(id, `its bytes hash to ${actual}`)
    this.#verified.add(id, stats)
  }

  /** Verifies a block before a range of it is read. Concurrent callers share one verification. */
  async #check(id: BlockId, file: BorrowedFile): Promise<void> {
    const running = this.#checks.get(id)
    await running
    // The file may have been replaced during the other verification.
    if (running !== undefined && this.#verified.has(id, file.stats)) return
    const check = this.#checkNow(id, file).finally(() => this.#checks.delete(id))
    this.#checks.set(id, check)
    await check
  }

  async #checkNow(id: BlockId, { fd, stats }: BorrowedFile): Promise<void> {
    const chunks = readChunks(id, fd, { start: 0, end: stats.size }, this.#chunks)
    for await (const chunk of verifiedRead(id, stats.size, chunks)) void chunk
    this.#verified.add(id, stats)
  }

  override async retire(id: BlockId): Promise<void> {
    await super.retire(id)
    this.#handles.evict(this.files.fileOf(id))
  }

  releaseBuffers(): void {
    this.#chunks.clear()
    this.#ranges.clear()
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]()
    await this.#handles[Symbol.asyncDispose]()
    await Promise.all(this.#threads.map((thread) => thread.close()))
  }
}

function tryStat(file: string): Stats | undefined {
  try {
    return statSync(file)
  } catch {
    return undefined
  }
}
