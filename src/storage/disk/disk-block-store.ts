import { randomUUID } from 'node:crypto'
import { type Stats, statSync } from 'node:fs'
import { type FileHandle, open, readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { type BlockId, parseBlockId, sha1Hex } from '../../objects/index.ts'
import {
  BlockDamaged,
  type BlockSource,
  type BlockStore,
  type BlockWriter,
  type ByteRange,
  checkedOnTheWayIn,
  checkedOnTheWayOut,
  type LentBytes,
  type ReadOptions,
} from '../index.ts'
import { DiskBlockWriter, type TemporaryFile } from './block-writer.ts'
import { ChunkBuffers } from './chunk-buffers.ts'
import { DirectFile } from './direct-files.ts'
import { codeOf, reading, UNNAMED, writing } from './disk-errors.ts'
import { CHUNK_BYTES, readChunks, readerOf, writeChunks } from './file-chunks.ts'
import { FolderSyncs } from './folder-syncs.ts'
import { blockFolders, prepareFolders, syncFolder } from './folders.ts'
import { FreshBlocks } from './fresh-blocks.ts'
import { HashThread } from './hash-thread.ts'
import { OpenFiles, type UsedFile } from './open-files.ts'
import { PieceBuffers, readPiece } from './pieces.ts'
import { Slabs } from './slabs.ts'
import { backdate, SoundBlocks } from './sound-blocks.ts'

export interface DiskBlockStoreOptions {
  directory: string
  /** Another process of this server has the store open, so temp files may be in use: leave them. */
  shared?: boolean
  /** Threads that hash long blocks; one unless given. */
  threads?: number
}

/** Opens, and at first makes, a store in `directory`. Throws BlockStoreError if it cannot be written. */
export async function openDiskBlockStore(options: DiskBlockStoreOptions): Promise<BlockStore> {
  const { directory, shared = false, threads = 1 } = options
  const temporary = await prepareFolders(directory, { removeLeftovers: !shared })
  return new DiskBlockStore(directory, temporary, threads)
}

/** Blocks as files `ab/cdef…`, each complete and synced before it gets its name. */
class DiskBlockStore implements BlockStore {
  readonly #directory: string
  readonly #temporary: string
  readonly #folderSyncs = new FolderSyncs(syncFolder)
  readonly #puts = new Set<Promise<void>>()
  readonly #sound = new SoundBlocks()
  readonly #fresh = new FreshBlocks()
  readonly #checks = new Map<BlockId, Promise<void>>()
  readonly #openFiles = new OpenFiles()
  readonly #buffers = new ChunkBuffers()
  readonly #pieces = new PieceBuffers()
  readonly #slabs = new Slabs()
  readonly #threads: readonly [HashThread, ...HashThread[]]

  constructor(directory: string, temporary: string, threads: number) {
    this.#directory = directory
    this.#temporary = temporary
    const more = Array.from({ length: threads - 1 }, () => new HashThread(this.#slabs))
    this.#threads = [new HashThread(this.#slabs), ...more]
  }

  async put(id: BlockId, bytes: BlockSource, signal?: AbortSignal): Promise<void> {
    await this.#underWay(this.#put(id, bytes, signal))
  }

  begin(): BlockWriter {
    return new DiskBlockWriter({
      open: () => this.#openTemporary(),
      slabs: this.#slabs,
      thread: () => this.#leastBusyThread(),
      take: (id, file) => this.#take(id, file),
    })
  }

  async #openTemporary(): Promise<TemporaryFile> {
    const file = path.join(this.#temporary, `in-${randomUUID()}`)
    const handle = await writing(UNNAMED, open(file, 'wx', 0o600))
    const discard = async () => {
      await handle.close()
      await rm(file, { force: true }).catch(() => {})
    }
    return { handle, path: file, isPastCache: false, discard }
  }

  #leastBusyThread(): HashThread {
    return this.#threads.reduce((least, one) => (one.load < least.load ? one : least))
  }

  #take(id: BlockId, { handle, path: file, isPastCache }: TemporaryFile) {
    const synced = this.#underWay(sync(id, handle, file))
    synced.catch(() => {}) // Whoever keeps it hears of it.
    return {
      synced,
      keep: () => this.#underWay(synced.then(() => this.#name(id, file, isPastCache))),
      discard: async () => {
        await synced.catch(() => {})
        await rm(file, { force: true }).catch(() => {})
      },
    }
  }

  /** Closing the store waits for it. */
  async #underWay(putting: Promise<void>): Promise<void> {
    this.#puts.add(putting)
    try {
      await putting
    } finally {
      this.#puts.delete(putting)
    }
  }

  /** Gives a synced file its name. */
  async #name(id: BlockId, temporary: string, isPastCache: boolean): Promise<void> {
    const file = this.#fileOf(id)
    try {
      await writing(id, rename(temporary, file))
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => {})
      throw error
    }
    this.#noteWritten(id, file, isPastCache)
    await writing(id, this.#folderSyncs.sync(path.dirname(file)))
  }

  /** The bytes were hashed on the way in. If the file cannot be looked at, they are hashed again when read. */
  #noteWritten(id: BlockId, file: string, isPastCache: boolean): void {
    // Of a file that was just renamed everything is in memory: this takes no longer than handing it to another thread.
    const stats = lookAt(file)
    if (stats !== undefined) this.#sound.add(id, stats)
    // What is read in one piece is read through the cache.
    if (isPastCache && stats !== undefined && stats.size > CHUNK_BYTES) this.#fresh.add(id)
    else this.#fresh.delete(id)
  }

  async #put(id: BlockId, bytes: BlockSource, signal?: AbortSignal): Promise<void> {
    const file = this.#fileOf(id)
    const checked = checkedOnTheWayIn(id, bytes, signal)
    // A file of another size is a damaged block, which this put mends.
    const held = bytes instanceof Uint8Array && (await sizeOf(id, file)) === bytes.length
    if (held) for await (const slice of checked) void slice
    else return this.#write(id, checked)
    // For a block already held too: whoever wrote it may have died before it came to this.
    await writing(id, this.#folderSyncs.sync(path.dirname(file)))
  }

  async #write(id: BlockId, chunks: AsyncIterable<Uint8Array>) {
    const temporary = path.join(this.#temporary, `${id}-${randomUUID()}`)
    const handle = await writing(id, open(temporary, 'wx', 0o600))
    try {
      await writeChunks(id, handle, chunks)
    } catch (error) {
      await handle.close()
      // What cannot be removed now is removed at the next start; the first error is the one to tell.
      await rm(temporary, { force: true }).catch(() => {})
      throw error
    }
    await sync(id, handle, temporary)
    await this.#name(id, temporary, false)
  }

  read(id: BlockId, range?: ByteRange, options: ReadOptions = {}): AsyncGenerator<Buffer, void> {
    const lent = options.lend ? this.#buffers : undefined
    const isChecked = !options.unchecked
    return range === undefined ? this.#readWhole(id, lent) : this.#readRange(id, range, lent, isChecked)
  }

  async *#readWhole(id: BlockId, lent: ChunkBuffers | undefined): AsyncGenerator<Buffer, void> {
    using file = await reading(id, this.#openFiles.useOnce(this.#fileOf(id)))
    const { stats } = file
    const chunks = this.#chunksOf(id, file, lent)
    if (this.#sound.has(id, stats)) return yield* chunks
    yield* checkedOnTheWayOut(id, stats.size, chunks)
    this.#sound.add(id, stats)
  }

  /** All of a block. */
  async *#chunksOf(
    id: BlockId,
    { fd, stats }: UsedFile,
    lent: ChunkBuffers | undefined,
  ): AsyncGenerator<Buffer, void> {
    const whole = { start: 0, end: stats.size }
    const readAt = readerOf(fd)
    if (lent === undefined) this.#fresh.delete(id)
    const isFresh = lent !== undefined && this.#fresh.take(id)
    using direct = isFresh ? await DirectFile.open(this.#fileOf(id), 'read') : undefined
    if (!isFresh || direct === undefined) return yield* readChunks(id, readAt, whole, lent)
    let waitedMs = 0
    yield* readChunks(id, direct.reader(lent, readAt), whole, lent, (ms) => {
      waitedMs += ms
    })
    this.#fresh.noteWaited(stats.size, waitedMs)
  }

  async *#readRange(
    id: BlockId,
    range: ByteRange,
    lent: ChunkBuffers | undefined,
    isChecked: boolean,
  ): AsyncGenerator<Buffer, void> {
    using file = await reading(id, this.#openFiles.use(this.#fileOf(id)))
    if (isChecked && !this.#sound.has(id, file.stats)) await this.#check(id, file)
    yield* readChunks(id, readerOf(file.fd), range, lent)
  }

  readAtOnce(id: BlockId, range: ByteRange): Promise<LentBytes> {
    const file = this.#openFiles.find(this.#fileOf(id))
    if (file === undefined) return this.#openAndRead(id, range)
    return this.#sound.has(id, file.stats)
      ? readPiece(id, file, range, this.#pieces)
      : this.#checkAndRead(id, file, range)
  }

  async #openAndRead(id: BlockId, range: ByteRange): Promise<LentBytes> {
    const file = await reading(id, this.#openFiles.use(this.#fileOf(id)))
    return this.#sound.has(id, file.stats)
      ? readPiece(id, file, range, this.#pieces)
      : this.#checkAndRead(id, file, range)
  }

  async #checkAndRead(id: BlockId, file: UsedFile, range: ByteRange): Promise<LentBytes> {
    const isWhole = range.start === 0 && range.end === file.stats.size
    try {
      if (!isWhole) await this.#check(id, file)
    } catch (error) {
      file[Symbol.dispose]()
      throw error
    }
    const piece = await readPiece(id, file, range, this.#pieces)
    if (isWhole) this.#checkWhole(id, file, piece.bytes)
    return piece
  }

  /** A piece is short enough to be hashed at once (I10). */
  #checkWhole(id: BlockId, { stats }: UsedFile, bytes: Buffer): void {
    const actual = sha1Hex(bytes)
    if (actual !== id) throw new BlockDamaged(id, `its bytes hash to ${actual}`)
    this.#sound.add(id, stats)
  }

  /** Reads all of a block. Many who want a part of it at the same time wait for one of them to do so. */
  async #check(id: BlockId, file: UsedFile): Promise<void> {
    const underWay = this.#checks.get(id)
    await underWay
    // The file may have been replaced while the other was at it.
    if (underWay !== undefined && this.#sound.has(id, file.stats)) return
    const checking = this.#checkNow(id, file).finally(() => this.#checks.delete(id))
    this.#checks.set(id, checking)
    await checking
  }

  async #checkNow(id: BlockId, { fd, stats }: UsedFile): Promise<void> {
    const chunks = readChunks(id, readerOf(fd), { start: 0, end: stats.size }, this.#buffers)
    this.#fresh.delete(id)
    for await (const chunk of checkedOnTheWayOut(id, stats.size, chunks)) void chunk
    this.#sound.add(id, stats)
  }

  async size(id: BlockId): Promise<number> {
    return (await reading(id, stat(this.#fileOf(id)))).size
  }

  async missing(ids: readonly BlockId[]): Promise<BlockId[]> {
    const missing: BlockId[] = []
    for (let start = 0; start < ids.length; start += LOOKUPS_AT_ONCE) {
      const group = ids.slice(start, start + LOOKUPS_AT_ONCE)
      const sizes = await Promise.all(group.map((id) => sizeOf(id, this.#fileOf(id))))
      missing.push(...group.filter((_, index) => sizes[index] === undefined))
    }
    return missing
  }

  async remove(id: BlockId): Promise<void> {
    await writing(id, rm(this.#fileOf(id), { force: true }))
    this.#openFiles.forget(this.#fileOf(id))
  }

  async *list(): AsyncGenerator<BlockId, void> {
    for (const folder of blockFolders) {
      const names = await readdir(path.join(this.#directory, folder))
      for (const name of names.sort()) {
        const id = parseBlockId(folder + name)
        if (id !== undefined) yield id
      }
    }
  }

  /** Waits for the puts under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#puts)
    await this.#openFiles[Symbol.asyncDispose]()
    await Promise.all(this.#threads.map((thread) => thread.close()))
  }

  #fileOf(id: BlockId): string {
    return path.join(this.#directory, id.slice(0, 2), id.slice(2))
  }
}

const LOOKUPS_AT_ONCE = 32

async function sizeOf(id: BlockId, file: string): Promise<number | undefined> {
  const found = stat(file).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  })
  return (await reading(id, found))?.size
}

function lookAt(file: string): Stats | undefined {
  try {
    return statSync(file)
  } catch {
    return undefined
  }
}

/** Syncs and closes a written file; one that cannot be synced is removed. */
async function sync(id: BlockId, handle: FileHandle, temporary: string): Promise<void> {
  try {
    try {
      await writing(id, handle.datasync())
      await backdate(handle)
    } finally {
      await handle.close()
    }
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {})
    throw error
  }
}
