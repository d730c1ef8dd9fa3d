import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Deletion, Row, Transaction, Value } from '../database.ts'
import { DatabaseError, transactionOver } from '../errors.ts'
import { anyToDelete, deletionOf, insertStatement, parametersOf } from '../statement-texts.ts'
import { type CachedReads, ChangedTables } from './cached-reads.ts'
import type { Connection } from './connection.ts'
import type { WriteLock } from './write-lock.ts'

// An insert yields to the event loop after this long (I10).
const sliceMs = 4

/** The statements of one `write`, on the write connection. */
export class SqliteTransaction implements Transaction {
  readonly #connection: Connection
  readonly #announcements: (() => void)[] = []
  readonly changed: ChangedTables
  /** Rows written so far, without those that foreign keys delete. */
  rows = 0
  readonly #reads: CachedReads
  readonly #lock: Pick<WriteLock, 'mutexWasFree'>
  #over = false
  #failure: unknown

  constructor(connection: Connection, reads: CachedReads, lock: Pick<WriteLock, 'mutexWasFree'>) {
    this.#connection = connection
    this.#reads = reads
    this.#lock = lock
    this.changed = new ChangedTables(reads)
  }

  async all<R extends object>(sql: string, ...parameters: Value[]): Promise<R[]> {
    this.changed.add(sql)
    return this.#attempt(() => this.#connection.all(sql, parameters) as R[])
  }

  async get<R extends object>(sql: string, ...parameters: Value[]): Promise<R | undefined> {
    this.changed.add(sql)
    return this.#attempt(() => this.#connection.get(sql, parameters) as R | undefined)
  }

  async run(sql: string, ...parameters: Value[]): Promise<number> {
    this.changed.add(sql)
    const count = this.#attempt(() => this.#connection.run(sql, parameters))
    this.rows += count
    return count
  }

  insert(
    table: string,
    columns: readonly string[],
    rows: readonly (readonly Value[])[],
    options: { ignoreExisting?: boolean } = {},
  ): Promise<void> {
    // Not awaited, so that an insert has one promise.
    return this.#insert(
      insertOfOne(table, columns, options.ignoreExisting),
      rows,
    ) as Promise<unknown> as Promise<void>
  }

  insertNew(table: string, columns: readonly string[], rows: readonly (readonly Value[])[]): Promise<number> {
    return this.#insert(insertOfOne(table, columns, true), rows)
  }

  async #insert(sql: string, rows: readonly (readonly Value[])[]): Promise<number> {
    let inserted = 0
    this.changed.add(sql)
    let sliceEnd = performance.now() + sliceMs
    for (const row of rows) {
      inserted += this.#attempt(() => this.#connection.run(sql, row))
      if (performance.now() < sliceEnd) continue
      await nextTurn()
      sliceEnd = performance.now() + sliceMs
    }
    this.rows += inserted
    return inserted
  }

  async deleteRare(deletions: readonly Deletion[]): Promise<number> {
    if (deletions.length === 0) return 0
    const find = () => this.#connection.get(anyToDelete(deletions), parametersOf(deletions))
    if (this.#attempt(find) === undefined) return 0
    const deleting = deletions.map((deletion) => this.run(deletionOf(deletion), ...deletion.parameters))
    return (await Promise.all(deleting)).reduce((sum, count) => sum + count, 0)
  }

  /** Nobody else can commit meanwhile, so the row cache, which knows most empty tables, is right until this transaction writes to the table. */
  mayHaveRows(table: string): boolean {
    return this.changed.mayHave(table) || !this.#attempt(() => this.#reads.isEmpty(table))
  }

  /** The row that the transaction would find, from the row cache unless it has changed a table that decides. */
  findCached(sql: string, parameters: readonly Value[]): Row | undefined {
    const tables = this.#reads.tablesOf(sql)
    const isChanged = tables === undefined || tables.some((table) => this.changed.mayHave(table))
    return (isChanged ? this.#connection : this.#reads).get(sql, parameters)
  }

  async mutexIsFree(key: number): Promise<boolean> {
    return this.#lock.mutexWasFree(key)
  }

  afterCommit(announce: () => void): void {
    this.#announcements.push(announce)
  }

  /** Called after commit. */
  announce(): void {
    for (const announce of this.#announcements) announce()
  }

  /** Rejects further statements. Throws if one failed, even if the work ignored the error. */
  finish(): void {
    this.#over = true
    if (this.#failure) {
      throw transactionAborted(this.#failure)
    }
  }

  abandon(): void {
    this.#over = true
  }

  // As on PostgreSQL, a failed statement aborts the transaction. SQLite may have rolled it back already (a full disk), and further statements
  // would then each be committed on their own.
  #attempt<T>(statement: () => T): T {
    if (this.#over) throw transactionOver()
    if (this.#failure !== undefined) throw transactionAborted(this.#failure)
    try {
      return statement()
    } catch (error) {
      this.#failure = error
      throw error
    }
  }
}

/** With the reason of the statement that failed. */
function transactionAborted(cause: unknown): DatabaseError {
  const reason = cause instanceof DatabaseError ? cause.reason : 'other'
  return new DatabaseError(reason, 'A statement failed, so nothing of the transaction was kept.', { cause })
}

const insertsOfOne = new Map<string, { columns: readonly string[]; ignoreExisting: boolean; sql: string }>()

/** Cached per table while its columns are the same. */
function insertOfOne(table: string, columns: readonly string[], ignoreExisting = false): string {
  const known = insertsOfOne.get(table)
  if (known?.ignoreExisting === ignoreExisting && isSame(known.columns, columns)) return known.sql
  const sql = insertStatement(table, columns, 1, ignoreExisting)
  insertsOfOne.set(table, { columns: [...columns], ignoreExisting, sql })
  return sql
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((name, index) => name === others[index])
}
