import { type ForeignKeyAction, TableGraph } from '../table-graph.ts'
import type { Connection } from './connection.ts'

const ACTIONS = new Set(['CASCADE', 'SET NULL', 'SET DEFAULT'])
const DERIVED = /^\s*create\s+virtual\b/i
/** A conflict clause of the table deletes rows that a statement does not name. */
const REPLACES = /\bon\s+conflict\s+replace\b/i

/** A number that changes with the schema. */
export function readSchemaVersion(connection: Connection): number {
  return Number(connection.get('pragma schema_version', [])?.schema_version)
}

export function readTableGraph(connection: Connection): TableGraph {
  const tables: string[] = []
  const triggered: string[] = []
  const derived: string[] = []
  const actions: ForeignKeyAction[] = []
  for (const row of connection.all('select type, name, tbl_name, sql from sqlite_schema', [])) {
    const [name, sql] = [String(row.name), String(row.sql)]
    if (row.type === 'view' || (row.type === 'table' && DERIVED.test(sql))) derived.push(name)
    else if (row.type === 'table') tables.push(name)
    if (row.type === 'trigger') triggered.push(String(row.tbl_name))
    if (row.type === 'table' && REPLACES.test(sql)) triggered.push(name)
  }
  const keys = connection.all(
    `select t.name as child, k."table" as parent, k.on_delete, k.on_update
     from sqlite_schema t, pragma_foreign_key_list(t.name) k where t.type = 'table'`,
    [],
  )
  for (const key of keys) {
    const [parent, child] = [String(key.parent), String(key.child)]
    if (ACTIONS.has(String(key.on_delete))) actions.push({ parent, child, on: 'delete' })
    if (ACTIONS.has(String(key.on_update))) actions.push({ parent, child, on: 'update' })
  }
  return new TableGraph({ tables, triggered, derived, actions })
}
