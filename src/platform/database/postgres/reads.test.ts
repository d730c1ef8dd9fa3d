import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { findPostgres } from '../../../../test/support/postgres.ts'
import type { Database } from '../database.ts'
import type { Migration } from '../migrations/types.ts'
import { openDatabase } from '../open.ts'

const server = await findPostgres()
const skip = typeof server === 'string' ? server : undefined

after(async () => {
  if (typeof server !== 'string') await server[Symbol.asyncDispose]()
})

const scratch: Migration = {
  version: 1,
  name: 'scratch',
  async up(tx, { int, bytes, text }) {
    await tx.run(`create table item (id ${int} primary key, name ${text}, data ${bytes})`)
    await tx.run(
      `create table child (id ${int} primary key, item_id ${int} references item on delete cascade)`,
    )
    await tx.run(`create table other (id ${int} primary key)`)
    await tx.insert('item', ['id', 'name'], [[1, 'a']])
    await tx.insert('child', ['id', 'item_id'], [[1, 1]])
  },
}

function createDatabase(): Promise<string> {
  if (typeof server === 'string') throw new Error(server)
  return server.createDatabase()
}

async function openScratch(url: string): Promise<Database> {
  const onFatal = (error: Error) => assert.fail(error)
  const db = await openDatabase({ kind: 'postgres', url }, { migrations: [scratch], onFatal })
  // The schema is loaded in the background. Until then no read is cached.
  while ((await item(db)) !== (await item(db)));
  return db
}

const item = async (db: Database, id = 1) => db.get('select * from item where id = ?', id)
const rename = (db: Database, name: string) =>
  db.write((tx) => tx.run('update item set name = ? where id = 1', name))

const open = openScratch
describe('reads of PostgreSQL', skip ? { skip } : {}, () => {
  it('see a commit of another process at once', async () => {
    const url = await createDatabase()
    await using here = await open(url)
    await using there = await open(url)
    for (let round = 0; round < 30; round++) {
      await rename(there, `there ${round}`)
      assert.equal((await item(here))?.name, `there ${round}`)
      await rename(here, `here ${round}`)
      const seen = await Promise.all([item(there), item(here), item(there)])
      assert.deepEqual(
        seen.map((row) => row?.name),
        Array.from({ length: 3 }, () => `here ${round}`),
      )
    }
  })

  it('never miss an acknowledged write, with many concurrent readers and writers', async () => {
    const url = await createDatabase()
    await using here = await open(url)
    await using there = await open(url)
    const nodes = [here, there]
    let acknowledged = 0
    const writing = { now: 4 }
    const sql = 'update item set id = id + 1 where id > 1 returning id as n'
    const write = async (db: Database) => {
      for (let round = 0; round < 40; round++) {
        const row = await db.write((tx) => tx.get<{ n: number }>(sql))
        acknowledged = Math.max(acknowledged, row?.n ?? 0)
      }
      writing.now -= 1
    }
    const read = async (db: Database) => {
      while (writing.now > 0) {
        // Like a new request: one in progress sees the state after its arrival.
        await nextTurn()
        const before = acknowledged
        const row = await db.get<{ n: number | null }>('select max(id) as n from item')
        assert.ok((row?.n ?? 0) >= before, `${row?.n} after ${before}`)
      }
    }
    await here.write((tx) => tx.run('insert into item (id) values (2)'))
    await Promise.all([...nodes, ...nodes].flatMap((db) => [write(db), read(db), read(db)]))
    assert.equal(acknowledged, 162)
  })

  it('see a commit of another process while this one has an open transaction', async () => {
    const url = await createDatabase()
    await using here = await open(url)
    await using there = await open(url)
    await here.write(async (tx) => {
      await tx.run('insert into other (id) values (1)')
      await rename(there, 'meanwhile')
      assert.equal((await item(here))?.name, 'meanwhile')
      await tx.run('insert into other (id) values (2)')
    })
    assert.deepEqual(await there.get('select count(*) as n from other'), { n: 2 })
  })

  it('see rows deleted by a cascade', async () => {
    await using db = await open(await createDatabase())
    const child = () => db.get('select * from child where id = 1')
    assert.ok(await child())
    await db.write((tx) => tx.run('delete from item where id = 1'))
    assert.equal(await child(), undefined)
    assert.equal(await item(db), undefined)
  })

  it('see nothing of a rollback, and every one of many concurrent commits', async () => {
    await using db = await open(await createDatabase())
    const failing = db.write(async (tx) => {
      await tx.run(`update item set name = 'never' where id = 1`)
      await item(db)
      throw new Error('changed my mind')
    })
    await assert.rejects(failing, /changed my mind/)
    assert.equal((await item(db))?.name, 'a')
    await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        await db.write((tx) => tx.insert('item', ['id', 'name'], [[index + 10, `${index}`]]))
        assert.equal((await item(db, index + 10))?.name, `${index}`)
      }),
    )
  })

  it('fail separately', async () => {
    await using db = await open(await createDatabase())
    const bad = () => db.get('select 1 / (id - ?) as n from item', 1)
    for (let round = 0; round < 6; round++) {
      const [before, failed, behind] = await Promise.allSettled([
        db.get('select id from item where id = ? and 0 < ?', 1, round + 1),
        bad(),
        db.get('select name from item where id = ? and 0 < ?', 1, round + 1),
      ])
      assert.deepEqual(before, { status: 'fulfilled', value: { id: 1 } })
      assert.equal(failed.status, 'rejected')
      assert.deepEqual(behind, { status: 'fulfilled', value: { name: 'a' } })
    }
  })

  it('and writes with too many parameters for the protocol are rejected, and nothing hangs', async () => {
    await using db = await open(await createDatabase())
    const ids = Array.from({ length: 70_000 }, (_, id) => id)
    const sql = `select id from item where id in (${ids.map(() => '?').join(', ')})`
    for (let round = 0; round < 5; round++) {
      await assert.rejects(async () => db.all(sql, ...ids), { name: 'RangeError' })
      await assert.rejects(
        db.write((tx) => tx.all(sql, ...ids)),
        { name: 'RangeError' },
      )
    }
    assert.equal((await item(db))?.name, 'a')
  })

  it('are not cached if they depend on more than tables', async () => {
    await using db = await open(await createDatabase())
    const time = () => db.get<{ at: string }>('select clock_timestamp() as at from item')
    assert.notEqual((await time())?.at, (await time())?.at)
  })

  it('continue after the connection that detects changes was lost', async () => {
    const url = await createDatabase()
    await using db = await open(url)
    await using there = await open(url)
    await there.all(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and query like '%snapshot%'`,
    )
    await rename(there, 'b')
    while ((await item(db).catch(() => undefined))?.name !== 'b');
    while ((await item(db)) !== (await item(db)));
  })

  it('return many rows unchanged', async () => {
    await using db = await open(await createDatabase())
    const rows = Array.from({ length: 50 }, (_, index) => [
      index % 7 === 0 ? -index - 1 : Number.MAX_SAFE_INTEGER - index,
      [null, '', 'it\'s {"a",\\b}', 'Ünï 文 🗂️'][index % 4] ?? null,
      index % 3 === 0 ? null : Uint8Array.from({ length: index }, (_, at) => at * 7),
    ])
    await db.write((tx) => tx.insert('item', ['id', 'name', 'data'], rows))
    assert.equal(await db.write((tx) => tx.insertNew('item', ['id', 'name', 'data'], rows)), 0)
    for (const [id, name, data] of rows) assert.deepEqual(await item(db, id as number), { id, name, data })
  })
})
