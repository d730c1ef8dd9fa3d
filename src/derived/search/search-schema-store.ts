import { columnTypes, type Database, type Dialect, type Transaction } from '../../platform/database/index.ts'
import { gramIndexStatements, olderGramsStatements } from './grams-store.ts'

// Version of the index. Changing it rebuilds the index (I3).
const VERSION = 3

// Advisory lock, so that only one of several starting nodes creates the tables.
const SCHEMA_LOCK = 0x5ea4c4

const PENDING_BY_LIBRARY = `create index if not exists search_pending_by_library
  on search_pending (entry_key, due_at) where reason is null`

/** Of earlier programs: the number of names that contain a character. */
const LETTERS = 'search_letter'

const LONG = { isLong: true }

const TABLES = [
  'search_library',
  'search_entry',
  'search_text',
  'search_pending',
  'search_name',
  'search_body',
  'search_merge',
]

/** Creates the tables of the index if they are missing or of another version. */
export async function prepareSchema(db: Database): Promise<void> {
  if ((await findVersion(db)) === VERSION && (await isCurrent(db))) return
  await db.write(async (tx) => {
    if (db.dialect === 'postgres') await tx.get('select pg_advisory_xact_lock(?)', SCHEMA_LOCK)
    await tx.run('create table if not exists search_schema (version bigint primary key)')
    const found = await tx.get<{ version: number }>('select version from search_schema')
    if (found?.version !== VERSION) await makeTables(tx, db.dialect)
    // Added without a new version, which would rebuild the whole index.
    await tx.run(PENDING_BY_LIBRARY)
    if (db.dialect === 'postgres') await prepareGrams(tx)
    // On PostgreSQL, where nodes of earlier versions may need it, this is a step of the schema.
    if (db.dialect === 'sqlite') await tx.run(`drop table if exists ${LETTERS}`)
  }, LONG)
}

/** The index of names is built from what rows of earlier versions have, too: about two minutes for a million names. */
async function prepareGrams(tx: Transaction): Promise<void> {
  for (const statement of gramIndexStatements()) await tx.run(statement)
  const older = await tx.get(
    "select 1 as found from pg_attribute where attrelid = 'search_entry'::regclass and attname = 'grams' and not attisdropped",
  )
  if (older === undefined) return
  for (const statement of olderGramsStatements) await tx.run(statement)
}

/** Drops the index. */
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

/** Whether what was added to or removed from this version is so here. */
async function isCurrent(db: Database): Promise<boolean> {
  const sql =
    db.dialect === 'sqlite'
      ? `select 1 as found from sqlite_master where name = 'search_pending_by_library'
         and not exists (select 1 from sqlite_master where name = '${LETTERS}')`
      : `select 1 as found where to_regclass('search_pending_by_library') is not null
         and to_regclass('search_entry_by_part') is not null`
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
    // The indexed position of a library, and its commit. claim: the lease of the step that writes a large
    // commit in several transactions, and when it was renewed.
    `create table search_library (
      library_key ${int} primary key,
      seq ${int} not null,
      commit_id ${bytes} not null,
      next_number ${int} not null,
      claim ${int} not null default 0,
      claimed_at ${int} not null default 0
    )`,
    // A file or folder of a library's current tree. Its key combines the library's key and a number within it; the
    // parent of the root entries has the number 0. Renaming or moving a folder changes one row.
    `create table search_entry (
      key ${dialect === 'sqlite' ? 'integer' : 'bigint'} primary key,
      parent_key ${int} not null,
      name ${text} not null,
      folded ${text} not null,
      is_dir ${int} not null,
      object_id ${bytes} not null,
      size ${int} not null,
      mtime ${int} not null
    )`,
    // Names have at most 255 bytes, so they fit in a PostgreSQL index entry.
    'create index search_entry_by_name on search_entry (parent_key, name)',
    'create index search_folder on search_entry (parent_key) where is_dir = 1',
    // The compressed text of a file, for excerpts.
    `create table search_text (
      entry_key ${int} primary key,
      object_id ${bytes} not null,
      body ${bytes} not null
    )`,
    'create index search_text_by_object on search_text (object_id)',
    // Files queued for extraction at `due_at`, and those that failed, with the reason.
    `create table search_pending (
      entry_key ${int} primary key,
      object_id ${bytes} not null,
      due_at ${int} not null,
      attempts ${int} not null,
      reason ${text}
    )`,
    'create index search_pending_by_time on search_pending (due_at) where reason is null',
    PENDING_BY_LIBRARY,
    ...(dialect === 'sqlite' ? fts5 : tsvector),
  ]
}

// We create the tokens, separated by spaces. Prefix indexes exist for the longest prefixes that are queried:
// of names, and of words and prefixed names in the text index.
const fts5 = [
  // The columns that searches filter by.
  'create index search_entry_facts on search_entry (key, parent_key, is_dir, mtime, size)',
  // The number of written entries at the last merge of all segments.
  'create table search_merge (written integer not null)',
  `create virtual table search_name using fts5
    (tokens, content = '', contentless_delete = 1, tokenize = 'ascii', prefix = '1 2 3')`,
  `create virtual table search_body using fts5
    (tokens, content = '', contentless_delete = 1, tokenize = 'ascii', prefix = '3 4')`,
]

// A text occupies several rows if it does not fit in one tsvector.
const tsvector = [
  ...gramIndexStatements(),
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
