import { type ColumnType, isColumnType } from './columns.ts'

/** What the server knows of our tables and we make use of. */
export class Schema {
  readonly #tables: ReadonlyMap<string, TableShape>
  readonly #followed = new Map<string, readonly string[]>()

  constructor(rows: readonly SchemaRow[]) {
    const tables = new Map<string, TableShape>()
    for (const row of rows) {
      const table = tables.get(row.table_name) ?? { columns: new Map(), follows: new Set() }
      tables.set(row.table_name, table)
      if (row.column_type !== null) table.columns.set(row.name, row.column_type)
      else table.follows.add(row.name)
    }
    this.#tables = tables
  }

  typeOf(table: string, column: string): ColumnType | undefined {
    const type = this.#tables.get(table)?.columns.get(column)
    return type !== undefined && isColumnType(type) ? type : undefined
  }

  /** The tables whose names are in a statement: those it reads or writes, and perhaps more. */
  tablesIn(sql: string): string[] {
    const words = new Set(sql.match(/\w+/g))
    return Array.from(words).filter((word) => this.#tables.has(word))
  }

  /** With the tables whose rows go, or lose a key, with those of the given ones. */
  withFollowers(tables: readonly string[]): readonly string[] {
    const key = tables.join()
    let touched = this.#followed.get(key)
    if (touched === undefined) {
      const all = new Set(tables)
      // A set gives out what is added to it meanwhile.
      for (const table of all) {
        for (const follower of this.#tables.get(table)?.follows ?? []) all.add(follower)
      }
      touched = [...all]
      this.#followed.set(key, touched)
    }
    return touched
  }
}

interface TableShape {
  readonly columns: Map<string, string>
  /** Tables that the server changes of itself when a row of this one is deleted. */
  readonly follows: Set<string>
}

/** A column of a table, or with no type a table that follows it. */
export interface SchemaRow {
  table_name: string
  name: string
  column_type: string | null
}

export const schemaQuery = `
  select c.relname::text as table_name, a.attname::text as name, format_type(a.atttypid, null) as column_type
  from pg_class c join pg_attribute a on a.attrelid = c.oid
  where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
    and a.attnum > 0 and not a.attisdropped
  union all
  select p.relname::text, f.relname::text, null from pg_constraint k
  join pg_class p on p.oid = k.confrelid join pg_class f on f.oid = k.conrelid
  where k.contype = 'f' and p.relnamespace = current_schema()::regnamespace
    and k.confdeltype in ('c', 'n', 'd')`
