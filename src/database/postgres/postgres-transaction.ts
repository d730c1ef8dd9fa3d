import type { PoolClient, QueryConfig, QueryResult } from 'pg'
import type { Transaction, Value } from '../database.ts'
import { DatabaseError, transactionOver } from '../errors.ts'
import { insertStatement } from '../insert-statement.ts'
import { chunksOf, inKeyOrder } from './insert-chunks.ts'
import type { Statements } from './statements.ts'

/** The statements of one `write`, on the connection it holds. */
export class PostgresTransaction implements Transaction {
  readonly #client: PoolClient
  readonly #statements: Statements
  readonly #translate: (error: unknown) => unknown
  readonly #announcements: (() => void)[] = []
  #last: Promise<unknown> = Promise.resolve()
  #over = false
  #failure: unknown

  constructor(client: PoolClient, statements: Statements, translate: (error: unknown) => unknown) {
    this.#client = client
    this.#statements = statements
    this.#translate = translate
  }

  async all<R extends object>(sql: string, ...parameters: Value[]): Promise<R[]> {
    return (await this.#query(this.#statements.query(sql, parameters))).rows as R[]
  }

  async get<R extends object>(sql: string, ...parameters: Value[]): Promise<R | undefined> {
    return (await this.#query(this.#statements.query(sql, parameters))).rows[0] as R | undefined
  }

  async run(sql: string, ...parameters: Value[]): Promise<number> {
    return (await this.#query(this.#statements.query(sql, parameters))).rowCount ?? 0
  }

  async insert(
    table: string,
    columns: readonly string[],
    rows: readonly (readonly Value[])[],
    options: { ignoreExisting?: boolean } = {},
  ): Promise<number> {
    let inserted = 0
    for (const chunk of chunksOf(options.ignoreExisting ? inKeyOrder(rows) : rows, columns.length)) {
      inserted += await this.#insertChunk(table, columns, chunk, options.ignoreExisting)
    }
    return inserted
  }

  afterCommit(announce: () => void): void {
    this.#announcements.push(announce)
  }

  /** To be called once it is committed. */
  announce(): void {
    for (const announce of this.#announcements) announce()
  }

  /** What a statement failed with, if one did. */
  get failure(): unknown {
    return this.#failure
  }

  /** Refuses further statements and waits for those under way. */
  async settle(): Promise<void> {
    this.#over = true
    await this.#last
  }

  /** Throws if a statement failed, even if the work went on in spite of it. */
  throwIfFailed(): void {
    if (!this.#failure) return
    throw new DatabaseError('other', 'A statement failed, so nothing of the transaction was kept.', {
      cause: this.#failure,
    })
  }

  async #insertChunk(
    table: string,
    columns: readonly string[],
    rows: readonly (readonly Value[])[],
    ignoreExisting: boolean | undefined,
  ): Promise<number> {
    if (rows.length === 1) {
      return this.run(insertStatement(table, columns, 1, ignoreExisting), ...(rows[0] ?? []))
    }
    const text = insertStatement(table, columns, rows.length, ignoreExisting, (index) => `$${index + 1}`)
    return (await this.#query({ text, values: rows.flat() })).rowCount ?? 0
  }

  // One statement at a time, in the order they were asked for.
  async #query(query: QueryConfig): Promise<QueryResult> {
    if (this.#over) throw transactionOver()
    const result = this.#last.then(() => this.#client.query(query))
    this.#last = result.catch(() => {})
    try {
      return await result
    } catch (error) {
      const translated = this.#translate(error)
      this.#failure ??= translated
      throw translated
    }
  }
}
