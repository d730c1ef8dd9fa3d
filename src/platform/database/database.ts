import type { MaybePromise } from '../../base/scheduling/index.ts'
import type { RowCacheStatistics } from './row-cache.ts'

/** A parameter, or a value of a row. Booleans are stored as 0 and 1. */
export type Value = string | number | Uint8Array | null
export type Row = Record<string, Value>

export type Dialect = 'sqlite' | 'postgres'

/**
 * Reads rows. Statements are written once for both dialects, with `?` for at most 32,766 parameters. The dialects differ: nulls sort
 * first on SQLite and last on PostgreSQL, and PostgreSQL rejects U+0000 in text. Rows come from a shared cache: callers must not change them. Rows that
 * are at hand are returned at once, and errors always as a promise that rejects.
 */
export interface Reader {
  all<R extends object = Row>(sql: string, ...parameters: Value[]): MaybePromise<R[]>
  /** The first row, if there is one. */
  get<R extends object = Row>(sql: string, ...parameters: Value[]): MaybePromise<R | undefined>
}

/**
 * An open transaction. It ends when the work given to `write` settles. A statement that fails throws DatabaseError and aborts the
 * transaction, even if the work catches the error. Statements run in the order of the calls; calls that do not wait for each other share one
 * round trip to PostgreSQL.
 */
export interface Transaction extends Reader {
  all<R extends object = Row>(sql: string, ...parameters: Value[]): Promise<R[]>
  get<R extends object = Row>(sql: string, ...parameters: Value[]): Promise<R | undefined>
  /** Resolves to the number of rows changed. */
  run(sql: string, ...parameters: Value[]): Promise<number>
  /**
   * Inserts many rows into one table. With `ignoreExisting`, existing rows are left unchanged; of several given rows with one key, any may be
   * the one that is inserted. Calls for several tables that follow each other without waiting are one statement of PostgreSQL, if their rows are few.
   */
  insert(
    table: string,
    columns: readonly string[],
    rows: readonly (readonly Value[])[],
    options?: { ignoreExisting?: boolean },
  ): Promise<void>
  /** As `insert`, leaving existing rows unchanged. Resolves to the number of inserted rows. */
  insertNew(table: string, columns: readonly string[], rows: readonly (readonly Value[])[]): Promise<number>
  /**
   * Deletes rows that are rarely there. Without any it is one statement that changes nothing, whatever the number of tables. The rows are different ones. Resolves to the
   * number of deleted rows.
   */
  deleteRare(deletions: readonly Deletion[]): Promise<number>
  /** False only if a table has no rows, as far as that is known without asking the database: nothing has to be looked for in it. */
  mayHaveRows(table: string): boolean
  /** Whether no process is in `withMutex` of the key. If so, none enters before this transaction has ended. */
  mutexIsFree(key: number): Promise<boolean>
  /**
   * Calls `announce` after commit, once others can see the changes, which may be before they are durable. Not called after a rollback. It
   * must not throw.
   */
  afterCommit(announce: () => void): void
}

/** Rows of one table that are to be deleted. */
export interface Deletion {
  readonly table: string
  /** A condition on the rows. */
  readonly where: string
  readonly parameters: readonly Value[]
}

export interface WriteOptions {
  /**
   * False for data that may be lost in a power failure (a last-used time): the caller does not wait for the flush.
   *
   * `replicated` for what a later write relies on (objects of a commit), and for what clients were given and would be given again after a power failure, but rely on when a
   * standby takes over (a ticket). On SQLite that is as false: order is kept, and what was lost ends with the process. PostgreSQL may crash or be replaced between the two
   * writes while the process goes on, and then the first one can be lost and the second one not. So it waits for its flush and its synchronous standbys.
   */
  durable?: boolean | 'replicated'
  /**
   * Called after commit, once others can see the changes, which may be before they are durable on SQLite. Later writes may build on them, because they
   * become durable later.
   */
  onCommitted?: () => void
  /** It may take hours, as a step of the schema does. */
  isLong?: boolean
}

/** Keeps transactions of a process from being committed after its lease has ended. */
export interface CommitGuard {
  /** A query for the lease, with its name as the only parameter. It finds a row as long as the lease is held. */
  readonly query: string
  /** The name of the lease under which a transaction begins now. Throws if the caller relies on an earlier one. */
  currentLease(): string
}

export interface RequestOptions {
  /** The request asks for a change, so its answer must stay true after a power failure, even if there was nothing to write. */
  acknowledges?: boolean
  /** Equal for requests that probably read the same rows, which PostgreSQL is then asked for in one round trip. */
  key?: () => string | undefined
}

/**
 * The relational database. Reads see everything committed before they began. On SQLite the writers of one process run one at a time. On
 * PostgreSQL they run concurrently (READ COMMITTED), so an invariant that spans rows is enforced by a conditional UPDATE and its row count.
 */
export interface Database extends Reader, AsyncDisposable {
  readonly dialect: Dialect
  /** Whether other nodes may serve from it: PostgreSQL, or a SQLite file that several processes have open. */
  readonly isShared: boolean
  /**
   * Runs `work` in one transaction and resolves once it would survive a power failure (I4). Any throw rolls back. `work` must await nothing
   * but the transaction, and may be run again (PostgreSQL serialization failure or deadlock).
   */
  write<T>(work: (tx: Transaction) => Promise<T>, options?: WriteOptions): Promise<T>
  /**
   * If set, transactions that change something are committed only while the lease is held under which they began. The lease is looked up in the transaction itself. Whoever ends it on
   * PostgreSQL has to wait for the end of transactions that were running then: they may have found it. Refused transactions throw DatabaseError `fenced`.
   */
  commitGuard: CommitGuard | undefined
  /**
   * Runs `work` while no other process runs work with the same key, nor is in a transaction that found the mutex free. Waiting callers are
   * served in order. It only saves work that would be done in vain: a lost connection or ten seconds of waiting end the exclusion, so
   * the writes of `work` stay conditional.
   */
  withMutex<T>(key: number, work: () => Promise<T>): Promise<T>
  /**
   * Runs a module that calls `serveSideProcess` in a process of its own with a read connection. For long scans: they neither block the event
   * loop nor evict anything from the caches of this process. Rejects with the reason of the signal when aborted.
   */
  runInSideProcess<Result>(job: URL, input: unknown, signal: AbortSignal): Promise<Result>
  /**
   * Resolves once everything that was visible before the call is durable. For a caller that acknowledges what it found instead of
   * writing it (I4): SQLite shows a commit before its log is flushed.
   */
  flushed(): Promise<void>
  /**
   * Runs the handling of one request that has arrived. Its reads see everything committed before the call, and may miss what others
   * commit meanwhile: PostgreSQL is then asked once for several cached reads in a row instead of once for each. With `acknowledges`, the
   * result is held back until everything that the request has read is durable (I4).
   *
   * All that the request waits for the database counts against one deadline. A request that exceeds it is rejected with Overdue: as `busy` if it has changed nothing,
   * and commits nothing any more, or as `uncertain`. Its work goes on meanwhile.
   */
  inRequest<T>(work: () => T, options?: RequestOptions): T
  /**
   * Counts the time until `work` settles as time that the request of the caller waits for the database. `withdraw` is called if the request exceeds its
   * deadline meanwhile; true if the work changes nothing any more.
   */
  awaitInRequest<T>(work: Promise<T>, withdraw: () => boolean): Promise<T>
  /** Returns the memory of page caches that this process holds, while it is idle. They fill again as they are used. */
  releasePageCaches(): Promise<void>
  /** Counters of the row cache. Undefined for a database without one. */
  readonly cacheStatistics: RowCacheStatistics | undefined
  /**
   * Gives the space of deleted rows back to the file system, in short steps between other writers, and truncates the log. Resolves to the
   * number of bytes. Does nothing for a SQLite file that was created without incremental vacuum.
   */
  releaseFreePages(signal: AbortSignal): Promise<number>
  /** Size of the write-ahead log. Undefined for a database that looks after its own. */
  readonly logBytes: number | undefined
  /** Throws if the database cannot be reached. */
  ping(): Promise<void>
  /** The version of the schema found, after migrations. */
  readonly schemaVersion: number
}
