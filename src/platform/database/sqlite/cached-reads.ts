import type { Row, Value } from '../database.ts'
import { type CachedQuery, MAX_KEY_PARAMETERS, RowCache } from '../row-cache.ts'
import { rowKey } from '../row-key.ts'
import { StatementTables } from '../statement-tables.ts'
import type { TableGraph } from '../table-graph.ts'
import type { Connection } from './connection.ts'
import { readSchemaVersion, readTableGraph } from './schema.ts'

const MAX_STATEMENTS = 1000
const settled = Promise.resolve()
const NO_PARAMETERS: readonly Value[] = []

interface KnownStatement {
  readonly tables: StatementTables
  /** The graph the queries below were made for. */
  graph: TableGraph | undefined
  /** For `get`, which reads no more than one row, and for `all`. */
  first: CachedQuery | undefined
  list: CachedQuery | undefined
}

/**
 * Reads outside of transactions, through the row cache. A commit of our own invalidates the tables it wrote to. `data_version` tells
 * whether any other connection, in this process or another, has committed: that invalidates everything.
 *
 * `data_version` is read once in each callback of the event loop, before its first read: whatever a callback works on had arrived when
 * it began. Once a turn of the event loop would be too rare. A turn runs many callbacks, and the later ones can work on
 * bytes that arrived while the earlier ones ran.
 */
export class CachedReads {
  readonly #reader: Connection
  readonly #writer: Connection
  readonly #onForeignCommit: () => void
  readonly #cache = new RowCache()
  readonly #statements = new Map<string, KnownStatement>()
  /** Queries of `isEmpty` by table. */
  readonly #anyRow = new Map<string, string>()
  #graph: TableGraph | undefined
  #schemaVersion = -1
  #dataVersion: number | undefined
  /** Whether `data_version` was read in this callback, or since the write lock is held. */
  #isValidated = false
  #isHeld = false

  /**
   * Rows are read through `reader`. Commits through `writer` have to be announced with `invalidate`. `onForeignCommit` is called before
   * the first read that may see a commit of another connection.
   */
  constructor(reader: Connection, writer: Connection, onForeignCommit: () => void) {
    this.#reader = reader
    this.#writer = writer
    this.#onForeignCommit = onForeignCommit
  }

  get statistics(): RowCache['statistics'] {
    return this.#cache.statistics
  }

  /** The row is shared: nobody may change it. */
  get(sql: string, parameters: readonly Value[]): Row | undefined {
    this.#validate()
    const query = this.#known(sql).first
    if (query === undefined || parameters.length > MAX_KEY_PARAMETERS) {
      return this.#reader.get(sql, parameters)
    }
    const key = rowKey(parameters)
    const cached = this.#cache.get(query, key)
    if (cached !== undefined) return cached[0]
    const row = this.#reader.get(sql, parameters)
    this.#cache.put(query, key, row === undefined ? [] : [row], this.#cache.now)
    return row
  }

  /** The rows are shared: nobody may change one. The list is the caller's. */
  all(sql: string, parameters: readonly Value[]): Row[] {
    this.#validate()
    const query = this.#known(sql).list
    if (query === undefined || parameters.length > MAX_KEY_PARAMETERS) {
      return this.#reader.all(sql, parameters)
    }
    const key = rowKey(parameters)
    const cached = this.#cache.get(query, key)
    if (cached !== undefined) return cached.slice()
    const rows = this.#reader.all(sql, parameters)
    this.#cache.put(query, key, rows, this.#cache.now)
    return rows.slice()
  }

  /** Whether a table has no committed rows. */
  isEmpty(table: string): boolean {
    let sql = this.#anyRow.get(table)
    if (sql === undefined) this.#anyRow.set(table, (sql = `select 1 from ${table} limit 1`))
    return this.get(sql, NO_PARAMETERS) === undefined
  }

  /** The tables that decide what a query finds. Undefined if others may. */
  tablesOf(sql: string): readonly string[] | undefined {
    return this.#known(sql).list?.tables
  }

  /** The tables that a statement of a transaction may change, none for a query. Undefined for any. */
  changes(sql: string): readonly string[] | undefined {
    return this.#known(sql).tables.changes(this.#currentGraph())
  }

  /**
   * To be called when a transaction has the write lock: it sees commits of others that this callback has not asked for yet. Until `release` nobody else can commit,
   * so that they are asked for once.
   */
  hold(): void {
    this.#isValidated = false
    this.#isHeld = true
  }

  /** As `hold`, and looks for commits of others at once. */
  holdValidated(): void {
    this.hold()
    this.#validate()
  }

  /** To be called when the write lock is released. */
  release(): void {
    this.#isHeld = false
    if (this.#isValidated) void settled.then(this.#endPromises)
  }

  /** To be called as soon as a transaction is committed, with the tables it changed. Undefined for any, also the schema. */
  invalidate(tables: ReadonlySet<string> | undefined): void {
    if (tables === undefined) {
      this.#graph = undefined
      this.#cache.invalidateAll()
    } else if (tables.size > 0) this.#cache.invalidate(tables)
  }

  #validate(): void {
    if (this.#isValidated) return
    this.#isValidated = true
    // A tick that a promise queues runs when this callback, with all promises it settled, is done, and before the next begins. A tick of its own would run
    // before the promises.
    if (!this.#isHeld) void settled.then(this.#endPromises)
    const version = this.#readDataVersion()
    if (version !== undefined && version === this.#dataVersion) return
    this.#dataVersion = version
    this.#onForeignCommit()
    this.#cache.invalidateAll()
    if (this.#graph !== undefined && readSchemaVersion(this.#reader) !== this.#schemaVersion) {
      this.#graph = undefined
    }
  }

  readonly #endPromises = (): void => {
    process.nextTick(this.#endCallback)
  }

  readonly #endCallback = (): void => {
    if (!this.#isHeld) this.#isValidated = false
  }

  /** Undefined if the database is busy: that connection does not wait for locks. */
  #readDataVersion(): number | undefined {
    try {
      return this.#writer.dataVersion()
    } catch {
      return undefined
    }
  }

  #known(sql: string): KnownStatement {
    let known = this.#statements.get(sql)
    if (known === undefined) {
      known = { tables: new StatementTables(sql), graph: undefined, first: undefined, list: undefined }
      if (this.#statements.size >= MAX_STATEMENTS) this.#statements.clear()
      this.#statements.set(sql, known)
    }
    const graph = this.#currentGraph()
    if (known.graph !== graph) {
      known.graph = graph
      known.list = known.tables.cachedQuery(graph)
      known.first = known.list && { ...known.list }
    }
    return known
  }

  #currentGraph(): TableGraph {
    if (this.#graph === undefined) {
      // The version first: a graph that is newer than its version is read once more, an older one would stay.
      this.#schemaVersion = readSchemaVersion(this.#reader)
      this.#graph = readTableGraph(this.#reader)
    }
    return this.#graph
  }
}

/** The tables that a transaction has changed so far. */
export class ChangedTables {
  readonly #reads: CachedReads
  #tables: Set<string> | undefined = new Set()

  constructor(reads: CachedReads) {
    this.#reads = reads
  }

  /** Undefined for any. */
  get tables(): ReadonlySet<string> | undefined {
    return this.#tables
  }

  /** Whether a table may have been changed. */
  mayHave(table: string): boolean {
    return this.#tables === undefined || this.#tables.has(table)
  }

  /** To be called with each statement of the transaction. */
  add(sql: string): void {
    if (this.#tables === undefined) return
    const changed = this.#reads.changes(sql)
    if (changed === undefined) this.#tables = undefined
    else for (const table of changed) this.#tables.add(table)
  }
}
