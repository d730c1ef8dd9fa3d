import { createHash, type Hash, randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { type BlockId, idFromBytes, sha1Hex } from '../../../base/objects/index.ts'
import { Semaphore } from '../../../base/scheduling/index.ts'
import type { Database, Reader } from '../../database/index.ts'
import {
  type Bucket,
  type BucketStatistics,
  ObjectMissing,
  type ObjectVersion,
  S3Refused,
  S3Unavailable,
} from '../../s3/index.ts'
import {
  BlockDamaged,
  BlockMismatch,
  BlockMissing,
  type BlockSource,
  type BlockStore,
  BlockStoreError,
  BlockStoreUnavailable,
  type BlockWriter,
  type BorrowedBytes,
  type ByteRange,
  type ReadOptions,
  type ReceivedBlock,
} from '../index.ts'
import { BlockCache } from './block-cache.ts'
import {
  type BlockObject,
  deleteObjectRows,
  findObject,
  findObjects,
  insertUpload,
  listIdsAfter,
  listUnwanted,
  setAbandoned,
  setDiscarded,
  setRestored,
  setRetired,
  setStored,
  setUnwanted,
} from './block-object-store.ts'

interface S3BlockStoreParts {
  /** The rows of the objects. A reader is enough for a store that is only read. */
  readonly db: Database | Reader
  readonly bucket: Bucket
  /** Holds blocks on their way to S3 and those that were read lately. Owned by this store. */
  readonly cache: BlockStore
  readonly cacheBytes: number
  /** Creates the folders of the cache again after somebody deleted them. */
  readonly recreateCache: () => Promise<void>
  /** Unix seconds. */
  readonly now: () => number
}

/** Counters since the start. */
export interface S3BlockStoreStatistics extends BucketStatistics {
  readonly cacheHits: number
  readonly cacheMisses: number
  readonly cacheBytes: number
}

/** Concurrent transfers in each direction. A transfer holds about 2 MiB of memory. */
const CONCURRENT_TRANSFERS = 16
/** Of a download. Each holds a chunk of up to 1 MiB in memory until it is its turn. */
const READ_AHEAD = 3
const IDS_PER_PAGE = 1000
const DELETIONS_PER_STEP = 256
const GENERATION_BYTES = 8
/** SHA-256 of as many bytes holds the event loop for about a millisecond (I10). */
const SLICE_BYTES = 1024 * 1024
/** Times that a missing object of a known block is asked for, with the longest pause before each. */
const MISSING_PAUSES_MS = [100, 300, 900]
/** Times that a block is fetched that vanishes from the cache before it is read. */
const FETCHES = 2
/** Times that a block is transferred whose bytes arrive changed, in each direction. */
const TRANSFERS = 3
/** Times that a fetch evicts blocks because the disk is full, and the bytes beyond its own. */
const MAX_EVICTIONS = 4
const ROOM_BYTES = 16 * 1024 * 1024
/** The longest block that clients may send. */
const LARGEST_VERSION = 64 * 1024 * 1024

/**
 * Blocks as objects of an S3 service, behind a bounded cache on disk. Rows say which object is the one of a block, so nothing is listed and no
 * object is looked for. A block is written to the cache while it is received, and is durable once its PUT succeeded and its row
 * says so. A block that is not cached is fetched and verified as a whole before a byte of it leaves (I6).
 */
export class S3BlockStore implements BlockStore {
  /** A block is fetched as a whole before its first byte is sent, so several have to be underway. */
  readonly readAhead = READ_AHEAD
  readonly #db: Database | Reader
  readonly #bucket: Bucket
  readonly #cache: BlockStore
  readonly #cached: BlockCache
  readonly #recreateCache: () => Promise<void>
  readonly #now: () => number
  readonly #uploads = new Semaphore(CONCURRENT_TRANSFERS)
  readonly #downloads = new Semaphore(CONCURRENT_TRANSFERS)
  readonly #fetches = new Map<BlockId, Promise<void>>()
  readonly #running = new Set<Promise<unknown>>()
  #hits = 0
  #misses = 0

  constructor({ db, bucket, cache, cacheBytes, recreateCache, now }: S3BlockStoreParts) {
    this.#db = db
    this.#bucket = bucket
    this.#cache = cache
    this.#cached = new BlockCache(cache, cacheBytes)
    this.#recreateCache = recreateCache
    this.#now = now
    // In the background: a large cache takes seconds, and nothing depends on its count but the eviction.
    this.#track(this.#cached.load()).catch(() => {})
  }

  get statistics(): S3BlockStoreStatistics {
    return {
      ...this.#bucket.statistics,
      cacheHits: this.#hits,
      cacheMisses: this.#misses,
      cacheBytes: this.#cached.bytes,
    }
  }

  /** Throws BlockStoreError if the bucket cannot be used. */
  async reach(): Promise<void> {
    await translated(this.#bucket.reach())
  }

  async put(id: BlockId, bytes: BlockSource, signal?: AbortSignal): Promise<void> {
    const sha256 = createHash('sha256')
    let size = 0
    const count = (chunk: Uint8Array) => {
      sha256.update(chunk)
      size += chunk.length
    }
    using _pin = this.#cached.pin(id)
    await this.#track(this.#writing(() => this.#cache.put(id, counted(bytes, count), signal)))
    this.#cached.add(id, size)
    const { object, uploaded } = await this.#startUpload(id, size, sha256.digest('hex'))
    await uploaded
    await this.#keep(object)
  }

  begin(): BlockWriter {
    const inner = this.#cache.begin()
    const sha256 = createHash('sha256')
    return {
      write: (piece) => {
        if (piece.length <= SLICE_BYTES) {
          sha256.update(piece)
          const pending = inner.write(piece)
          return pending && this.#writing(() => pending)
        }
        return this.#writeSlices(inner, sha256, piece)
      },
      finish: async (expected) => {
        const received = await this.#writing(() => inner.finish(expected))
        return this.#receive(received, sha256.digest('hex'))
      },
      abort: () => inner.abort(),
    }
  }

  async #writeSlices(inner: BlockWriter, sha256: Hash, piece: Uint8Array): Promise<void> {
    for (let start = 0; start < piece.length; start += SLICE_BYTES) {
      const slice = piece.subarray(start, start + SLICE_BYTES)
      sha256.update(slice)
      await this.#writing(async () => inner.write(slice))
    }
  }

  /**
   * Begins to upload a received block at once, so that receiving and uploading overlap. Resolves when its upload has begun, which limits
   * what waits in the cache.
   */
  async #receive(received: ReceivedBlock, sha256: string): Promise<ReceivedBlock> {
    const { id, size } = received
    const { object, uploaded } = await this.#startUpload(id, size, sha256, () => received.keep())
    return {
      id,
      size,
      synced: uploaded,
      keep: () => uploaded.then(() => this.#keep(object)),
      discard: async () => {
        const isUploaded = await uploaded.then(
          () => true,
          () => false,
        )
        // The outcome of a failed PUT is unknown, so its row waits until no late one can arrive.
        if (isUploaded) await this.#writable().write((tx) => setUnwanted(tx, object, this.#now()))
      },
    }
  }

  async #startUpload(
    id: BlockId,
    size: number,
    sha256: string,
    prepare?: () => Promise<void>,
  ): Promise<{ object: BlockObject; uploaded: Promise<void> }> {
    const object = { id, generation: randomBytes(GENERATION_BYTES), size }
    const started = Promise.withResolvers<void>()
    const pin = this.#cached.pin(id)
    const uploaded = this.#track(
      this.#uploads.run(async () => {
        using _pin = pin
        started.resolve()
        if (prepare !== undefined) {
          await this.#writing(prepare)
          this.#cached.add(id, size)
        }
        // Durable before the PUT: an object without a row would never be found.
        await insertUpload(this.#writable(), object, this.#now())
        const open = () => (size === 0 ? Buffer.alloc(0) : this.#cache.read(id))
        await this.#putObject(object, { size, sha256, open })
      }),
    )
    uploaded.catch(() => {}) // `keep` rejects with the error.
    await started.promise
    return { object, uploaded }
  }

  /** Sends the bytes again if they arrived changed. */
  async #putObject(object: BlockObject, body: Parameters<Bucket['put']>[1]): Promise<void> {
    for (let transfers = 1; ; transfers += 1) {
      try {
        await translated(this.#bucket.put(nameOf(object), body))
        return
      } catch (error) {
        const isChanged =
          error instanceof Error && error.cause instanceof S3Refused && error.cause.hasWrongBytes
        if (!isChanged) throw error
        if (transfers === TRANSFERS) throw changedOnTheWay(object.id, error)
      }
    }
  }

  async #keep(object: BlockObject): Promise<void> {
    if (await this.#writable().write((tx) => setStored(tx, object, this.#now()))) return
    throw new BlockStoreUnavailable(`The upload of the block ${object.id} took too long and was given up.`)
  }

  async *read(id: BlockId, range?: ByteRange, options: ReadOptions = {}): AsyncGenerator<Buffer, void> {
    using _pin = this.#cached.pin(id)
    if (options.stored) {
      yield* this.#readStored(id, range, options)
      return
    }
    let given = 0
    for (let fetches = 0; ; fetches += 1) {
      try {
        // Always checked, because the cache flushes nothing. What was fetched since the start is known to be right.
        for await (const chunk of this.#cache.read(id, range, { ...options, unchecked: false })) {
          if (given === 0) this.#noteRead(id, fetches)
          given += chunk.length
          yield chunk
        }
        return
      } catch (error) {
        if (given > 0) throw await this.#damageOf(id, range, error)
        if (fetches === FETCHES) throw error
        await this.#replace(id, error)
      }
    }
  }

  /** Fetches the stored copy, even if another is cached, and caches it only for the time of the read. */
  async *#readStored(
    id: BlockId,
    range: ByteRange | undefined,
    options: ReadOptions,
  ): AsyncGenerator<Buffer, void> {
    const wasCached = this.#cached.has(id)
    await this.#fetch(id)
    try {
      yield* this.#cache.read(id, range, options)
    } finally {
      if (!wasCached) await this.#cached.evict(id).catch(() => {})
    }
  }

  async readAtOnce(id: BlockId, range: ByteRange): Promise<BorrowedBytes> {
    using _pin = this.#cached.pin(id)
    for (let fetches = 0; ; fetches += 1) {
      try {
        const read = await this.#cache.readAtOnce(id, range)
        this.#noteRead(id, fetches)
        return read
      } catch (error) {
        if (fetches === FETCHES) throw error
        await this.#replace(id, error)
      }
    }
  }

  #noteRead(id: BlockId, fetches: number): void {
    this.#cached.touch(id)
    if (fetches === 0) this.#hits += 1
  }

  /** Fetches a block that is not cached, or whose cached copy is damaged. Throws errors that say something else. */
  async #replace(id: BlockId, error: unknown): Promise<void> {
    if (error instanceof BlockDamaged) await this.#cached.evict(id)
    else if (!(error instanceof BlockMissing)) throw error
    this.#misses += 1
    await this.#fetch(id)
  }

  /** The error of a read that failed after it had returned bytes. Damage of the cached copy says nothing about the block. */
  async #damageOf(id: BlockId, range: ByteRange | undefined, error: unknown): Promise<unknown> {
    if (!(error instanceof BlockDamaged)) return error
    if (range !== undefined && range.end > (await this.size(id))) return error
    await this.#cached.evict(id)
    return new BlockStoreUnavailable(`The cached copy of the block ${id} was damaged, and was removed.`, {
      cause: error,
    })
  }

  /** Concurrent callers share one fetch. */
  #fetch(id: BlockId): Promise<void> {
    const running = this.#fetches.get(id)
    if (running !== undefined) return running
    const fetching = this.#track(this.#downloads.run(() => this.#fetchNow(id))).finally(() =>
      this.#fetches.delete(id),
    )
    this.#fetches.set(id, fetching)
    return fetching
  }

  async #fetchNow(id: BlockId): Promise<void> {
    let [missing, wiped, full] = [0, 0, 0]
    const received: string[] = []
    for (;;) {
      const object = await this.#find(id)
      const store = (chunks: AsyncIterable<Buffer>) => this.#cache.put(id, chunks)
      try {
        await translated(this.#bucket.get(nameOf(object), store))
        this.#cached.add(id, object.size)
        return
      } catch (error) {
        if (error instanceof BlockMismatch) {
          // The same wrong bytes twice are those of the object. Others were changed on the way, which says nothing about it.
          if (received.includes(error.actual))
            throw new BlockDamaged(id, `its object has other bytes: ${error.message}`)
          received.push(error.actual)
          if (received.length === TRANSFERS) throw changedOnTheWay(id, error)
        } else if (error instanceof ObjectMissing) {
          // It may have been replaced since its row was read, or a replica of the service may lag behind.
          await this.#waitForMissing(id, missing, error)
          missing += 1
        } else if (isFolderMissing(error) && wiped === 0) {
          wiped += 1
          await this.#recreateCache()
        } else if (isDiskFull(error) && full < MAX_EVICTIONS) {
          full += 1
          if ((await this.#cached.makeRoom(object.size + ROOM_BYTES)) === 0) throw error
        } else throw error
      }
    }
  }

  async #waitForMissing(id: BlockId, tries: number, cause: ObjectMissing): Promise<void> {
    const longest = MISSING_PAUSES_MS[tries]
    if (longest === undefined) throw new BlockMissing(id, { cause })
    await wait(Math.random() * longest)
  }

  /** The object of a block. A retired one is taken back. Throws BlockMissing. */
  async #find(id: BlockId): Promise<BlockObject> {
    const object = await findObject(this.#db, id)
    if (object === undefined) throw new BlockMissing(id)
    if (object.isRetired && isWritable(this.#db)) await this.restore(id)
    return object
  }

  /**
   * The bytes of a block from any object of it that the bucket still has, newest first: earlier versions of a versioned bucket, deleted objects, and
   * objects without a row. Undefined if none has the bytes. For repairs: it lists the bucket, which nothing else does. Throws BlockStoreError.
   */
  async findVersion(id: BlockId): Promise<{ bytes: Buffer; storedAt: Date } | undefined> {
    const versions = await this.#listVersions(id)
    for (const version of versions.toSorted((a, b) => b.storedAt.getTime() - a.storedAt.getTime())) {
      const bytes = await this.#readVersion(version)
      if (bytes !== undefined && sha1Hex(bytes) === id) return { bytes, storedAt: version.storedAt }
    }
    return undefined
  }

  async #listVersions(id: BlockId): Promise<ObjectVersion[]> {
    try {
      return await translated(Array.fromAsync(this.#bucket.listVersions(namePrefixOf(id))))
    } catch (error) {
      // Some services without versions answer 404.
      if (!(error instanceof ObjectMissing)) throw error
      throw new BlockStoreError(`${this.#bucket.place} does not list versions.`, { cause: error })
    }
  }

  /** Undefined if it was deleted meanwhile, or is too long for a block. */
  async #readVersion({ name, version, size }: ObjectVersion): Promise<Buffer | undefined> {
    if (size > LARGEST_VERSION) return undefined
    const read = async (chunks: AsyncIterable<Buffer>) => Buffer.concat(await Array.fromAsync(chunks))
    try {
      return await translated(this.#bucket.get(name, read, { version }))
    } catch (error) {
      if (error instanceof ObjectMissing) return undefined
      throw error
    }
  }

  async size(id: BlockId, { stored = false }: Pick<ReadOptions, 'stored'> = {}): Promise<number> {
    for (let tries = 0; ; tries += 1) {
      const object = await this.#find(id)
      if (!stored) return object.size
      try {
        return await translated(this.#bucket.size(nameOf(object)))
      } catch (error) {
        if (!(error instanceof ObjectMissing)) throw error
        await this.#waitForMissing(id, tries, error)
      }
    }
  }

  async missing(ids: readonly BlockId[]): Promise<BlockId[]> {
    const found = await findObjects(this.#db, ids)
    for (const [id, isRetired] of found) if (isRetired && isWritable(this.#db)) await this.restore(id)
    return ids.filter((id) => !found.has(id))
  }

  list(): AsyncGenerator<BlockId, void> {
    return this.#listIds('stored')
  }

  listRetired(): AsyncGenerator<BlockId, void> {
    return this.#listIds('retired')
  }

  async *#listIds(state: 'stored' | 'retired'): AsyncGenerator<BlockId, void> {
    for (let after: Uint8Array = new Uint8Array(0); ; ) {
      const page = await listIdsAfter(this.#db, state, after, IDS_PER_PAGE)
      for (const id of page) yield idFromBytes<BlockId>(id)
      const last = page.at(-1)
      if (last === undefined || page.length < IDS_PER_PAGE) return
      after = last
    }
  }

  async retire(id: BlockId): Promise<void> {
    await this.#writable().write((tx) => setRetired(tx, id, this.#now()))
    // So that the next read finds out that it is retired.
    await this.#cached.evict(id)
  }

  restore(id: BlockId): Promise<boolean> {
    return this.#writable().write((tx) => setRestored(tx, id, this.#now()))
  }

  async discard(id: BlockId): Promise<number> {
    const objects = await this.#writable().write((tx) => setDiscarded(tx, id, this.#now()))
    await this.#cached.evict(id)
    return this.#remove(objects)
  }

  /** Resolves to the bytes of the objects. Rows stay if their objects could not be deleted. */
  async #remove(objects: readonly BlockObject[]): Promise<number> {
    if (objects.length === 0) return 0
    for (const object of objects) await translated(this.#bucket.remove(nameOf(object)))
    await this.#writable().write((tx) => deleteObjectRows(tx, objects))
    return objects.reduce((sum, { size }) => sum + size, 0)
  }

  async deleteLeftovers(idleSeconds: number): Promise<number> {
    const now = this.#now()
    await this.#writable().write((tx) => setAbandoned(tx, now - idleSeconds, now))
    let bytes = await this.#cache.deleteLeftovers(idleSeconds)
    for (;;) {
      const objects = await listUnwanted(this.#db, DELETIONS_PER_STEP)
      bytes += await this.#remove(objects)
      if (objects.length < DELETIONS_PER_STEP) break
    }
    // Other processes on this folder may have cached blocks.
    await this.#cached.load()
    return bytes
  }

  releaseBuffers(): void {
    this.#cache.releaseBuffers?.()
  }

  /** Waits for transfers in progress. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#running)
    await this.#cached.settled()
    await this.#cache[Symbol.asyncDispose]()
    this.#bucket[Symbol.dispose]()
  }

  #writable(): Database {
    if (isWritable(this.#db)) return this.#db
    throw new BlockStoreError('The block store was opened for reading only.')
  }

  /**
   * Runs a write to the cache. If somebody deleted its folders, they are created again for the next one. If its disk is full, blocks are
   * evicted for the next one.
   */
  async #writing<T>(write: () => Promise<T>): Promise<T> {
    try {
      return await write()
    } catch (error) {
      if (isDiskFull(error) && (await this.#cached.makeRoom(ROOM_BYTES)) > 0) {
        throw new BlockStoreUnavailable('The disk of the block cache was full, and blocks were evicted.', {
          cause: error,
        })
      }
      if (!isFolderMissing(error)) throw error
      await this.#recreateCache()
      throw new BlockStoreUnavailable(
        'The folders of the block cache were deleted, and were created again.',
        {
          cause: error,
        },
      )
    }
  }

  async #track<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work)
    try {
      return await work
    } finally {
      this.#running.delete(work)
    }
  }
}

/** The name of an object below the prefix of the bucket. Names begin with random characters, so that a service can distribute them. */
function nameOf({ id, generation }: BlockObject): string {
  return `${namePrefixOf(id)}${Buffer.from(generation).toString('hex')}`
}

/** With which the names of all objects of a block begin. */
function namePrefixOf(id: BlockId): string {
  return `${id.slice(0, 2)}/${id.slice(2)}-`
}

function isWritable(db: Database | Reader): db is Database {
  return 'write' in db
}

function isFolderMissing(error: unknown): boolean {
  return causeOf(error) === 'ENOENT'
}

function isDiskFull(error: unknown): boolean {
  const code = causeOf(error)
  return code === 'ENOSPC' || code === 'EDQUOT'
}

/** The code of the system error behind an error of the cache. */
function causeOf(error: unknown): unknown {
  if (!(error instanceof BlockStoreError) || !(error.cause instanceof Error)) return undefined
  return 'code' in error.cause ? error.cause.code : undefined
}

function changedOnTheWay(id: BlockId, cause: Error): BlockStoreUnavailable {
  return new BlockStoreUnavailable(`The bytes of the block ${id} arrive changed, each time in another way.`, {
    cause,
  })
}

/** Translates errors of the client into ours, except ObjectMissing. */
async function translated<T>(request: Promise<T>): Promise<T> {
  try {
    return await request
  } catch (error) {
    if (error instanceof S3Unavailable) throw new BlockStoreUnavailable(error.message, { cause: error })
    if (error instanceof S3Refused) throw new BlockStoreError(error.message, { cause: error })
    throw error
  }
}

async function* counted(
  source: BlockSource,
  count: (chunk: Uint8Array) => void,
): AsyncGenerator<Uint8Array, void> {
  if (source instanceof Uint8Array) {
    for (let start = 0; start < source.length; start += SLICE_BYTES) {
      const slice = source.subarray(start, start + SLICE_BYTES)
      count(slice)
      yield slice
    }
    return
  }
  for await (const chunk of source) {
    count(chunk)
    yield chunk
  }
}
