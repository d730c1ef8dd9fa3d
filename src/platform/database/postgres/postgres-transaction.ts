import type { Deletion, Transaction, Value } from '../database.ts'
import { DatabaseError, leaseEnded, transactionOver } from '../errors.ts'
import { deleteTogether, insertStatement, insertsTogether, parametersOf } from '../statement-texts.ts'
import type { BatchOutcome, Outcome, Step } from './batch.ts'
import { columnOf } from './columns.ts'
import { CONNECT_MS, deadlineOf, type StatementLimits } from './deadlines.ts'
import { handled } from './handled.ts'
import { chunksOf, inKeyOrder } from './insert-chunks.ts'
import { lockOf } from './mutex.ts'
import { commitStep, openingOf } from './opening.ts'
import type { PostgresClient } from './postgres-client.ts'
import { isLeaseEnded, leaveReceipt, newReceiptId, type RequiredLease } from './receipts.ts'
import type { Schema } from './schema.ts'
import type { OwnTransaction, Snapshots } from './snapshots.ts'
import { Statement, type Statements } from './statements.ts'

const rollback = Statement.named('carrel_rollback', 'rollback')

/** Fewer rows are inserted as a list of values. */
const MIN_COLUMN_ROWS = 3

/** With more rows, the cost of a statement is small in comparison. */
const MAX_JOINED_ROWS = 256

interface InsertTarget {
  readonly table: string
  readonly columns: readonly string[]
  readonly ignoreExisting: boolean
  /** The number of inserted rows is asked for. */
  readonly isCounted: boolean
}

/** Shared by the transactions of one database. */
export interface TransactionContext {
  readonly statements: Statements
  readonly snapshots: Snapshots
  readonly schema: () => Schema | undefined
  readonly translate: (error: unknown) => unknown
  /** Whether the table of receipts exists. */
  readonly hasReceipts: () => boolean
}

interface TransactionOptions {
  readonly durable: boolean
  readonly limits: StatementLimits
  /** Without it the transaction is not committed. */
  readonly lease?: RequiredLease | undefined
  /** Called when statements are answered. */
  readonly onAnswer?: () => void
}

interface Waiting extends Step {
  /** The table of an insert that may be joined with those around it. Its outcome is then that of another one. */
  readonly joinsAs: string | undefined
  resolve(outcome: Outcome): void
  reject(error: unknown): void
}

/** The statements of one `write`, on its connection. Calls that do not wait for each other are sent as one batch. */
export class PostgresTransaction implements Transaction {
  readonly #client: Pick<PostgresClient, 'runBatch'>
  readonly #context: TransactionContext
  readonly #durable: boolean
  readonly #limits: StatementLimits
  readonly #lease: RequiredLease | undefined
  readonly #onAnswer: (() => void) | undefined
  readonly #announcements: (() => void)[] = []
  readonly #own: OwnTransaction = { tables: new Set() }
  #waiting: Waiting[] = []
  #sending: Promise<void> | undefined
  #hasBegun = false
  /** The mutex that the opening asks for. */
  #mutex:
    | {
        readonly lock: readonly [number, number]
        resolve(isFree: boolean): void
        reject(error: unknown): void
      }
    | undefined
  #changedSchema = false
  #over = false
  #failure: unknown
  #receiptId: number | undefined
  /** By the clock of the database, in Unix seconds. */
  #beganAt = 0

  constructor(
    client: Pick<PostgresClient, 'runBatch'>,
    context: TransactionContext,
    { durable, limits, lease, onAnswer }: TransactionOptions,
  ) {
    this.#onAnswer = onAnswer
    this.#client = client
    this.#context = context
    this.#durable = durable
    this.#limits = limits
    this.#lease = lease
  }

  all<R extends object>(sql: string, ...parameters: Value[]): Promise<R[]> {
    return handled(this.#sql(sql, parameters).then(({ rows }) => rows as R[]))
  }

  get<R extends object>(sql: string, ...parameters: Value[]): Promise<R | undefined> {
    return handled(this.#sql(sql, parameters).then(({ rows }) => rows[0] as R | undefined))
  }

  run(sql: string, ...parameters: Value[]): Promise<number> {
    return handled(this.#sql(sql, parameters).then(({ count }) => count))
  }

  async #sql(sql: string, parameters: readonly Value[]): Promise<Outcome> {
    return this.#query(this.#context.statements.of(sql), parameters)
  }

  mutexIsFree(key: number): Promise<boolean> {
    if (this.#durable && !this.#hasBegun && this.#mutex === undefined && !this.#over)
      return this.#openInTurn(key)
    const sql = 'select pg_try_advisory_xact_lock_shared(?::int, ?::int) as free'
    return handled(this.get<{ free: number }>(sql, ...lockOf(key)).then((row) => Boolean(row?.free)))
  }

  /** Asks together with the settings of the transaction. */
  #openInTurn(key: number): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>()
    this.#mutex = { lock: lockOf(key), resolve, reject }
    this.#sending ??= this.#send()
    return handled(promise)
  }

  insert(
    table: string,
    columns: readonly string[],
    rows: readonly (readonly Value[])[],
    { ignoreExisting = false }: { ignoreExisting?: boolean } = {},
  ): Promise<void> {
    const inserting = this.#insert({ table, columns, ignoreExisting, isCounted: false }, rows)
    return handled(inserting) as Promise<unknown> as Promise<void>
  }

  insertNew(table: string, columns: readonly string[], rows: readonly (readonly Value[])[]): Promise<number> {
    return handled(this.#insert({ table, columns, ignoreExisting: true, isCounted: true }, rows))
  }

  async #insert(into: InsertTarget, rows: readonly (readonly Value[])[]): Promise<number> {
    if (this.#over) throw transactionOver()
    const ordered = into.ignoreExisting ? inKeyOrder(rows) : rows
    let inserted = 0
    // One chunk at a time bounds memory.
    for (const chunk of chunksOf(ordered, into.columns.length)) {
      const steps = this.#insertSteps(into, chunk)
      const outcomes = await Promise.all(
        steps.map(({ statement, values }) => {
          const joins = into.isCounted || chunk.length > MAX_JOINED_ROWS ? undefined : into.table
          return this.#query(statement, values, joins)
        }),
      )
      for (const { count } of outcomes) inserted += count
    }
    return inserted
  }

  deleteRare(deletions: readonly Deletion[]): Promise<number> {
    return handled(this.#deleteRare(deletions))
  }

  async #deleteRare(deletions: readonly Deletion[]): Promise<number> {
    if (deletions.length === 0) return 0
    const { statements } = this.#context
    const statement = statements.of(deleteTogether(deletions))
    // Most often it changes none of the tables that it names.
    const { rows } = await this.#enqueue(statement, parametersOf(deletions))
    let deleted = 0
    for (const [at, { table }] of deletions.entries()) {
      const count = Number(rows[0]?.[`n${at}`] ?? 0)
      if (count > 0) this.#noteTables(statements.of(`delete from ${table}`))
      deleted += count
    }
    return deleted
  }

  /** Others may have stored rows at any moment. */
  mayHaveRows(): boolean {
    return true
  }

  afterCommit(announce: () => void): void {
    this.#announcements.push(announce)
  }

  /** Called after commit. */
  announce(): void {
    for (const announce of this.#announcements) announce()
  }

  /** Whether it may have changed the schema. */
  get changedSchema(): boolean {
    return this.#changedSchema
  }

  /** The error of the first failed statement. */
  get failure(): unknown {
    return this.#failure
  }

  /** Rejects further statements, waits for those in flight, and commits. */
  async commit(): Promise<void> {
    await this.#settle()
    if (this.#failure !== undefined) {
      throw new DatabaseError('other', 'A statement failed, so nothing of the transaction was kept.', {
        cause: this.#failure,
      })
    }
    if (!this.#hasBegun) return
    const { outcomes, error } = await this.#run([...this.#receiptSteps(), commitStep])
    if (error !== undefined) throw this.#commitFailed(error)
    if (outcomes.at(-1)?.command !== 'COMMIT') {
      throw new DatabaseError('other', 'PostgreSQL rolled the transaction back.')
    }
    this.confirm()
  }

  /** To be called when it is known that it was committed. */
  confirm(): void {
    this.#context.snapshots.ended(this.#own)
  }

  /** The id of the row by which the outcome of the commit can be found out. Undefined if there is none. */
  get receiptId(): number | undefined {
    return this.#receiptId
  }

  /** Unix seconds of the database clock. */
  get beganAt(): number {
    return this.#beganAt
  }

  /** Whether its commit changes anything. */
  get changes(): boolean {
    return this.#hasBegun && this.#own.tables?.size !== 0
  }

  #receiptSteps(): Step[] {
    const { tables } = this.#own
    // A process with a lease has migrated the schema, so the table exists.
    if (tables?.size === 0 || (this.#lease === undefined && !this.#context.hasReceipts())) return []
    this.#receiptId = newReceiptId()
    return [leaveReceipt(this.#receiptId, tables, this.#lease)]
  }

  /** Rejects further statements and rolls back. Resolves to false if the connection is unusable. */
  async rollBack(): Promise<boolean> {
    await this.#settle()
    if (!this.#hasBegun) return true
    // The connection, and the transaction with it, may be lost; the caller already has the first error.
    const { error } = await this.#client.runBatch([{ statement: rollback, values: [] }], CONNECT_MS)
    return error === undefined
  }

  /** A lost connection does not tell whether the commit was carried out. */
  #commitFailed(error: unknown): unknown {
    if (isLeaseEnded(error)) return leaseEnded({ cause: error })
    const failure = this.#context.translate(error)
    if (!(failure instanceof DatabaseError) || failure.reason !== 'unreachable') return failure
    return new DatabaseError('uncertain', 'The outcome of a commit is not known.', { cause: failure })
  }

  #run(steps: readonly Step[]): Promise<BatchOutcome> {
    return this.#client.runBatch(steps, deadlineOf(this.#limits))
  }

  async #settle(): Promise<void> {
    this.#over = true
    while (this.#sending !== undefined) await this.#sending
  }

  #insertSteps(
    { table, columns, ignoreExisting }: InsertTarget,
    rows: readonly (readonly Value[])[],
  ): Step[] {
    const { statements } = this.#context
    if (rows.length >= MIN_COLUMN_ROWS) {
      const step = this.#insertOfColumns(table, columns, rows, ignoreExisting)
      if (step !== undefined) return [step]
    }
    if (rows.length < MIN_COLUMN_ROWS) {
      const together = statements.of(insertStatement(table, columns, rows.length, ignoreExisting))
      return rows.length === 0 ? [] : [{ statement: together, values: rows.flat() }]
    }
    const one = statements.of(insertStatement(table, columns, 1, ignoreExisting))
    return rows.map((values) => ({ statement: one, values }))
  }

  /** One statement for any number of rows, with one array parameter per column; undefined if a column type is unknown. */
  #insertOfColumns(
    table: string,
    columns: readonly string[],
    rows: readonly (readonly Value[])[],
    ignoreExisting: boolean,
  ): Step | undefined {
    const schema = this.#context.schema()
    const types: string[] = []
    const values = []
    for (const [index, column] of columns.entries()) {
      const type = schema?.typeOf(table, column)
      const bound = type && columnOf(rows, index, type)
      if (bound === undefined) return undefined
      types.push(`?::${type}[]`)
      values.push(bound)
    }
    const conflict = ignoreExisting ? ' on conflict do nothing' : ''
    const sql = `insert into ${table} (${columns.join(', ')}) select * from unnest(${types.join(', ')})${conflict}`
    return { statement: this.#context.statements.of(sql), values }
  }

  #query(statement: Statement, values: Step['values'], joinsAs?: string): Promise<Outcome> {
    if (!this.#over) this.#noteTables(statement)
    return this.#enqueue(statement, values, joinsAs)
  }

  #enqueue(statement: Statement, values: Step['values'], joinsAs?: string): Promise<Outcome> {
    if (this.#over) throw transactionOver()
    return new Promise((resolve, reject) => {
      this.#waiting.push({ statement, values, joinsAs, resolve, reject })
      this.#sending ??= this.#send()
    })
  }

  #noteTables({ tables }: Statement): void {
    if (tables.isQuery) return
    if (tables.isOther) this.#changedSchema = true
    const schema = this.#context.schema()
    const changed = schema && tables.changes(schema.graph)
    if (changed === undefined) this.#own.tables = undefined
    else for (const table of changed) this.#own.tables?.add(table)
  }

  async #send(): Promise<void> {
    // Further calls of the same tick join the batch.
    await new Promise<void>((resolve) => process.nextTick(resolve))
    while (this.#waiting.length > 0 || (this.#mutex !== undefined && !this.#hasBegun)) {
      const steps = this.#waiting
      this.#waiting = []
      await this.#sendSteps(steps)
      // Callers that got an outcome may have sent more.
      await new Promise<void>((resolve) => process.nextTick(resolve))
    }
    this.#sending = undefined
  }

  async #sendSteps(waiting: readonly Waiting[]): Promise<void> {
    const groups = joinInserts(waiting)
    const steps = groups.map((group) => this.#stepOf(group))
    const opening = this.#hasBegun ? [] : openingOf(this.#durable, this.#limits, this.#mutex?.lock)
    this.#hasBegun = true
    const { outcomes, error } = await this.#run([...opening, ...steps])
    this.#onAnswer?.()
    const failure = error === undefined ? undefined : this.#context.translate(error)
    this.#failure ??= failure
    if (opening.length > 0) this.#noteOpening(outcomes[1], failure)
    for (const [index, group] of groups.entries()) {
      const outcome = outcomes[opening.length + index]
      // After a failure the server says only that the transaction is aborted. Callers have to know why.
      for (const waiting of group) {
        if (outcome !== undefined) waiting.resolve(outcome)
        else waiting.reject(this.#failure)
      }
    }
  }

  #noteOpening(settings: Outcome | undefined, failure: unknown): void {
    const row = settings?.rows[0]
    this.#beganAt = Number(row?.['began_at'] ?? 0)
    if (row === undefined) this.#mutex?.reject(failure)
    else this.#mutex?.resolve(Boolean(row['free']))
  }

  #stepOf(group: readonly Waiting[]): Step {
    const [first] = group
    if (group.length === 1 && first !== undefined) return first
    const sql = insertsTogether(group.map(({ statement }) => statement.tables.sql))
    return { statement: this.#context.statements.of(sql), values: group.flatMap(({ values }) => values) }
  }
}

/** Groups of steps that are sent as one statement: inserts that follow each other, each into another table. */
function joinInserts(steps: readonly Waiting[]): Waiting[][] {
  const groups: Waiting[][] = []
  for (const step of steps) {
    const group = groups.at(-1)
    const joins =
      step.joinsAs !== undefined &&
      group?.every(({ joinsAs }) => joinsAs !== undefined && joinsAs !== step.joinsAs)
    if (group !== undefined && joins) group.push(step)
    else groups.push([step])
  }
  return groups
}
