import { AsyncLocalStorage } from 'node:async_hooks'
import { type FileHandle, mkdir, open, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { backup } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import type { MaybePromise } from '../../../base/scheduling/index.ts'
import type { CommitGuard, RequestOptions, Row, Transaction, Value, WriteOptions } from '../database.ts'
import { DatabaseError, databaseClosed, leaseEnded } from '../errors.ts'
import { type Logger, silentLogger } from '../logger.ts'
import type { Migratable } from '../migrate.ts'
import type { ProcessLocks } from '../process-locks.ts'
import { RequestWait, RequestWaits, refuseExpired } from '../request-waits.ts'
import type { RowCacheStatistics } from '../row-cache.ts'
import { runInSideProcess } from '../side-process.ts'
import { CachedReads } from './cached-reads.ts'
import { Checkpointer } from './checkpointer.ts'
import { Connection } from './connection.ts'
import { erasingSettings, prepareNewFile, releaseFreePages, stepOf } from './free-pages.ts'
import { GroupSync } from './group-sync.ts'
import { inspectSqlite } from './inspection.ts'
import { SqliteTransaction } from './sqlite-transaction.ts'
import { LocalWriteLock, SharedWriteLock, type WriteLock } from './write-lock.ts'

export interface SqliteOptions {
  readonly file: string
  /** Called once when the disk failed. Nothing may be acknowledged afterwards. */
  readonly onFatal: (error: Error) => void
  /** Called when the disk is full. True if it freed space, so that the write is tried once more. */
  readonly onFull?: () => boolean
  readonly logger?: Logger
  /** Replaces `fdatasync` of the write-ahead log in tests. */
  readonly syncLog?: (log: FileHandle) => Promise<void>
  /** Size of the write-ahead log that triggers a checkpoint. */
  readonly checkpointBytes?: number
  /** Size from which a log that a reader holds is reported. */
  readonly largeLogBytes?: number
  /** Given if several processes serve from the file. */
  readonly locks?: ProcessLocks | undefined
  /** Another process of this server has the file open. It has made the log durable, or everything ends. */
  readonly joins?: boolean | undefined
}

const pageBytes = 4096
const frameBytes = pageBytes + 24
const defaultCheckpointBytes = 16 * 2 ** 20
/** A log of this size is restarted long before, unless a reader holds it. */
export const LARGE_LOG_BYTES = 256 * 2 ** 20
const chunkBytes = 2 ** 20
const busyTimeoutMs = 5000
// How long a writer of this process waits for the write lock of another process.
const writeTimeoutMs = 30_000

/** Opens the file and creates it if needed. Does not migrate the schema. */
export async function openSqlite(options: SqliteOptions): Promise<SqliteDatabase> {
  const { file } = options
  await createPrivateFile(file)
  const writer = await openConnection(file)
  let reader: Connection | undefined
  let log: FileHandle | undefined
  try {
    // The log file is created by the first transaction and stays the same file while a connection is open.
    writer.exec('pragma busy_timeout = 0')
    await retryWhileBusy(() => writer.exec('begin immediate; commit'))
    reader = await openConnection(file)
    log = await open(`${file}-wal`, 'r+')
    if (options.joins !== true) await renewLog(options, writer, log)
    await syncFolder(path.dirname(file))
    return new SqliteDatabase(options, writer, reader, log)
  } catch (error) {
    await log?.close()
    if (error instanceof UnflushedLogError) {
      // Closing would copy from the log. The connections stay open until the process ends.
      abandoned.push(writer, ...(reader === undefined ? [] : [reader]))
    } else {
      reader?.close()
      writer.close()
    }
    throw error
  }
}

/** Referenced, because a connection also closes when it is garbage collected. */
const abandoned: Connection[] = []

/** The log that was found cannot be made durable. The message says what to do. */
class UnflushedLogError extends Error {
  override name = 'UnflushedLogError'
}

/** A request whose answer acknowledges a change. */
class AcknowledgingRequest extends RequestWait {
  /** The position of the newest commit it may have read. */
  seen = 0
}

/**
 * SQLite in WAL mode. A commit appends to the log without a flush. `write` then waits for an fdatasync of the log that started after its
 * commit, which runs in the thread pool and is shared by all waiting writers (docs/decisions/0003-sqlite-durability.md).
 */
class SqliteDatabase implements Migratable {
  readonly dialect = 'sqlite'
  readonly isShared: boolean
  schemaVersion = 0
  commitGuard: CommitGuard | undefined
  readonly #file: string
  readonly #writer: Connection
  readonly #reader: Connection
  readonly #reads: CachedReads
  readonly #log: FileHandle
  readonly #writeMutex: WriteLock
  readonly #sync: GroupSync
  readonly #checkpointer: Checkpointer
  readonly #requests = new AsyncLocalStorage<AcknowledgingRequest>()
  readonly #waits = new RequestWaits()
  /** Counts the commits that this process made or noticed. */
  #position = 0
  /** The commits up to this position are durable. */
  #durablePosition = 0
  readonly #onFull: () => boolean
  #closed = false

  constructor(options: SqliteOptions, writer: Connection, reader: Connection, log: FileHandle) {
    const { file, onFatal, logger = silentLogger, syncLog = (handle) => handle.datasync() } = options
    this.#file = file
    this.#onFull = options.onFull ?? (() => false)
    this.#writer = writer
    this.#reader = reader
    this.isShared = options.locks !== undefined
    this.#writeMutex =
      options.locks === undefined ? new LocalWriteLock() : new SharedWriteLock(options.locks, 'write')
    this.#reads = new CachedReads(reader, writer, () => {
      // Its process may not have flushed it yet.
      this.#position += 1
    })
    this.#log = log
    this.#sync = new GroupSync(async () => {
      const position = this.#position
      await syncLog(log)
      this.#durablePosition = Math.max(this.#durablePosition, position)
    }, onFatal)
    this.#checkpointer = new Checkpointer({
      file,
      fromFrames: (options.checkpointBytes ?? defaultCheckpointBytes) / frameBytes,
      largeFrames: (options.largeLogBytes ?? LARGE_LOG_BYTES) / frameBytes,
      writeMutex: this.#writeMutex,
      logger,
      onDiskError: (error) => this.#sync.fail('The database file could not be written.', error),
    })
  }

  all<R extends object = Row>(sql: string, ...parameters: Value[]): MaybePromise<R[]> {
    try {
      if (this.#closed) throw databaseClosed()
      const rows = this.#reads.all(sql, parameters) as R[]
      this.#noteRead()
      return rows
    } catch (error) {
      return Promise.reject(error)
    }
  }

  get<R extends object = Row>(sql: string, ...parameters: Value[]): MaybePromise<R | undefined> {
    try {
      if (this.#closed) throw databaseClosed()
      const row = this.#reads.get(sql, parameters) as R | undefined
      this.#noteRead()
      return row
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async write<T>(
    work: (tx: Transaction) => Promise<T>,
    { durable = true, onCommitted }: WriteOptions = {},
  ): Promise<T> {
    const request = this.#requests.getStore()
    this.#waits.enter(request)
    try {
      const unlock = await this.#writeMutex.lock()
      let done: { result: T; tx: SqliteTransaction }
      try {
        refuseExpired(request)
        done = await this.#transactWithReserve(work)
      } finally {
        unlock()
      }
      if (request !== undefined && durable === true) request.mayHaveChanged = true
      onCommitted?.()
      done.tx.announce()
      // Also after a transaction without changes: what it read may not be flushed yet.
      if (durable === true) await this.flushed()
      return done.result
    } finally {
      this.#waits.leave(request)
    }
  }

  /** Commands beside the server are rare, and conditional writes protect against them. */
  withMutex<T>(key: number, work: () => Promise<T>): Promise<T> {
    return this.#writeMutex.withMutex(key, work)
  }

  async runInSideProcess<Result>(job: URL, input: unknown, signal: AbortSignal): Promise<Result> {
    if (this.#closed) throw databaseClosed()
    return runInSideProcess<Result>({ kind: 'sqlite', file: this.#file }, job, input, signal)
  }

  async flushed(): Promise<void> {
    await this.#flushedUpTo(this.#position)
  }

  inRequest<T>(work: () => T, { acknowledges = false }: RequestOptions = {}): T {
    if (!acknowledges) return work()
    const request = new AcknowledgingRequest()
    let result: T | Promise<never>
    try {
      result = this.#requests.run(request, work)
    } catch (error) {
      result = Promise.reject(error)
    }
    const isPending = result instanceof Promise
    if (!isPending && request.seen <= this.#durablePosition) return result as T
    return this.#waits.guard(request, this.#heldBack(Promise.resolve(result), request)) as T
  }

  awaitInRequest<T>(work: Promise<T>, withdraw: () => boolean): Promise<T> {
    return this.#waits.track(this.#requests.getStore(), work, withdraw)
  }

  async releasePageCaches(): Promise<void> {
    if (this.#closed) return
    for (const connection of [this.#reader, this.#writer]) connection.exec('pragma shrink_memory')
  }

  get cacheStatistics(): RowCacheStatistics {
    return this.#reads.statistics
  }

  get logBytes(): number {
    return this.#framesInLog() * frameBytes
  }

  async ping(): Promise<void> {
    this.#sync.throwIfFailed()
    await this.get('select 1')
  }

  async releaseFreePages(signal: AbortSignal): Promise<number> {
    const pages = await releaseFreePages(async (most) => {
      const unlock = await this.#writeMutex.lock()
      try {
        // Not through the transaction: the rows stay the same, so cached reads stay valid.
        const { result } = await this.#transact(async () => stepOf(this.#writer, most))
        return result
      } finally {
        unlock()
      }
    }, signal)
    await this.#checkpointer.truncate()
    return pages * pageBytes
  }

  readonly backupExtension = 'db'

  async backUp(file: string, schemaVersion: number): Promise<void> {
    await writeFile(file, '', { flag: 'wx', mode: 0o600 })
    await backup(this.#writer.handle, file, { rate: 1024 })
    await using copy = await inspectSqlite(file)
    if (copy?.schemaVersion !== schemaVersion) throw new Error('the copy has another schema version')
    const check = await copy.get<{ quick_check: string }>('pragma quick_check(1)')
    if (check?.quick_check !== 'ok') throw new Error(`the copy is damaged: ${check?.quick_check}`)
  }

  /** Throws if the last writes could not be flushed; the files are then left unchanged. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#waits[Symbol.dispose]()
    const unlock = await this.#writeMutex.lock()
    unlock()
    // After a failed flush the log may have holes, and closing would copy from it. The connections stay open until the process ends.
    try {
      await this.flushed()
      this.#sync.throwIfFailed()
      await this.#checkpointer.close()
      this.#reader.close()
      this.#writer.close()
    } finally {
      await this.#log.close()
    }
  }

  /** Nothing is flushed if nothing is pending, so that a read-only disk fails only requests that write. */
  #flushedUpTo(position: number): Promise<void> | undefined {
    return position > this.#durablePosition ? this.#sync.flush() : undefined
  }

  async #heldBack<T>(result: Promise<T>, request: AcknowledgingRequest): Promise<T> {
    try {
      return await result
    } finally {
      // Also if it rejects: 'not found' acknowledges a deletion.
      const flushing = this.#flushedUpTo(request.seen)
      if (flushing !== undefined) await this.#waits.track(request, flushing, () => true)
    }
  }

  #noteRead(): void {
    const request = this.#requests.getStore()
    if (request !== undefined) request.seen = this.#position
  }

  async #transactWithReserve<T>(
    work: (tx: Transaction) => Promise<T>,
  ): Promise<{ result: T; tx: SqliteTransaction }> {
    try {
      return await this.#transact(work)
    } catch (error) {
      if (!isFull(error) || !this.#onFull()) throw error
      return this.#transact(work)
    }
  }

  async #transact<T>(work: (tx: Transaction) => Promise<T>): Promise<{ result: T; tx: SqliteTransaction }> {
    const guard = this.commitGuard
    const lease = guard?.currentLease()
    await this.#begin()
    // What it finds may be a commit of another process that is not flushed yet, and be acknowledged without a change.
    if (this.isShared) this.#reads.holdValidated()
    else this.#reads.hold()
    const tx = new SqliteTransaction(this.#writer, this.#reads, this.#writeMutex)
    try {
      const result = await work(tx)
      tx.finish()
      const hasChanges = tx.changed.tables?.size !== 0
      // Under the write lock: nobody can end the lease before the commit.
      if (hasChanges && guard !== undefined && lease !== undefined) {
        if (tx.findCached(guard.query, [lease]) === undefined) throw leaseEnded()
      }
      this.#writer.run('commit', [])
      if (hasChanges) this.#position += 1
      this.#reads.invalidate(tx.changed.tables)
      this.#checkpointer.consider(tx.rows, () => this.#framesInLog())
      return { result, tx }
    } catch (error) {
      tx.abandon()
      // A fault may tell the caller what the transaction found.
      this.#noteRead()
      if (this.#writer.handle.isTransaction) this.#writer.exec('rollback')
      // If the commit failed, its outcome is unknown.
      this.#reads.invalidate(tx.changed.tables)
      throw error
    } finally {
      this.#reads.release()
    }
  }

  // Processes of this server wait for the write lock before. A command beside it can hold the lock of SQLite, which does not notify. The driver's own
  // wait would block the event loop, so we retry every few milliseconds.
  async #begin(): Promise<void> {
    const deadline = performance.now() + writeTimeoutMs
    for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, 8)) {
      if (this.#closed) throw databaseClosed()
      this.#sync.throwIfFailed()
      try {
        this.#writer.run('begin immediate', [])
        return
      } catch (error) {
        if (!isBusy(error) || performance.now() > deadline) throw error
      }
      await delay(waitMs)
    }
  }

  #framesInLog(): number {
    return Number(this.#reader.get('pragma wal_checkpoint(noop)', [])?.log)
  }
}

/**
 * Makes the log of an earlier process durable, then empties it. After a failed flush the kernel still shows the frames it could not write,
 * and reports the next flush as successful. So every byte is written again before it is flushed, and everything is in the database file
 * before anything new is acknowledged (I4).
 */
async function renewLog(
  { file, syncLog = (handle) => handle.datasync(), onFull = () => false }: SqliteOptions,
  writer: Connection,
  log: FileHandle,
): Promise<void> {
  // With the write lock: no other process appends to the log or restarts it.
  await retryWhileBusy(() => writer.exec('begin immediate'))
  try {
    await rewrite(log)
    await syncLog(log)
  } catch (cause) {
    const message = `The log of the database, ${file}-wal, could not be flushed: see that the disk is sound, then start again.`
    throw new UnflushedLogError(message, { cause })
  } finally {
    writer.exec('rollback')
  }
  const copy = () => writer.get('pragma wal_checkpoint(truncate)', [])
  // Another process may be reading the log. Then it stays, and is durable.
  try {
    copy()
  } catch (error) {
    if (!isFull(error) || !onFull()) throw error
    copy()
  }
}

/** Writes the bytes of a file in their place once more. */
async function rewrite(file: FileHandle): Promise<void> {
  const buffer = Buffer.allocUnsafe(chunkBytes)
  for (let position = 0; ; ) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position)
    if (bytesRead === 0) return
    for (let at = 0; at < bytesRead; ) {
      at += (await file.write(buffer, at, bytesRead - at, position + at)).bytesWritten
    }
    position += bytesRead
  }
}

async function createPrivateFile(file: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
  try {
    await writeFile(file, '', { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

// Only the checkpointer copies the log, never a commit. LIKE is case-sensitive, as on PostgreSQL.
async function openConnection(file: string): Promise<Connection> {
  const connection = new Connection(file, busyTimeoutMs)
  try {
    connection.exec(`pragma page_size = ${pageBytes}`)
    prepareNewFile(connection)
    await retryWhileBusy(() => connection.exec('pragma journal_mode = wal'))
    connection.exec(`
      pragma synchronous = normal;
      pragma wal_autocheckpoint = 0;
      pragma cache_size = -16384;
      pragma temp_store = memory;
      pragma case_sensitive_like = on;
      ${erasingSettings}
    `)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

// Two processes that open a new file at the same time can get SQLITE_BUSY despite the busy timeout. And the busy timeout would block the event loop,
// on which another database of this process may hold the lock.
async function retryWhileBusy(action: () => void): Promise<void> {
  const deadline = performance.now() + writeTimeoutMs
  for (;;) {
    try {
      return action()
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error
    }
    await delay(5)
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** The failed statement may be the cause. */
function isFull(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return false
  return error.reason === 'full' || isFull(error.cause)
}

function isBusy(error: unknown): boolean {
  return error instanceof DatabaseError && error.reason === 'busy'
}
