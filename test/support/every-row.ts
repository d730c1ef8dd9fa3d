import { randomBytes } from 'node:crypto'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { type DatabaseSetting, openSnapshot } from '../../src/platform/database/index.ts'

/** Tables whose rows belong to a database or to running processes. */
const NOT_DATA = /^(?:schema_migration|cluster_\w+|committed_transaction|operation_lease|search_\w+)$/

/** Inserts rows into every table of a SQLite database that has none, so that each kind of row is there. Foreign keys refer to the first row of their table. */
export async function fillEveryTable(file: string): Promise<void> {
  await using snapshot = await openSnapshot({ kind: 'sqlite', file })
  const tables = snapshot.tables.filter(({ name }) => !NOT_DATA.test(name))
  using db = new DatabaseSync(file)
  for (const { name } of tables) {
    if (db.prepare(`select 1 from "${name}"`).get() === undefined) insertRow(db, name)
  }
}

function insertRow(db: DatabaseSync, table: string): void {
  const parents = new Map(
    db
      .prepare(
        'select "from" as column_name, "table" as parent, "to" as parent_column from pragma_foreign_key_list(?)',
      )
      .all(table)
      .map((key) => [String(key['column_name']), key] as const),
  )
  const values = new Map<string, SQLInputValue>()
  for (const column of db.prepare('select name, type from pragma_table_info(?)').all(table)) {
    const name = String(column['name'])
    const key = parents.get(name)
    const parent =
      key &&
      db.prepare(`select "${String(key['parent_column'])}" as value from "${String(key['parent'])}"`).get()
    values.set(name, key ? (parent?.['value'] ?? null) : valueOf(String(column['type'])))
  }
  const names = [...values.keys()].map((name) => `"${name}"`).join(', ')
  db.prepare(`insert into "${table}" (${names}) values (${[...values].map(() => '?').join(', ')})`).run(
    ...values.values(),
  )
}

function valueOf(type: string): SQLInputValue {
  if (/int/i.test(type)) return 2 ** 40 + 1
  return /blob|bytea/i.test(type) ? randomBytes(40) : "grüße 'so' \u{1F600}\n\t\\x00"
}

/** All rows of all tables as sorted texts, to compare two databases. */
export async function dumpRows(setting: DatabaseSetting): Promise<Record<string, string[]>> {
  await using snapshot = await openSnapshot(setting)
  const dump: Record<string, string[]> = {}
  for (const table of snapshot.tables) {
    if (NOT_DATA.test(table.name)) continue
    const columns = table.columns.toSorted()
    const rows: string[] = []
    for await (const page of snapshot.rows({ name: table.name, columns })) {
      for (const row of page) {
        rows.push(
          JSON.stringify(row.map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value))),
        )
      }
    }
    dump[table.name] = rows.sort()
  }
  return dump
}
