import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Client } from 'pg'
import { type Restorable, rowCacheContract } from '../../../test/support/database/row-cache.contract.ts'
import { findPostgres } from '../../../test/support/postgres.ts'
import { RestorablePostgres } from '../../../test/support/restorable-postgres.ts'
import { type CachedQuery, RowCache } from './row-cache.ts'
import { rowKey } from './row-key.ts'

const server = await findPostgres()
let folder = ''
let files = 0

before(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-row-cache-'))
})
after(async () => {
  await rm(folder, { recursive: true, force: true })
  if (typeof server !== 'string') await server[Symbol.asyncDispose]()
})

rowCacheContract('SQLite', {
  makeEmpty: async () => ({ kind: 'sqlite', file: path.join(folder, `${++files}.db`) }),
  triggerStatements: [
    `create trigger fires after insert on other begin update item set name = 'fired' where id = 1; end`,
  ],
  ownRenames: [
    `insert or replace into item (id, name) values (1, 'new')`,
    `replace into item (id, name) values (1, 'new')`,
    `update or replace item set name = 'new' where id = 1`,
    `update [item] set name = 'new' where id = 1`,
    "update `item` set name = 'new' where id = 1",
    `update main.item set name = 'new' where id = 1`,
  ],
})

rowCacheContract('PostgreSQL', {
  async makeEmpty() {
    if (typeof server === 'string') throw new Error(server)
    return { kind: 'postgres', url: await server.createDatabase() }
  },
  skip: typeof server === 'string' ? server : undefined,
  triggerStatements: [
    `create function fire() returns trigger language plpgsql as
      $$ begin update item set name = 'fired' where id = 1; return null; end $$`,
    'create trigger fires after insert on other for each row execute function fire()',
  ],
  ownRenames: [
    `update only item set name = 'new' where id = 1`,
    `update public.item set name = 'new' where id = 1`,
    `update U&"\\0069tem" set name = 'new' where id = 1`,
    `with renamed as (update item set name = 'new' where id = 1 returning id) select id from renamed`,
    `with renamed as (update item set name = 'new' where id = 1 returning id) insert into other select id + 99 from renamed`,
    `merge into item using (select 1 as id) as s on item.id = s.id when matched then update set name = 'new'`,
  ],
  async cutConnections(setting) {
    if (setting.kind !== 'postgres') return
    await withClient(setting.url, async (client) => {
      const theirs = `from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
        and query like '%pg_current_snapshot%'`
      await client.query(`select pg_terminate_backend(pid, 10000) ${theirs}`)
      assert.deepEqual((await client.query(`select pid ${theirs}`)).rows, [])
    })
  },
  makeRestorable,
  validated: (
    since,
  ) => `select 1 as found from pg_stat_activity where datname = current_database() and state = 'idle'
    and query like '%pg_current_snapshot%' and query not like '%pg_stat_activity%' and state_change > '${since}'`,
})

async function makeRestorable(): Promise<Restorable> {
  const postgres = await RestorablePostgres.create()
  const { url } = postgres
  return {
    setting: { kind: 'postgres', url },
    start: () => postgres.start(),
    stop: () => postgres.stop(),
    save: () => postgres.save(),
    restore: () => postgres.restore(),
    snapshot: () =>
      withClient(url, async (client) => {
        const { rows } = await client.query<{ text: string }>('select pg_current_snapshot()::text as text')
        return rows[0]?.text ?? ''
      }),
    commit: (sql) =>
      withClient(url, async (client) => {
        await client.query(sql)
      }),
    [Symbol.asyncDispose]: () => postgres[Symbol.asyncDispose](),
  }
}

async function withClient<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}

describe('row cache', () => {
  const rows = (n: number) => [{ id: n, name: 'x'.repeat(100) }]
  const query: CachedQuery = { sql: 'select * from item where id = ?', tables: ['item'] }

  it('does not store rows that were read before an invalidation and arrive after it', () => {
    const cache = new RowCache()
    const readAt = cache.now
    cache.invalidate(['item'])
    cache.put(query, 1, rows(1), readAt)
    assert.equal(cache.get(query, 1), undefined)
    cache.put(query, 1, rows(1), cache.now)
    cache.invalidate(['other'])
    assert.deepEqual(cache.get(query, 1), rows(1))
    cache.invalidateAll()
    assert.equal(cache.get(query, 1), undefined)
    assert.equal(cache.statistics.bytes, 0)
  })

  it('evicts the least recently used entries when it is full', () => {
    const cache = new RowCache({ maxBytes: 20_000 })
    for (let id = 0; id < 1000; id++) {
      cache.put(query, id, rows(id), cache.now)
      assert.ok(cache.get(query, 0) !== undefined, `used all the time, evicted at ${id}`)
      assert.ok(cache.statistics.bytes <= 20_000)
    }
    const { hits, misses, evictions } = cache.statistics
    assert.deepEqual([hits, misses], [1000, 0])
    assert.ok(evictions > 900 && evictions < 1000, `${evictions}`)
    assert.equal(cache.get(query, 1), undefined)
  })

  it('has a distinct key for every combination of parameters', () => {
    const parameters = [
      [1],
      ['1'],
      [null],
      ['null'],
      [Buffer.from('1')],
      ['\0s1:1'],
      ['1', '1'],
      ['11', ''],
      ['1', 1],
      ['1\0s1:1'],
      [''],
    ]
    assert.equal(new Set(parameters.map((values) => rowKey(values))).size, parameters.length)
  })

  it('does not store large results', () => {
    const cache = new RowCache()
    cache.put(query, 1, [{ data: new Uint8Array(9000) }], cache.now)
    assert.equal(cache.has(query, 1), false)
  })
})
