import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import { findPostgres } from '../../../../test/support/postgres.ts'
import type { DirId } from '../../../base/objects/ids.ts'
import { insertEntries, prepareEntry } from '../../../derived/search/entry-store.ts'
import { entryKey } from '../../../derived/search/keys.ts'
import { prepareSchema } from '../../../derived/search/search-schema-store.ts'
import { openDatabase } from '../open.ts'
import { gramsInTheIndex } from './0068-grams-in-the-index.ts'
import { migrations } from './index.ts'
import { columnTypes } from './types.ts'

const postgres = await findPostgres()
const skip = typeof postgres === 'string' ? postgres : false
after(async () => typeof postgres === 'object' && postgres[Symbol.asyncDispose]())

// As programs before this step created it.
const OLDER = [
  'create table search_schema (version bigint primary key)',
  'insert into search_schema (version) values (3)',
  `create table search_entry (key bigint primary key, parent_key bigint not null, name text collate "C" not null, folded text collate "C" not null,
    is_dir bigint not null, object_id bytea not null, size bigint not null, mtime bigint not null, grams tsvector not null)`,
  'create table search_pending (entry_key bigint primary key, due_at bigint not null, reason text)',
  'create index search_entry_by_gram on search_entry using gin (grams)',
  `insert into search_entry values (${entryKey(1, 1)}, 0, 'old.txt', 'old.txt', 0, '', 1, 1, '')`,
]
/** What programs before this step ask for: names of library 1 that contain "plan", as 4-grams in a row. */
const OLDER_QUERY = `select name from search_entry where grams @@ '(''\ue0f21'' & (''plan'' <-> ''lan\ue02e''))'::tsquery`

it('lets older nodes find what newer ones write, until the step', { skip }, async () => {
  assert.ok(typeof postgres === 'object')
  const setting = { kind: 'postgres', url: await postgres.createDatabase() } as const
  await using db = await openDatabase(setting, {
    migrations: migrations.filter(({ version }) => version < 68),
    onFatal: (error) => assert.fail(error),
  })
  const hasColumn = "select 1 as found from pg_attribute where attname = 'grams' and not attisdropped"
  for (const statement of OLDER) await db.write((tx) => tx.run(statement))
  await prepareSchema(db)
  const entry = { parentKey: 0, isDir: false, objectId: 'a'.repeat(40) as DirId, size: 1, mtime: 1 }
  const names = ['A plan.txt', 'lan.p plan', 'explanation']
  const rows = names.map((name, index) => prepareEntry({ ...entry, key: entryKey(1, 2 + index), name }))
  await db.write((tx) => insertEntries(tx, 'postgres', rows))
  assert.deepEqual(await db.all(OLDER_QUERY), [{ name: 'A plan.txt' }])
  await db.write((tx) =>
    tx.run("update search_entry set name = 'Plan.b', folded = 'plan.b' where name = 'explanation'"),
  )
  assert.equal((await db.all(OLDER_QUERY)).length, 2)
  await db.write((tx) => gramsInTheIndex.up(tx, columnTypes.postgres))
  assert.equal(await db.get(hasColumn), undefined)
  await prepareSchema(db)
  const found = await db.all(
    `select name from search_entry where array_to_tsvector(search_grams(folded, key)) @@ '''\ue0f0old'''::tsquery`,
  )
  assert.deepEqual(found, [{ name: 'old.txt' }])
  assert.equal(await db.get("select 1 as found from pg_proc where proname = 'search_entry_grams'"), undefined)
})
