import { createReadStream, createWriteStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { Client } from 'pg'
import { BACKUP_STATEMENT_MS, CONNECT_MS } from './deadlines.ts'
import { findWritable } from './postgres-client.ts'

/** A row of `small_block` can have 64 KiB, which are 128 KiB as hexadecimal text. */
const FETCHED_ROWS = 100
const END = '-- end of the dump, rows:'

/**
 * Writes all rows to a gzipped SQL script, in one snapshot. The script has no table definitions: it is run with psql on a
 * database in which the program of that schema version has created the tables, and replaces what they hold. The search index is
 * left out, because it is derived. `pg_dump` would do more, but it is seldom installed beside a server and must match its version.
 */
export async function dumpPostgres(url: string, file: string, schemaVersion: number): Promise<void> {
  const client = new Client({
    connectionString: await findWritable(url),
    application_name: 'carrel backup',
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: BACKUP_STATEMENT_MS,
  })
  // The statement that fails says so. Without a listener the process would end.
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query('begin isolation level repeatable read read only')
    const counted = { rows: 0 }
    const lines = scriptOf(client, schemaVersion, counted)
    await pipeline(lines, createGzip({ level: 1 }), createWriteStream(file, { flags: 'wx', mode: 0o600 }))
    await client.query('commit')
    await checkDump(file, counted.rows)
  } finally {
    await client.end()
  }
}

async function checkDump(file: string, rows: number): Promise<void> {
  const source = createReadStream(file)
  const text = source.pipe(createGunzip())
  source.on('error', (error) => text.destroy(error))
  let last = ''
  for await (const line of createInterface({ input: text, crlfDelay: Number.POSITIVE_INFINITY })) last = line
  if (last !== `${END} ${rows}`) throw new Error(`the dump ${file} is not complete`)
}

interface Table {
  readonly name: string
  readonly columns: readonly string[]
  readonly identity: string | undefined
}

async function* scriptOf(
  client: Client,
  schemaVersion: number,
  counted: { rows: number },
): AsyncGenerator<string> {
  const tables = await listTables(client)
  yield `-- Rows of a Carrel database of schema version ${schemaVersion}.\n`
  yield '-- Start the Carrel of that version on an empty database, stop it, then run this with psql -1 -v ON_ERROR_STOP=1.\n'
  yield `truncate ${tables.map(({ name }) => name).join(', ')};\n`
  for (const table of tables) {
    const columns = table.columns.join(', ')
    const values = table.columns.map((column) => `quote_nullable(${column}::text)`).join(` || ', ' || `)
    await client.query(`declare dumped no scroll cursor for select ${values} as line from ${table.name}`)
    for (;;) {
      const { rows } = await client.query<{ line: string }>(`fetch ${FETCHED_ROWS} from dumped`)
      if (rows.length === 0) break
      counted.rows += rows.length
      yield `insert into ${table.name} (${columns}) values\n`
      for (const [index, { line }] of rows.entries())
        yield `(${line})${index === rows.length - 1 ? ';' : ','}\n`
    }
    await client.query('close dumped')
    if (table.identity !== undefined) yield await sequenceLine(client, table.name, table.identity)
  }
  yield `${END} ${counted.rows}\n`
}

async function sequenceLine(client: Client, table: string, column: string): Promise<string> {
  const sequence = `pg_get_serial_sequence('${table}', '${column}')`
  const found = await client.query<{ name: string }>(`select ${sequence} as name`)
  const state = await client.query<{ last_value: string; is_called: boolean }>(
    `select last_value::text, is_called from ${found.rows[0]?.name}`,
  )
  const { last_value: last = '1', is_called: isCalled = false } = state.rows[0] ?? {}
  return `select setval(${sequence}, ${last}, ${isCalled});\n`
}

/** The tables of the schema with those that they refer to first, as foreign keys require it. */
async function listTables(client: Client): Promise<Table[]> {
  const { rows } = await client.query<{ name: string; columns: string[]; identity: string | null }>(`
    select quote_ident(c.relname) as name,
      array_agg(quote_ident(a.attname) order by a.attnum) filter (where a.attgenerated = '') as columns,
      min(a.attname) filter (where a.attidentity <> '') as identity
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relname not like 'search\\_%'
      and c.relname <> 'committed_transaction'
      and a.attnum > 0 and not a.attisdropped
    group by c.relname order by c.relname`)
  const { rows: references } = await client.query<{ source: string; target: string }>(`
    select quote_ident(s.relname) as source, quote_ident(t.relname) as target
    from pg_constraint f join pg_class s on s.oid = f.conrelid join pg_class t on t.oid = f.confrelid
    where f.contype = 'f' and s.oid <> t.oid and s.relnamespace = current_schema()::regnamespace`)
  const tables = rows.map(({ identity, ...table }) => ({ ...table, identity: identity ?? undefined }))
  const ordered: Table[] = []
  const add = (table: Table) => {
    if (ordered.includes(table)) return
    for (const { source, target } of references) {
      if (source !== table.name) continue
      const found = tables.find(({ name }) => name === target)
      if (found !== undefined) add(found)
    }
    ordered.push(table)
  }
  for (const table of tables) add(table)
  return ordered
}
