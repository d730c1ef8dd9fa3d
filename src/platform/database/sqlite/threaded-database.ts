import { setImmediate as nextTurn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { CommitGuard, Database, Deletion, Row, Transaction, Value, WriteOptions } from '../database.ts'
import { DatabaseError, databaseClosed, transactionOver } from '../errors.ts'
import type { ProcessLocks } from '../process-locks.ts'
import { runInSideProcess } from '../side-process.ts'
import { deletionOf } from '../statement-texts.ts'
import type { ThreadData, ThreadReply, ThreadRequest } from './database-thread.ts'
import { releaseFreePages } from './free-pages.ts'
import { LocalWriteLock, SharedWriteLock, type WriteLock } from './write-lock.ts'

/**
 * A separate SQLite file for large derived data (I3), with two reader threads and one writer thread, so that neither a long query nor a long
 * write blocks the event loop (I10) or the writers of the main file. A query goes to the reader with fewer pending requests. Threads start when
 * first needed. Every commit is flushed.
 */
export class ThreadedDatabase implements Database {
  readonly dialect = 'sqlite'
  readonly isShared: boolean
  readonly schemaVersion = 0
  /** Not asked: nothing relies on derived data. */
  commitGuard: CommitGuard | undefined
  /** It has no row cache. */
  readonly cacheStatistics = undefined
  /** SQLite copies it at commits. */
  readonly logBytes = undefined
  readonly #file: string
  readonly #readers: readonly [DatabaseThread, DatabaseThread]
  readonly #writer: DatabaseThread
  readonly #writeMutex: WriteLock
  #closed = false

  /** With `locks` if several processes serve from the file. */
  constructor(file: string, { locks }: { locks?: ProcessLocks | undefined } = {}) {
    this.#file = file
    this.isShared = locks !== undefined
    this.#writeMutex = locks === undefined ? new LocalWriteLock() : new SharedWriteLock(locks, 'write search')
    this.#readers = [
      new DatabaseThread({ file, role: 'reader' }),
      new DatabaseThread({ file, role: 'reader' }),
    ]
    this.#writer = new DatabaseThread({ file, role: 'writer' })
  }

  async all<R extends object = Row>(sql: string, ...parameters: Value[]): Promise<R[]> {
    if (this.#closed) throw databaseClosed()
    return (await this.#reader().ask({ op: 'all', sql, parameters })) as R[]
  }

  async get<R extends object = Row>(sql: string, ...parameters: Value[]): Promise<R | undefined> {
    if (this.#closed) throw databaseClosed()
    return (await this.#reader().ask({ op: 'get', sql, parameters })) as R | undefined
  }

  async write<T>(work: (tx: Transaction) => Promise<T>, options: WriteOptions = {}): Promise<T> {
    const unlock = await this.#writeMutex.lock()
    try {
      if (this.#closed) throw databaseClosed()
      const result = await this.#transact(work)
      options.onCommitted?.()
      return result
    } finally {
      unlock()
    }
  }

  withMutex<T>(key: number, work: () => Promise<T>): Promise<T> {
    return this.#writeMutex.withMutex(key, work)
  }

  async runInSideProcess<Result>(job: URL, input: unknown, signal: AbortSignal): Promise<Result> {
    if (this.#closed) throw databaseClosed()
    return runInSideProcess<Result>({ kind: 'sqlite', file: this.#file }, job, input, signal)
  }

  /** Every commit is flushed. */
  async flushed(): Promise<void> {
    if (this.#closed) throw databaseClosed()
  }

  async releaseFreePages(signal: AbortSignal): Promise<number> {
    const pages = await releaseFreePages((most) => this.#exclusive({ op: 'release-pages', most }), signal)
    await this.#exclusive({ op: 'truncate-log' })
    return pages * pageBytes
  }

  async releasePageCaches(): Promise<void> {
    const request = { op: 'run', sql: 'pragma shrink_memory', parameters: [] } as const
    // A thread that was never used has no cache.
    const threads = [...this.#readers, this.#writer].filter(({ isUp }) => isUp)
    if (!this.#closed) await Promise.all(threads.map((thread) => thread.ask(request)))
  }

  inRequest<T>(work: () => T): T {
    return work()
  }

  awaitInRequest<T>(work: Promise<T>): Promise<T> {
    return work
  }

  async ping(): Promise<void> {
    await this.get('select 1')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    const unlock = await this.#writeMutex.lock()
    unlock()
    for (const reader of this.#readers) await reader.close()
    await this.#writer.close()
  }

  async #exclusive<T>(request: ThreadRequest): Promise<T> {
    const unlock = await this.#writeMutex.lock()
    try {
      if (this.#closed) throw databaseClosed()
      return (await this.#writer.ask(request)) as T
    } finally {
      unlock()
    }
  }

  // The second reader is used only if the first has more pending requests. While the first is starting, waiting for it takes no longer than
  // starting another.
  #reader(): DatabaseThread {
    const [first, second] = this.#readers
    return first.isUp && second.load < first.load ? second : first
  }

  async #transact<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    await this.#writer.ask({ op: 'begin' })
    const tx = new ThreadedTransaction(this.#writer, this.#writeMutex)
    try {
      const result = await work(tx)
      await tx.finish()
      await this.#writer.ask({ op: 'commit' })
      tx.announce()
      return result
    } catch (error) {
      tx.abandon()
      await this.#writer.ask({ op: 'rollback' })
      throw error
    }
  }
}

const pageBytes = 4096
const ROWS_PER_MESSAGE = 250

class ThreadedTransaction implements Transaction {
  readonly #announcements: (() => void)[] = []
  readonly #thread: DatabaseThread
  readonly #lock: Pick<WriteLock, 'mutexWasFree'>
  #over = false
  #failure: unknown
  #last: Promise<unknown> = Promise.resolve()

  constructor(thread: DatabaseThread, lock: Pick<WriteLock, 'mutexWasFree'>) {
    this.#thread = thread
    this.#lock = lock
  }

  async mutexIsFree(key: number): Promise<boolean> {
    return this.#lock.mutexWasFree(key)
  }

  afterCommit(announce: () => void): void {
    this.#announcements.push(announce)
  }

  /** To be called once it is committed. */
  announce(): void {
    for (const announce of this.#announcements) announce()
  }

  async all<R extends object>(sql: string, ...parameters: Value[]): Promise<R[]> {
    return (await this.#ask({ op: 'all', sql, parameters })) as R[]
  }

  async get<R extends object>(sql: string, ...parameters: Value[]): Promise<R | undefined> {
    return (await this.#ask({ op: 'get', sql, parameters })) as R | undefined
  }

  async run(sql: string, ...parameters: Value[]): Promise<number> {
    return (await this.#ask({ op: 'run', sql, parameters })) as number
  }

  async insert(
    table: string,
    columns: readonly string[],
    rows: readonly (readonly Value[])[],
    { ignoreExisting = false }: { ignoreExisting?: boolean } = {},
  ): Promise<void> {
    await this.#insert(table, columns, rows, ignoreExisting)
  }

  insertNew(table: string, columns: readonly string[], rows: readonly (readonly Value[])[]): Promise<number> {
    return this.#insert(table, columns, rows, true)
  }

  async #insert(
    table: string,
    columns: readonly string[],
    rows: readonly (readonly Value[])[],
    ignoreExisting: boolean,
  ): Promise<number> {
    const asked: Promise<unknown>[] = []
    for (let start = 0; start < rows.length; start += ROWS_PER_MESSAGE) {
      // Messages are copied on the event loop. Yield between them: the thread still has the previous rows to insert.
      if (start > 0) await nextTurn()
      const some = rows.slice(start, start + ROWS_PER_MESSAGE)
      const answer = this.#ask({ op: 'insert', table, columns, rows: some, ignoreExisting })
      // Awaited below; it may have rejected by then.
      answer.catch(() => {})
      asked.push(answer)
    }
    let inserted = 0
    for (const answer of await Promise.all(asked)) inserted += answer as number
    return inserted
  }

  async deleteRare(deletions: readonly Deletion[]): Promise<number> {
    const deleting = deletions.map((deletion) => this.run(deletionOf(deletion), ...deletion.parameters))
    return (await Promise.all(deleting)).reduce((sum, count) => sum + count, 0)
  }

  mayHaveRows(): boolean {
    return true
  }

  /** Refuses further statements; throws if one failed, even if the work went on in spite of it. */
  async finish(): Promise<void> {
    this.#over = true
    await this.#last
    if (this.#failure) {
      throw new DatabaseError('other', 'A statement failed, so nothing of the transaction was kept.', {
        cause: this.#failure,
      })
    }
  }

  abandon(): void {
    this.#over = true
  }

  async #ask(request: ThreadRequest): Promise<unknown> {
    if (this.#over) throw transactionOver()
    const asked = this.#thread.ask(request)
    this.#last = asked.catch((error: unknown) => {
      this.#failure ??= error
    })
    return asked
  }
}

// A thread takes memory, and starts again within some hundredths of a second.
const IDLE_MS = 60_000

type Waiting = { resolve(result: unknown): void; reject(error: unknown): void }

/** A thread with one connection. It answers requests in order. */
class DatabaseThread {
  readonly #data: ThreadData
  #worker: Worker | undefined
  #waiting: Waiting[] = []
  #idle: NodeJS.Timeout | undefined
  #ending: Promise<void> | undefined
  #inTransaction = false
  #isUp = false

  constructor(data: ThreadData) {
    this.#data = data
  }

  /** Number of pending requests. */
  get load(): number {
    return this.#waiting.length
  }

  /** Whether it has started and answered a request. */
  get isUp(): boolean {
    return this.#isUp
  }

  async ask(request: ThreadRequest): Promise<unknown> {
    // The old connection must be closed before another is opened.
    if (this.#ending !== undefined) await this.#ending
    return this.#post(request)
  }

  async close(): Promise<void> {
    await this.#ending
    await this.#end()
  }

  #post(request: ThreadRequest): Promise<unknown> {
    clearTimeout(this.#idle)
    const worker = (this.#worker ??= this.#start())
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    this.#waiting.push({ resolve, reject })
    if (request.op === 'begin') this.#inTransaction = true
    else if (request.op === 'commit' || request.op === 'rollback') this.#inTransaction = false
    worker.ref()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage(request)
    return promise
  }

  async #end(): Promise<void> {
    const worker = this.#worker
    if (worker === undefined) return
    await this.#post({ op: 'close' })
    clearTimeout(this.#idle)
    await worker.terminate()
  }

  /** Never rejects: a connection that cannot be closed ends with its thread. */
  async #endIdle(): Promise<void> {
    await this.#end().catch(() => this.#worker?.terminate())
    this.#ending = undefined
  }

  #endWhenIdle(): void {
    this.#worker?.unref()
    if (this.#inTransaction) return
    this.#idle = setTimeout(() => {
      this.#ending = this.#endIdle()
    }, IDLE_MS).unref()
  }

  #start(): Worker {
    const worker = new Worker(new URL('./database-thread.ts', import.meta.url), { workerData: this.#data })
    worker.on('message', (reply: ThreadReply) => this.#settle(reply))
    worker.on('error', (error) => this.#failAll(error))
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = undefined
      clearTimeout(this.#idle)
      this.#inTransaction = false
      this.#isUp = false
      this.#failAll(new DatabaseError('closed', 'The thread of the database ended.'))
    })
    return worker
  }

  #settle(reply: ThreadReply): void {
    const next = this.#waiting.shift()
    this.#isUp = true
    if (this.#waiting.length === 0) this.#endWhenIdle()
    if ('result' in reply) next?.resolve(reply.result)
    else next?.reject(new DatabaseError(reply.reason, reply.message))
  }

  #failAll(error: unknown): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const one of waiting) one.reject(error)
  }
}
