import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import { findPostgres } from '../../../test/support/postgres.ts'
import type { DirId } from '../../base/objects/ids.ts'
import { openDatabase } from '../../platform/database/open.ts'
import { insertEntries, prepareEntry } from './entry-store.ts'
import { entryKey } from './keys.ts'
import type { MatchRequest } from './match-request.ts'
import { parseQuery } from './query.ts'
import { prepareSchema } from './search-schema-store.ts'
import { planSearch } from './subquery-store.ts'

const postgres = await findPostgres()
const skip = typeof postgres === 'string' ? postgres : false
after(async () => typeof postgres === 'object' && postgres[Symbol.asyncDispose]())

const ENTRIES = 500
const MATCHES = 50

it('makes the grams of matches only, when PostgreSQL reads the entries instead of the index', {
  skip,
}, async () => {
  assert.ok(typeof postgres === 'object')
  const setting = { kind: 'postgres', url: await postgres.createWithSchema() } as const
  await using db = await openDatabase(setting, { onFatal: (error) => assert.fail(error) })
  await prepareSchema(db)
  const entry = { parentKey: 0, isDir: false, objectId: 'a'.repeat(40) as DirId, size: 1, mtime: 1 }
  const rows = Array.from({ length: ENTRIES }, (_, n) =>
    prepareEntry({ ...entry, key: entryKey(1, n + 1), name: `${n}.${n < MATCHES ? 'jpg' : 'bin'}` }),
  )
  const request: MatchRequest = {
    query: parseQuery('jpg'),
    scope: { libraries: [1], partly: [], folders: [], files: [] },
    filters: {},
    where: 'part',
    order: 'listing',
    offset: 0,
    limit: 10,
    slices: async () => [],
  }
  const [subquery] = planSearch('postgres', request).subqueries
  assert.ok(subquery)
  const { text, values } = subquery({ newest: 1001 })
  const calls = await db.write(async (tx) => {
    await insertEntries(tx, 'postgres', rows)
    await tx.run("set local track_functions = 'pl'")
    await tx.run('set local enable_bitmapscan = off')
    assert.equal((await tx.all(text, ...values)).length, MATCHES)
    const row = await tx.get<{ calls: number }>(
      "select pg_stat_get_xact_function_calls('search_grams'::regproc) as calls",
    )
    return row?.calls
  })
  assert.equal(calls, MATCHES)
})
