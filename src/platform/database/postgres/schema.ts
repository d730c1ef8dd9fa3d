import { type ForeignKeyAction, TableGraph } from '../table-graph.ts'
import { type ColumnType, isColumnType } from './columns.ts'

/** The tables of the database: the types of their columns, and how changes spread. */
export class Schema {
  readonly graph: TableGraph
  readonly #columns = new Map<string, Map<string, string>>()

  constructor(rows: readonly SchemaRow[]) {
    const triggered: string[] = []
    const derived: string[] = []
    const actions: ForeignKeyAction[] = []
    for (const { kind, table_name: table, name } of rows) {
      if (kind === 'trigger') triggered.push(table)
      else if (kind === 'derived') derived.push(table)
      else if (kind === 'delete' || kind === 'update') actions.push({ parent: table, child: name, on: kind })
      else this.#addColumn(table, name, kind)
    }
    this.graph = new TableGraph({ tables: this.#columns.keys(), triggered, derived, actions })
  }

  typeOf(table: string, column: string): ColumnType | undefined {
    const type = this.#columns.get(table)?.get(column)
    return type !== undefined && isColumnType(type) ? type : undefined
  }

  #addColumn(table: string, name: string, type: string): void {
    const columns = this.#columns.get(table)
    if (columns === undefined) this.#columns.set(table, new Map([[name, type]]))
    else columns.set(name, type)
  }
}

/**
 * A fact about a table. `delete` and `update`: rows of the table `name` change with it. `trigger`: it has triggers or rules.
 * `derived`: it shows rows of others. Any other kind is the type of its column `name`.
 */
export interface SchemaRow {
  kind: string
  table_name: string
  name: string
}

export const schemaQuery = `
  with relation as (
    select oid, relname::text as table_name, relkind, relhasrules, relhassubclass, relispartition
    from pg_class where relnamespace = current_schema()::regnamespace
  )
  select format_type(a.atttypid, null) as kind, table_name, a.attname::text as name
  from relation r join pg_attribute a on a.attrelid = r.oid
  where r.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped
  union all
  select action.kind, p.table_name, f.relname::text
  from pg_constraint k join relation p on p.oid = k.confrelid join pg_class f on f.oid = k.conrelid
  cross join lateral (values ('delete', k.confdeltype), ('update', k.confupdtype)) as action (kind, type)
  where k.contype = 'f' and action.type in ('c', 'n', 'd')
  union all
  select 'trigger', table_name, '' from relation r
  where r.relkind in ('r', 'p')
    and (r.relhasrules or exists (select 1 from pg_trigger t where t.tgrelid = r.oid and not t.tgisinternal))
  union all
  select 'derived', table_name, '' from relation r
  where r.relkind in ('v', 'm', 'f', 'p') or r.relispartition or r.relhassubclass
    or exists (select 1 from pg_inherits i where i.inhrelid = r.oid)`
