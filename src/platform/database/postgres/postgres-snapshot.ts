import { Client } from 'pg'
import type { Row, Value } from '../database.ts'
import { sizeOf } from '../load-rows.ts'
import {
  BYTES_PER_PAGE,
  type DatabaseSnapshot,
  inInsertOrder,
  type KeyRange,
  quoted,
  ROWS_PER_PAGE,
  type SnapshotTable,
} from '../snapshot.ts'
import { BACKUP_STATEMENT_MS, CONNECT_MS } from './deadlines.ts'
import { translate } from './faults.ts'
import { findWritable } from './postgres-client.ts'
import { numberPlaceholders } from './statements.ts'
import { valueTypes } from './values.ts'

/** A REPEATABLE READ transaction on a connection of its own. */
export class PostgresSnapshot implements DatabaseSnapshot {
  readonly dialect = 'postgres'
  schemaVersion = 0
  tables: readonly SnapshotTable[] = []
  sequences: ReadonlyMap<string, number> = new Map()
  readonly #client: Client

  private constructor(url: string) {
    this.#client = new Client({
      connectionString: url,
      keepAlive: true,
      types: valueTypes,
      application_name: 'carrel backup',
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: BACKUP_STATEMENT_MS,
    })
    this.#client.on('error', () => {})
  }

  static async open(url: string): Promise<PostgresSnapshot> {
    const snapshot = new PostgresSnapshot(await findWritable(url))
    try {
      await snapshot.#client.connect()
      await snapshot.#begin()
      return snapshot
    } catch (error) {
      await snapshot[Symbol.asyncDispose]()
      throw translate(error, 'PostgreSQL')
    }
  }

  async #begin(): Promise<void> {
    // Without synchronized scans rows come in the order of storage, so unchanged parts of a table are the same in every snapshot.
    await this.#client.query('begin isolation level repeatable read read only')
    await this.#client.query('set local synchronize_seqscans = off')
    const columns = await this.all(
      `select r.relname::text as table_name, a.attname::text as column_name
       from pg_class r join pg_attribute a on a.attrelid = r.oid
       where r.relnamespace = current_schema()::regnamespace and r.relkind = 'r' and a.attnum > 0 and not a.attisdropped
       order by r.relname, a.attnum`,
    )
    const references = await this.all(
      `select c.relname::text as child, p.relname::text as parent
       from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_class p on p.oid = k.confrelid
       where k.contype = 'f' and c.relnamespace = current_schema()::regnamespace`,
    )
    // Derived rows have no foreign keys here, but in SQLite, where they may be restored to. A column is named after the table it refers to.
    const named = columns.flatMap(({ table_name: child = '', column_name: column }) => {
      const parent = /^(.+)_key$/.exec(String(column))?.[1]
      return parent === undefined ? [] : { child, parent }
    })
    this.tables = inInsertOrder(columns, [...references, ...named])
    const version = await this.get<{ version: number | null }>(
      'select max(version) as version from schema_migration',
    )
    this.schemaVersion = version?.version ?? 0
    this.sequences = await this.#readSequences()
  }

  async #readSequences(): Promise<Map<string, number>> {
    const rows = await this.all<{ table_name: string; sequence: string }>(
      `select r.relname::text as table_name, pg_get_serial_sequence(quote_ident(r.relname), a.attname)::text as sequence
       from pg_class r join pg_attribute a on a.attrelid = r.oid
       where r.relnamespace = current_schema()::regnamespace and r.relkind = 'r' and a.attidentity <> ''`,
    )
    const sequences = new Map<string, number>()
    for (const { table_name: table, sequence } of rows) {
      const row = await this.get<{ last: number }>(
        `select case when is_called then last_value else 0 end as last from ${sequence}`,
      )
      if (row !== undefined && row.last > 0) sequences.set(table, row.last)
    }
    return sequences
  }

  async *rows({ name, columns }: SnapshotTable, libraries?: KeyRange): AsyncGenerator<Value[][], void> {
    // A cursor has no parameters.
    const ofLibraries = libraries
      ? `where library_key > ${libraries.after} and library_key <= ${libraries.last} order by ctid`
      : ''
    const sql = `select ${columns.map(quoted).join(', ')} from ${quoted(name)} ${ofLibraries}`
    await this.#query(`declare all_rows no scroll cursor for ${sql}`)
    try {
      for (let count = ROWS_PER_PAGE; ; ) {
        const text = `fetch forward ${count} from all_rows`
        const { rows } = await this.#client.query<Value[]>({ text, rowMode: 'array' })
        if (rows.length > 0) yield rows
        if (rows.length < count) break
        // The next rows are probably as large as these.
        let bytes = 0
        for (const row of rows) for (const value of row) bytes += sizeOf(value)
        count = Math.min(ROWS_PER_PAGE, Math.max(1, Math.floor((BYTES_PER_PAGE * count) / bytes)))
      }
    } finally {
      await this.#query('close all_rows')
    }
  }

  async all<R extends object = Row>(sql: string, ...parameters: Value[]): Promise<R[]> {
    return this.#query(numberPlaceholders(sql), parameters) as Promise<R[]>
  }

  async get<R extends object = Row>(sql: string, ...parameters: Value[]): Promise<R | undefined> {
    return (await this.all<R>(sql, ...parameters))[0]
  }

  async #query(sql: string, parameters: readonly Value[] = []): Promise<object[]> {
    try {
      const { rows } = await this.#client.query<object>(sql, parameters.map(bindable))
      return rows
    } catch (error) {
      throw translate(error, 'PostgreSQL')
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end().catch(() => {})
  }
}

// The driver sends only Buffers as bytes.
function bindable(value: Value): unknown {
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.length) : value
}
