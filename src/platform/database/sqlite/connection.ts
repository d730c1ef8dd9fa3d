import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import type { Row, Value } from '../database.ts'
import { DatabaseError, type DatabaseReason } from '../errors.ts'

const maxStatements = 500

interface Prepared {
  readonly statement: StatementSync
  readonly columns: readonly string[]
}

/** One SQLite connection with a bounded cache of prepared statements; the oldest is evicted first. */
export class Connection {
  readonly handle: DatabaseSync
  readonly #prepared = new Map<string, Prepared>()
  #dataVersion: StatementSync | undefined

  /** A read-only connection leaves the log unchanged, even if it is the last to close. */
  constructor(file: string, busyTimeoutMs: number, { readOnly = false } = {}) {
    try {
      const enableForeignKeyConstraints = true
      this.handle = new DatabaseSync(file, { timeout: busyTimeoutMs, enableForeignKeyConstraints, readOnly })
    } catch (error) {
      throw translated(error)
    }
  }

  exec(sql: string): void {
    try {
      this.handle.exec(sql)
    } catch (error) {
      throw translated(error)
    }
  }

  all(sql: string, parameters: readonly Value[]): Row[] {
    try {
      const { statement, columns } = this.#prepare(sql)
      const rows = statement.all(...parameters.map(bindable)) as unknown as Value[][]
      return rows.map((values) => toRow(columns, values))
    } catch (error) {
      throw translated(error)
    }
  }

  get(sql: string, parameters: readonly Value[]): Row | undefined {
    try {
      const { statement, columns } = this.#prepare(sql)
      const values = statement.get(...parameters.map(bindable)) as unknown as Value[] | undefined
      return values && toRow(columns, values)
    } catch (error) {
      throw translated(error)
    }
  }

  run(sql: string, parameters: readonly Value[]): number {
    try {
      return Number(this.#prepare(sql).statement.run(...parameters.map(bindable)).changes)
    } catch (error) {
      throw translated(error)
    }
  }

  /** A number that changes whenever another connection, of any process, commits. */
  dataVersion(): number {
    if (this.#dataVersion === undefined) {
      this.#dataVersion = this.handle.prepare('pragma data_version')
      this.#dataVersion.setReturnArrays(true)
    }
    return Number((this.#dataVersion.get() as unknown as Value[])[0])
  }

  close(): void {
    this.#prepared.clear()
    this.#dataVersion = undefined
    if (this.handle.isOpen) this.handle.close()
  }

  #prepare(sql: string): Prepared {
    const known = this.#prepared.get(sql)
    if (known !== undefined) return known
    const statement = this.handle.prepare(sql)
    statement.setReturnArrays(true)
    const prepared = { statement, columns: statement.columns().map((column) => column.name) }
    if (this.#prepared.size >= maxStatements) this.#evictOldest()
    this.#prepared.set(sql, prepared)
    return prepared
  }

  #evictOldest(): void {
    for (const sql of this.#prepared.keys()) {
      this.#prepared.delete(sql)
      return
    }
  }
}

// The driver binds a JS number as REAL: 5 in a text column would read "5.0", and ? / 2 would not be an integer division as on PostgreSQL.
function bindable(value: Value): SQLInputValue {
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value
}

function toRow(columns: readonly string[], values: readonly Value[]): Row {
  const row: Row = {}
  for (let i = 0; i < columns.length; i++) row[columns[i] as string] = values[i] as Value
  return row
}

const reasons: Record<number, DatabaseReason> = {
  787: 'foreign-key',
  1555: 'unique',
  2067: 'unique',
  // SQLITE_IOERR_SHMSIZE: the shared-memory index of the log cannot grow.
  4874: 'full',
  // SQLITE_IOERR_WRITE, _FSYNC and _TRUNCATE.
  778: 'unwritable',
  1034: 'unwritable',
  1546: 'unwritable',
}
const generalReasons: Record<number, DatabaseReason> = { 5: 'busy', 8: 'unwritable', 13: 'full' }

function translated(error: unknown): unknown {
  if (!(error instanceof Error) || !('errcode' in error)) return error
  const code = Number(error.errcode)
  const reason = reasons[code] ?? generalReasons[primaryCode(code)] ?? 'other'
  return new DatabaseError(reason, `SQLite: ${error.message} (${code})`, { cause: error })
}

/** The primary result code of an extended one. */
export function primaryCode(code: number): number {
  return code & 0xff
}
