import { type FileHandle, mkdir, open, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { backup } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import type { Row, Transaction, Value, WriteOptions } from '../database.ts'
import { DatabaseError, databaseClosed } from '../errors.ts'
import { type Logger, silentLogger } from '../logger.ts'
import type { Migratable } from '../migrate.ts'
import { Mutex } from '../mutex.ts'
import type { RowCacheStatistics } from '../row-cache.ts'
import { runInSideProcess } from '../side-process.ts'
import { CachedReads } from './cached-reads.ts'
import { Checkpointer } from './checkpointer.ts'
import { Connection } from './connection.ts'
import { GroupSync } from './group-sync.ts'
import { SqliteTransaction } from './sqlite-transaction.ts'

export interface SqliteOptions {
  readonly file: string
  /** Called once when the disk failed and nothing may be acknowledged any more. */
  readonly onFatal: (error: Error) => void
  readonly logger?: Logger
  /** Stands in for `fdatasync` of the write-ahead log in tests. */
  readonly syncLog?: (log: FileHandle) => Promise<void>
  /** Bytes of the write-ahead log from which on it is copied into the database file. */
  readonly checkpointBytes?: number
}

const pageBytes = 4096
const frameBytes = pageBytes + 24
const defaultCheckpointBytes = 16 * 2 ** 20
const busyTimeoutMs = 5000
// How long a writer of this process waits for one of another before it gives up.
const writeTimeoutMs = 30_000

/** Opens the file, making it if need be; the schema is left as found. */
export async function openSqlite(options: SqliteOptions): Promise<SqliteDatabase> {
  const { file } = options
  await createPrivateFile(file)
  const writer = await openConnection(file)
  let reader: Connection | undefined
  let log: FileHandle | undefined
  try {
    // The log exists once the database has been written to or read from; from then on it stays,
    // the same file, for as long as a connection is open.
    writer.exec('begin immediate; commit')
    writer.exec('pragma busy_timeout = 0')
    reader = await openConnection(file)
    log = await open(`${file}-wal`, 'r+')
    await syncFolder(path.dirname(file))
    return new SqliteDatabase(options, writer, reader, log)
  } catch (error) {
    await log?.close()
    reader?.close()
    writer.close()
    throw error
  }
}

/**
 * SQLite in WAL mode. A commit appends to the log without a sync; `write` then waits for an
 * fdatasync of the log that began after its commit, run off the event loop and shared by all who
 * wait. docs/decisions/0003-sqlite-durability.md says why nothing acknowledged can be lost.
 */
export class SqliteDatabase implements Migratable {
  readonly dialect = 'sqlite'
  schemaVersion = 0
  readonly #file: string
  readonly #writer: Connection
  readonly #reader: Connection
  readonly #reads: CachedReads
  readonly #log: FileHandle
  readonly #writeMutex = new Mutex()
  readonly #sync: GroupSync
  readonly #checkpointer: Checkpointer
  #closed = false

  constructor(options: SqliteOptions, writer: Connection, reader: Connection, log: FileHandle) {
    const { file, onFatal, logger = silentLogger, syncLog = (handle) => handle.datasync() } = options
    this.#file = file
    this.#writer = writer
    this.#reader = reader
    this.#reads = new CachedReads(reader, writer)
    this.#log = log
    this.#sync = new GroupSync(() => syncLog(log), onFatal)
    this.#checkpointer = new Checkpointer({
      file,
      fromFrames: (options.checkpointBytes ?? defaultCheckpointBytes) / frameBytes,
      writeMutex: this.#writeMutex,
      logger,
      onDiskError: (error) => this.#sync.fail('The database file could not be written.', error),
    })
  }

  async all<R extends object = Row>(sql: string, ...parameters: Value[]): Promise<R[]> {
    if (this.#closed) throw databaseClosed()
    return this.#reads.all(sql, parameters) as R[]
  }

  async get<R extends object = Row>(sql: string, ...parameters: Value[]): Promise<R | undefined> {
    if (this.#closed) throw databaseClosed()
    return this.#reads.get(sql, parameters) as R | undefined
  }

  async write<T>(work: (tx: Transaction) => Promise<T>, options: WriteOptions = {}): Promise<T> {
    const unlock = await this.#writeMutex.lock()
    let done: { result: T; tx: SqliteTransaction }
    try {
      done = await this.#transact(work)
    } finally {
      unlock()
    }
    options.onCommitted?.()
    done.tx.announce()
    // Also when nothing was changed: what the work read may not have been synced yet.
    if (options.durable !== false) await this.#sync.covered()
    return done.result
  }

  async runInSideProcess<Result>(job: URL, input: unknown, signal: AbortSignal): Promise<Result> {
    if (this.#closed) throw databaseClosed()
    return runInSideProcess<Result>({ kind: 'sqlite', file: this.#file }, job, input, signal)
  }

  inRequest<T>(work: () => T): T {
    return work()
  }

  get cacheStatistics(): RowCacheStatistics {
    return this.#reads.statistics
  }

  async ping(): Promise<void> {
    this.#sync.throwIfFailed()
    await this.get('select 1')
  }

  /** Copies the database to `<file>.before-v<version>`, durably; the copy is kept. */
  async backUp(version: number): Promise<void> {
    const target = `${this.#file}.before-v${version}`
    const unfinished = `${target}.unfinished`
    await rm(unfinished, { force: true })
    await writeFile(unfinished, '', { flag: 'wx', mode: 0o600 })
    await backup(this.#writer.handle, unfinished, { rate: 1024 })
    const copy = await open(unfinished, 'r+')
    try {
      await copy.sync()
    } finally {
      await copy.close()
    }
    await rename(unfinished, target)
    await syncFolder(path.dirname(target))
  }

  /** Throws if the last writes could not be synced; the files are then left as they are. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    const unlock = await this.#writeMutex.lock()
    unlock()
    // After a failed sync the log may have holes, and closing would copy from it: the connections
    // are left to the end of the process.
    try {
      await this.#sync.covered()
      await this.#checkpointer.close()
      this.#reader.close()
      this.#writer.close()
    } finally {
      await this.#log.close()
    }
  }

  async #transact<T>(work: (tx: Transaction) => Promise<T>): Promise<{ result: T; tx: SqliteTransaction }> {
    await this.#begin()
    this.#reads.expire()
    const tx = new SqliteTransaction(this.#writer, this.#reads)
    try {
      const result = await work(tx)
      tx.finish()
      this.#writer.run('commit', [])
      this.#reads.invalidate(tx.changed.tables)
      this.#checkpointer.consider(this.#framesInLog())
      return { result, tx }
    } catch (error) {
      tx.abandon()
      if (this.#writer.handle.isTransaction) this.#writer.exec('rollback')
      // It may be the commit that failed, and nobody can tell how far it came.
      this.#reads.invalidate(tx.changed.tables)
      throw error
    }
  }

  // Another process can hold the write lock, and SQLite has no way to be told when it lets go. The
  // driver's own wait would hold up the event loop, so we look again every few milliseconds.
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

async function createPrivateFile(file: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
  try {
    await writeFile(file, '', { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

// The log is copied by the checkpointer alone, never in the middle of a commit. LIKE minds case, as
// it does on PostgreSQL.
async function openConnection(file: string): Promise<Connection> {
  const connection = new Connection(file, busyTimeoutMs)
  try {
    connection.exec(`pragma page_size = ${pageBytes}`)
    await retryWhileBusy(() => connection.exec('pragma journal_mode = wal'))
    connection.exec(`
      pragma synchronous = normal;
      pragma wal_autocheckpoint = 0;
      pragma cache_size = -16384;
      pragma temp_store = memory;
      pragma case_sensitive_like = on;
    `)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

// Two processes that open a new file at once can be refused without the driver's wait being tried.
async function retryWhileBusy(action: () => void): Promise<void> {
  const deadline = performance.now() + busyTimeoutMs
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

function isBusy(error: unknown): boolean {
  return error instanceof DatabaseError && error.reason === 'busy'
}
