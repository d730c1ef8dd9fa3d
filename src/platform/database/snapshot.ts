import type { Dialect, Reader, Row, Value } from './database.ts'
import { sizeOf } from './load-rows.ts'
import type { DatabaseSetting } from './open.ts'
import { Connection } from './sqlite/connection.ts'

/** A table as it is found in the database. */
export interface SnapshotTable {
  readonly name: string
  readonly columns: readonly string[]
}

/** Libraries by key: those after `after`, up to `last`. */
export interface KeyRange {
  readonly after: number
  readonly last: number
}

/**
 * All rows of a database at one point in time. Writers are not blocked while it is open. On SQLite the write-ahead log keeps growing until it is
 * closed, so it must not be held longer than needed.
 */
export interface DatabaseSnapshot extends Reader, AsyncDisposable {
  readonly dialect: Dialect
  readonly schemaVersion: number
  /** In the order in which rows can be inserted: a table comes after those that its foreign keys refer to. */
  readonly tables: readonly SnapshotTable[]
  /** The last generated key of each table that has generated keys. Deleted keys must not be used again. */
  readonly sequences: ReadonlyMap<string, number>
  /** All rows in pages, or those of some libraries, in the order of storage: rows added later mostly come later. */
  rows(table: SnapshotTable, libraries?: KeyRange): AsyncGenerator<Value[][], void>
}

export const ROWS_PER_PAGE = 500
/** A page with large rows has fewer of them. */
export const BYTES_PER_PAGE = 4 * 2 ** 20
const BUSY_TIMEOUT_MS = 5000

/** Opens a connection of its own in a read transaction. The SQLite file must exist. */
export async function openSnapshot(setting: DatabaseSetting): Promise<DatabaseSnapshot> {
  if (setting.kind === 'sqlite') return SqliteSnapshot.open(setting.file)
  const { PostgresSnapshot } = await import('./postgres/postgres-snapshot.ts')
  return PostgresSnapshot.open(setting.url)
}

class SqliteSnapshot implements DatabaseSnapshot {
  readonly dialect = 'sqlite'
  schemaVersion = 0
  tables: readonly SnapshotTable[] = []
  sequences: ReadonlyMap<string, number> = new Map()
  readonly #connection: Connection

  private constructor(file: string) {
    this.#connection = new Connection(file, BUSY_TIMEOUT_MS, { readOnly: true })
  }

  static async open(file: string): Promise<SqliteSnapshot> {
    const snapshot = new SqliteSnapshot(file)
    try {
      snapshot.#begin()
      return snapshot
    } catch (error) {
      await snapshot[Symbol.asyncDispose]()
      throw error
    }
  }

  // The read transaction begins with the first read.
  #begin(): void {
    const connection = this.#connection
    connection.exec('pragma cache_size = -16384; begin')
    const columns = connection.all(
      `select t.name as table_name, c.name as column_name
       from sqlite_schema t, pragma_table_info(t.name) c
       where t.type = 'table' and t.name not like 'sqlite_%' order by t.name, c.cid`,
      [],
    )
    const references = connection.all(
      `select t.name as child, k."table" as parent
       from sqlite_schema t, pragma_foreign_key_list(t.name) k where t.type = 'table'`,
      [],
    )
    this.tables = inInsertOrder(columns, references)
    this.schemaVersion = Number(
      connection.get('select max(version) as version from schema_migration', [])?.version ?? 0,
    )
    const sequences = connection.all('select name, seq from sqlite_sequence', [])
    this.sequences = new Map(sequences.map(({ name, seq }) => [String(name), Number(seq)]))
  }

  async *rows({ name, columns }: SnapshotTable, libraries?: KeyRange): AsyncGenerator<Value[][], void> {
    // Not indexed: a scan of an index would return the rows in another order than that of their insertion.
    const ofLibraries = `where rowid in
      (select rowid from ${quoted(name)} where library_key > ? and library_key <= ?) order by rowid`
    const sql = `select ${columns.map(quoted).join(', ')} from ${quoted(name)} not indexed ${libraries ? ofLibraries : ''}`
    const statement = this.#connection.handle.prepare(sql)
    statement.setReturnArrays(true)
    let page: Value[][] = []
    let bytes = 0
    for (const found of statement.iterate(...(libraries ? [libraries.after, libraries.last] : []))) {
      const row = found as unknown as Value[]
      page.push(row)
      for (const value of row) bytes += sizeOf(value)
      if (page.length < ROWS_PER_PAGE && bytes < BYTES_PER_PAGE) continue
      yield page
      page = []
      bytes = 0
    }
    if (page.length > 0) yield page
  }

  async all<R extends object = Row>(sql: string, ...parameters: Value[]): Promise<R[]> {
    return this.#connection.all(sql, parameters) as R[]
  }

  async get<R extends object = Row>(sql: string, ...parameters: Value[]): Promise<R | undefined> {
    return this.#connection.get(sql, parameters) as R | undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#connection.close()
  }
}

/** Groups columns by table, and sorts the tables so that each comes after those it refers to. */
export function inInsertOrder(columns: readonly Row[], references: readonly Row[]): SnapshotTable[] {
  const tables = new Map<string, string[]>()
  for (const { table_name: table, column_name: column } of columns) {
    const known = tables.get(String(table))
    if (known === undefined) tables.set(String(table), [String(column)])
    else known.push(String(column))
  }
  const ordered = new Map<string, SnapshotTable>()
  const visiting = new Set<string>()
  const visit = (name: string) => {
    const own = tables.get(name)
    if (own === undefined || ordered.has(name) || visiting.has(name)) return
    visiting.add(name)
    for (const { child, parent } of references) if (child === name) visit(String(parent))
    ordered.set(name, { name, columns: own })
  }
  for (const name of [...tables.keys()].sort()) visit(name)
  return [...ordered.values()]
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
