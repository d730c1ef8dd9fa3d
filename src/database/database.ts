import type { RowCacheStatistics } from './row-cache.ts'

/** What can be bound to a `?` and what comes back in a row. Booleans are kept as 0 and 1. */
export type Value = string | number | Uint8Array | null
export type Row = Record<string, Value>

export type Dialect = 'sqlite' | 'postgres'

/**
 * Reads rows. Statements are written once, with `?` for parameters (32,766 at most), in SQL both
 * dialects take. Beware where they differ: nulls sort first on SQLite and last on PostgreSQL, and
 * PostgreSQL takes no U+0000 in text. Rows come from a cache that callers share: nobody may change one.
 */
export interface Reader {
  all<R extends object = Row>(sql: string, ...parameters: Value[]): Promise<R[]>
  /** The first row, if there is one. */
  get<R extends object = Row>(sql: string, ...parameters: Value[]): Promise<R | undefined>
}

/**
 * A transaction under way; it is gone once the work given to `write` has settled. A statement that
 * fails throws DatabaseError and dooms the transaction, even if the work catches it. Statements run in the order they
 * are asked for; those asked for without waiting in between take PostgreSQL one round trip together.
 */
export interface Transaction extends Reader {
  /** Resolves to the number of rows changed. */
  run(sql: string, ...parameters: Value[]): Promise<number>
  /**
   * Inserts many rows of one table. With `ignoreExisting`, a row whose key is already there is
   * left as it is; of rows given with one key any may be the one that is kept. Resolves to the
   * number of rows inserted.
   */
  insert(
    table: string,
    columns: readonly string[],
    rows: readonly (readonly Value[])[],
    options?: { ignoreExisting?: boolean },
  ): Promise<number>
  /**
   * Has `announce` called once what this transaction wrote can be seen by others, which may be before it is
   * durable; never, if nothing of it is kept. It must not throw.
   */
  afterCommit(announce: () => void): void
}

export interface WriteOptions {
  /**
   * False for what may be lost in a power cut without harm (a ticket, a last-used time): the
   * caller is not made to wait for the disk. Order is kept: a later durable write covers it.
   */
  durable?: boolean
  /**
   * Called as soon as the transaction is committed and others can see it, which may be before it
   * is durable. What it sees may be built upon: whatever is written later becomes durable later.
   */
  onCommitted?: () => void
}

/**
 * The relational database. Reads see what was committed before they began. Writers of one
 * process on SQLite run one after another; on PostgreSQL they run side by side (READ COMMITTED),
 * so a rule that spans rows is stated as a conditional UPDATE whose row count is looked at.
 */
export interface Database extends Reader, AsyncDisposable {
  readonly dialect: Dialect
  /**
   * Runs `work` in one transaction and resolves once it would survive a power cut (I4). On any
   * throw nothing of it remains. `work` must await nothing but the transaction, and may be run
   * again when the database asks for a retry (PostgreSQL serialization failure or deadlock).
   */
  write<T>(work: (tx: Transaction) => Promise<T>, options?: WriteOptions): Promise<T>
  /**
   * Runs a module that calls `serveAside` in a process of its own, with a connection to read through, for who passes
   * through much that nobody asks for soon: it holds up nobody, pushes nothing out of anybody's caches, and leaves
   * nothing behind in memory. Throws the reason of the signal if that ends it.
   */
  aside<Result>(job: URL, input: unknown, signal: AbortSignal): Promise<Result>
  /**
   * Runs the handling of one request that has arrived. Its reads see everything committed before the call, and may miss what others
   * commit meanwhile: PostgreSQL is then asked once for several cached reads in a row instead of once for each.
   */
  inRequest<T>(work: () => T): T
  /** Counters of the row cache. Undefined for a database without one. */
  readonly cacheStatistics: RowCacheStatistics | undefined
  /** Throws if the database cannot be reached. */
  ping(): Promise<void>
  /** The version of the schema found, after migrations. */
  readonly schemaVersion: number
}
