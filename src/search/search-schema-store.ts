import { columnTypes, type Database, type Dialect, type Transaction } from '../database/index.ts'

// Another number, and what was indexed is dropped and made again (I3).
const VERSION = 3

// Held while the tables are made, so that of two nodes that start at once one makes them.
const SCHEMA_LOCK = 0x5ea4c4

const PENDING_BY_LIBRARY = `create index if not exists search_pending_by_library
  on search_pending (entry_key, due_at) where reason is null`

const TABLES = [
  'search_library',
  'search_entry',
  'search_text',
  'search_pending',
  'search_name',
  'search_body',
  'search_merge',
  'search_letter',
]

/** Makes the tables of the index if they are not there, or are of another version. */
export async function prepareSchema(db: Database): Promise<void> {
  if ((await findVersion(db)) === VERSION && (await hasPendingIndex(db))) return
  await db.write(async (tx) => {
    if (db.dialect === 'postgres') await tx.get('select pg_advisory_xact_lock(?)', SCHEMA_LOCK)
    await tx.run('create table if not exists search_schema (version bigint primary key)')
    const found = await tx.get<{ version: number }>('select version from search_schema')
    if (found?.version !== VERSION) await makeTables(tx, db.dialect)
    // Added later: it needs no other version, which would have everything indexed again.
    await tx.run(PENDING_BY_LIBRARY)
  })
}

/** Drops all that was indexed. */
export async function dropIndex(db: Database): Promise<void> {
  await db.write(async (tx) => {
    if (db.dialect === 'postgres') await tx.get('select pg_advisory_xact_lock(?)', SCHEMA_LOCK)
    await tx.run('create table if not exists search_schema (version bigint primary key)')
    await makeTables(tx, db.dialect)
  })
}

async function findVersion(db: Database): Promise<number | undefined> {
  try {
    return (await db.get<{ version: number }>('select version from search_schema'))?.version
  } catch {
    return undefined
  }
}

async function hasPendingIndex(db: Database): Promise<boolean> {
  const sql =
    db.dialect === 'sqlite'
      ? "select 1 as found from sqlite_master where name = 'search_pending_by_library'"
      : "select 1 as found where to_regclass('search_pending_by_library') is not null"
  return (await db.get(sql)) !== undefined
}

async function makeTables(tx: Transaction, dialect: Dialect): Promise<void> {
  for (const table of TABLES) await tx.run(`drop table if exists ${table}`)
  for (const statement of statements(dialect)) await tx.run(statement)
  await tx.run('delete from search_schema')
  await tx.insert('search_schema', ['version'], [[VERSION]])
}

function statements(dialect: Dialect): string[] {
  const { int, bytes, text } = columnTypes[dialect]
  return [
    // How far a library is followed, and the commit it stood at. claim: the step that writes a large
    // commit in parts, and when it last did.
    `create table search_library (
      library_key ${int} primary key,
      seq ${int} not null,
      commit_id ${bytes} not null,
      next_number ${int} not null,
      claim ${int} not null default 0,
      claimed_at ${int} not null default 0
    )`,
    // A file or folder of a library's newest tree. Its key is that of the library and a number within it; the
    // parent of what is in the root has the number 0. A folder that is renamed or moved is one row.
    `create table search_entry (
      key ${dialect === 'sqlite' ? 'integer' : 'bigint'} primary key,
      parent_key ${int} not null,
      name ${text} not null,
      folded ${text} not null,
      is_dir ${int} not null,
      object_id ${bytes} not null,
      size ${int} not null,
      mtime ${int} not null${dialect === 'postgres' ? ', grams tsvector not null' : ''}
    )`,
    // A name can be longer than an index entry of PostgreSQL may be only in theory: 255 bytes are the most.
    'create index search_entry_by_name on search_entry (parent_key, name)',
    'create index search_folder on search_entry (parent_key) where is_dir = 1',
    // The text of a file, compressed, to show where it matches.
    `create table search_text (
      entry_key ${int} primary key,
      object_id ${bytes} not null,
      body ${bytes} not null
    )`,
    'create index search_text_by_object on search_text (object_id)',
    // Files whose text is to be read at `due_at`, or could not be read, and why.
    `create table search_pending (
      entry_key ${int} primary key,
      object_id ${bytes} not null,
      due_at ${int} not null,
      attempts ${int} not null,
      reason ${text}
    )`,
    'create index search_pending_by_time on search_pending (due_at) where reason is null',
    PENDING_BY_LIBRARY,
    // How many names of a library a character is in: of the commonest that would be most of them to count.
    `create table search_letter (
      letter ${text} not null,
      library_key ${int} not null,
      names ${int} not null,
      primary key (letter, library_key)
    )${dialect === 'sqlite' ? ' without rowid' : ''}`,
    ...(dialect === 'sqlite' ? fts5 : tsvector),
  ]
}

// Tokens are made by us, with a space between them. The longest starts of tokens looked for have an index of their own:
// of names, and of words and of names beside texts, which have a mark before them.
const fts5 = [
  // What a search is narrowed down by, without the names beside it.
  'create index search_entry_facts on search_entry (key, parent_key, is_dir, mtime, size)',
  // How many entries had been written when the parts of the index were last made one.
  'create table search_merge (written integer not null)',
  `create virtual table search_name using fts5
    (tokens, content = '', contentless_delete = 1, tokenize = 'ascii', prefix = '1 2 3')`,
  `create virtual table search_body using fts5
    (tokens, content = '', contentless_delete = 1, tokenize = 'ascii', prefix = '3 4')`,
]

// A text is in several rows where one tsvector could not hold it.
const tsvector = [
  'create index search_entry_by_gram on search_entry using gin (grams)',
  `create table search_body (
    entry_key bigint not null,
    part bigint not null,
    is_whole bigint not null,
    tokens tsvector not null,
    primary key (entry_key, part)
  )`,
  'create index search_body_whole on search_body using gin (tokens) where is_whole = 1',
  'create index search_body_part on search_body using gin (tokens) where is_whole = 0',
]
