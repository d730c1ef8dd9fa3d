import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Database } from '../../../src/platform/database/database.ts'
import { committedTransactions } from '../../../src/platform/database/migrations/0041-committed-transactions.ts'
import type { Migration } from '../../../src/platform/database/migrations/types.ts'
import { type DatabaseSetting, openDatabase } from '../../../src/platform/database/open.ts'
import { ForeignWriter } from '../foreign-writer.ts'

const run = promisify(execFile)

const family: Migration = {
  version: 1,
  name: 'family',
  async up(tx, { int, text, bytes }) {
    const statements = [
      `create table item (id ${int} primary key, code ${int} unique, name ${text}, data ${bytes})`,
      `create table child (id ${int} primary key, item_id ${int} not null references item (id) on delete cascade)`,
      `create table grandchild (id ${int} primary key, child_id ${int} references child (id) on delete cascade)`,
      `create table tag (id ${int} primary key, item_id ${int} references item (id) on delete set null)`,
      `create table coded (id ${int} primary key, item_code ${int} references item (code) on update cascade)`,
      `create table loose (id ${int} primary key, item_code ${int} references item (code) on update set null)`,
      `create table other (id ${int} primary key, name ${text})`,
    ]
    for (const statement of statements) await tx.run(statement)
    await tx.run(`insert into item (id, code, name, data) values (1, 10, 'a', ?)`, Uint8Array.of(1, 2, 3))
    await tx.run(`insert into item (id, code, name) values (2, 20, 'b')`)
    for (const table of ['child', 'tag']) await tx.run(`insert into ${table} (id, item_id) values (1, 1)`)
    await tx.run('insert into grandchild (id, child_id) values (1, 1)')
    for (const table of ['coded', 'loose'])
      await tx.run(`insert into ${table} (id, item_code) values (1, 10)`)
  },
}

/** A database server whose data can be restored to an earlier state. */
export interface Restorable extends AsyncDisposable {
  readonly setting: DatabaseSetting
  start(): Promise<void>
  stop(): Promise<void>
  /** Both while it is stopped. */
  save(): Promise<void>
  restore(): Promise<void>
  /** The server's snapshot of finished transactions. */
  snapshot(): Promise<string>
  /** Commits a statement through a separate connection. */
  commit(sql: string): Promise<void>
}

interface RowCacheSubject {
  readonly makeEmpty: () => Promise<DatabaseSetting>
  /** The reason to skip the suite, if any. */
  readonly skip?: string | undefined
  /** A statement that creates a trigger on `other` which renames item 1 to `fired`, in several steps if needed. */
  readonly triggerStatements: readonly string[]
  /** Statements of this dialect that rename item 1 to `new`, starting with `name = 'a'`. */
  readonly ownRenames: readonly string[]
  /** Closes the connections that validate cached reads, and resolves once they are closed. Omitted if there are none. */
  readonly cutConnections?: (setting: DatabaseSetting) => Promise<void>
  /** Creates an empty database on a server that can be restored to an earlier state. */
  readonly makeRestorable?: () => Promise<Restorable>
  /** A query that finds a row once the server has answered the validation of a cached read begun after `since`. */
  readonly validated?: (since: string) => string
}

const onFatal = (error: Error) => assert.fail(error)

/** Opens a database of the contract, once its reads are cached. */
async function openFamily(setting: DatabaseSetting): Promise<Database> {
  const db = await openDatabase(setting, { migrations: [family, committedTransactions], onFatal })
  // PostgreSQL loads the schema in the background, and prefers statements known to be fast.
  for (const query of Object.values(queries)) while (!(await isHit(db, () => db.get(query)))) await nextTurn()
  return db
}

const queries = {
  item: 'select * from item where id = 1',
  child: 'select * from child where id = 1',
  grandchild: 'select count(*) as n from grandchild',
  tag: 'select item_id from tag',
  coded: 'select item_code from coded',
  loose: 'select item_code from loose',
  other: 'select count(*) as n from other',
} as const

async function isHit(db: Database, read: () => unknown): Promise<boolean> {
  const before = db.cacheStatistics?.hits ?? 0
  await read()
  return (db.cacheStatistics?.hits ?? 0) > before
}

/** Transactions in other databases of the same PostgreSQL count as foreign, so a hit may take more than one attempt. */
async function eventually(attempt: () => Promise<boolean>): Promise<void> {
  for (let attempts = 1; !(await attempt()); attempts++) assert.ok(attempts < 100, 'no hit in 100 attempts')
}

const nameOf = async (db: Database) => (await db.get<{ name: string }>(queries.item))?.name
const rename = (name: string) => `update item set name = '${name}' where id = 1`

/** The contract of the row cache, which each dialect passes. */
export function rowCacheContract(dialect: string, subject: RowCacheSubject): void {
  const { makeEmpty, skip } = subject
  const open = async () => openFamily(await makeEmpty())

  describe(`row cache of ${dialect}`, skip === undefined ? {} : { skip }, () => {
    it('returns rows without a query, and counts hits and misses', async () => {
      await using db = await open()
      const read = () => db.get('select name from item where id = ?', 2)
      await eventually(async () => {
        await db.write((tx) => tx.run('update item set name = name where id = 2'))
        const before = db.cacheStatistics
        const first = await read()
        const again = await read()
        const after = db.cacheStatistics
        assert.ok(before !== undefined && after !== undefined)
        assert.ok(after.tableInvalidations + after.fullInvalidations > 0 && after.bytes > 0)
        return again === first && after.hits === before.hits + 1 && after.misses === before.misses + 1
      })
    })

    it('is invalidated by our own commit at once, and keeps rows of other tables', async () => {
      await using db = await open()
      for (const name of ['x', 'y', 'z']) {
        await db.write((tx) => tx.run(rename(name)), { durable: false })
        assert.equal(await nameOf(db), name)
        assert.equal(await nameOf(db), name)
      }
      await eventually(async () => {
        await db.get(queries.other)
        await db.write((tx) => tx.run(rename('last')), { durable: false })
        return isHit(db, () => db.get(queries.other))
      })
    })

    it('keeps nothing of a transaction that is rolled back', async () => {
      await using db = await open()
      const failing = db.write(async (tx) => {
        await tx.run(rename('never'))
        assert.equal((await tx.get(queries.item))?.name, 'never')
        assert.equal(await nameOf(db), 'a')
        throw new Error('changed my mind')
      })
      await assert.rejects(failing, /changed my mind/)
      assert.equal(await nameOf(db), 'a')
      const hidden = db.write(async (tx) => {
        await tx.run(rename('never'))
        await tx.run('insert into item (id) values (2)').catch(() => {})
      })
      await assert.rejects(hidden)
      assert.equal(await nameOf(db), 'a')
    })

    it('sees a commit of another process', async () => {
      const setting = await makeEmpty()
      await using db = await openFamily(setting)
      assert.equal(await nameOf(db), 'a')
      const fixture = fileURLToPath(new URL('./commit.fixture.ts', import.meta.url))
      await run(process.execPath, [fixture, JSON.stringify(setting), rename('theirs')])
      assert.equal(await nameOf(db), 'theirs')
    })

    it('sees each commit of another connection, in every callback of one turn of the event loop', async () => {
      const setting = await makeEmpty()
      await using db = await openFamily(setting)
      await using foreign = new ForeignWriter(setting)
      const reads: Promise<unknown>[] = []
      const expected: string[] = []
      const { promise, resolve } = Promise.withResolvers<void>()
      // All of them run in one turn.
      for (let round = 0; round < 4; round++) {
        setImmediate(() => reads.push(nameOf(db)))
        setImmediate(() => foreign.commit(rename(`theirs ${round}`)))
        setImmediate(() => {
          reads.push(nameOf(db))
          expected.push(`theirs ${round}`)
          if (round === 3) resolve()
        })
      }
      await promise
      const found = await Promise.all(reads)
      for (const [round, name] of expected.entries()) {
        const seen = String(found[round * 2 + 1])
        assert.ok(seen >= name, `${seen} is older than ${name}`)
      }
    })

    it('sees rows committed before bytes arrived that came while an earlier callback ran', async () => {
      const setting = await makeEmpty()
      await using db = await openFamily(setting)
      await using foreign = new ForeignWriter(setting)
      const sockets: Socket[] = []
      await using server = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1')
      await using stack = new AsyncDisposableStack()
      stack.defer(() => sockets.forEach((socket) => socket.destroy()))
      await once(server, 'listening')
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      for (const count of [1, 2]) {
        foreign.order({ kind: 'connect', port })
        while (sockets.length < count) await nextTurn()
      }
      const [first, second] = sockets
      for (let round = 0; round < 10; round++) {
        const { promise, resolve } = Promise.withResolvers<Promise<unknown>>()
        first?.once('data', () => {
          void nameOf(db)
          foreign.order({ kind: 'commit', sql: rename(`round ${round}`) })
          foreign.order({ kind: 'send', socket: 1, text: 'the rest' })
          foreign.block()
        })
        let text = ''
        const onData = (chunk: Buffer) => {
          text += chunk.toString()
          if (!text.endsWith('the rest')) return
          second?.off('data', onData)
          // Read in this callback.
          resolve(nameOf(db))
        }
        second?.on('data', onData)
        // Both are readable before the event loop polls, so that one turn serves both.
        foreign.order({ kind: 'send', socket: 0, text: 'a request' })
        foreign.order({ kind: 'send', socket: 1, text: 'the beginning, ' })
        foreign.block()
        assert.equal(await promise, `round ${round}`)
      }
    })

    it('sees rows committed before a queued request arrived', async () => {
      const setting = await makeEmpty()
      await using db = await openFamily(setting)
      await using foreign = new ForeignWriter(setting)
      await using clock = await openFamily(setting)
      const timeQuery = `select cast(clock_timestamp() as text) as now`
      for (let round = 0; round < 6; round++) {
        const read = () => nameOf(db)
        // Only a cached read is validated. A miss would query the row itself, and the server would see no snapshot query.
        await eventually(() => isHit(db, read))
        const since = subject.validated && (await clock.get<{ now: string }>(timeQuery))?.now
        const firstEnded = Promise.withResolvers<void>()
        const first = db.inRequest(async () => {
          await read()
          // Like a pipelining connection that starts the next request, or the next waiter of a semaphore.
          firstEnded.resolve()
          await read()
        })
        const later: Promise<unknown>[] = []
        setImmediate(() => {
          // The server has answered the first request; its answer is not read yet.
          if (since !== undefined) foreign.order({ kind: 'await', sql: subject.validated?.(since) ?? '' })
          foreign.commit(rename(`round ${round}`))
          later.push(
            firstEnded.promise.then(() => db.inRequest(read)),
            firstEnded.promise.then(read),
            db.inRequest(async () => firstEnded.promise.then(read)),
          )
        })
        await first
        while (later.length === 0) await nextTurn()
        assert.deepEqual(
          await Promise.all(later),
          Array.from({ length: 3 }, () => `round ${round}`),
        )
      }
    })

    const { cutConnections, makeRestorable } = subject
    if (cutConnections !== undefined) {
      it('is empty after a reconnect', async () => {
        const setting = await makeEmpty()
        await using db = await openFamily(setting)
        const hits = () => isHit(db, () => db.get(queries.other))
        await eventually(hits)
        const before = db.cacheStatistics?.fullInvalidations ?? 0
        await cutConnections(setting)
        assert.equal(await hits(), false)
        assert.ok((db.cacheStatistics?.fullInvalidations ?? 0) > before)
        assert.equal(await nameOf(db), 'a')
        await using foreign = new ForeignWriter(setting)
        foreign.commit(rename('theirs'))
        assert.equal(await nameOf(db), 'theirs')
      })
    }

    if (makeRestorable !== undefined) {
      it('keeps nothing after a failover to an older timeline, where transaction ids are smaller', async () => {
        await using server = await makeRestorable()
        await saveFamily(server)
        await using db = await openFamily(server.setting)
        for (let round = 0; round < 20; round++) await server.commit(rename(`lost ${round}`))
        assert.equal(await nameOf(db), 'lost 19')
        await failOver(server)
        assert.equal(await untilReachable(() => nameOf(db)), 'a')
        await server.commit(rename('restored'))
        assert.equal(await nameOf(db), 'restored')
        await db.write((tx) => tx.run(rename('ours')))
        assert.equal(await nameOf(db), 'ours')
      })

      it('keeps nothing if a transaction id is reused and the snapshot reads the same', async () => {
        await using server = await makeRestorable()
        await saveFamily(server)
        await using db = await openFamily(server.setting)
        await db.write((tx) => tx.run(rename('lost')))
        while (!(await isHit(db, () => nameOf(db)))) await nextTurn()
        const lost = await server.snapshot()
        await failOver(server)
        await server.commit(rename('restored'))
        while ((await server.snapshot()) !== lost)
          await server.commit('insert into other select count(*) from other')
        assert.equal(await untilReachable(() => nameOf(db)), 'restored')
      })
    }

    it('sees cascading deletes and updates through foreign keys, over several levels', async () => {
      await using db = await open()
      const values = () => Promise.all(Object.values(queries).map(async (query) => db.get(query)))
      const [, , , , coded, loose] = await values()
      assert.deepEqual([coded?.item_code, loose?.item_code], [10, 10])
      await db.write((tx) => tx.run('update item set code = 11 where id = 1'))
      const [, , , , codedLater, looseLater] = await values()
      assert.deepEqual([codedLater?.item_code, looseLater?.item_code], [11, null])
      await db.write(async (tx) => {
        await tx.run('delete from coded')
        await tx.run('delete from item where id = 1')
      })
      const [item, child, grandchild, tag] = await values()
      assert.deepEqual([item, child, grandchild?.n, tag?.item_id], [undefined, undefined, 0, null])
    })

    it('sees the effects of triggers, and the rows of views', async () => {
      await using db = await open()
      await db.write((tx) => tx.run('create view named as select name from item where id = 1'))
      await db.write(async (tx) => {
        for (const statement of subject.triggerStatements) await tx.run(statement)
      })
      const view = async () => (await db.get<{ name: string }>('select name from named, tag'))?.name
      for (let warm = 0; warm < 6; warm++) assert.equal(await view(), 'a')
      while (!(await isHit(db, () => db.get(queries.item)))) await nextTurn()
      await db.write((tx) => tx.run(`insert into other (id, name) values (9, 'x')`))
      assert.equal(await nameOf(db), 'fired')
      assert.equal(await view(), 'fired')
      await db.write((tx) => tx.run(rename('last')))
      assert.equal(await view(), 'last')
    })

    it('detects the changes of a statement in every spelling', async () => {
      await using db = await open()
      const renames = [
        `UPDATE Item SET name = 'new' WHERE id = 1`,
        `update "item" set name = 'new' where id = 1`,
        `update item as i set name = 'new' where i.id = 1`,
        `/* first */ update item set name = 'new' where id = 1`,
        `insert into item (id, name) values (1, 'new') on conflict (id) do update set name = excluded.name`,
        `insert into "item"(id, name) values (1, 'new') on conflict (id) do update set name = excluded.name`,
        `with gone as (select 1 as id) update item set name = 'new' where id in (select id from gone)`,
        `update item set name = 'new' where id in (select id from child) returning id`,
        ...subject.ownRenames,
      ]
      await db.write(async (tx) => {
        for (const table of ['coded', 'loose']) await tx.run(`delete from ${table}`)
      })
      for (const sql of renames) {
        await db.write(async (tx) => {
          await tx.run(rename('a'))
          await tx.run('insert into child (id, item_id) values (1, 1) on conflict do nothing')
        })
        for (const query of Object.values(queries)) await db.get(query)
        assert.equal(await nameOf(db), 'a')
        await db.write((tx) => tx.get(sql))
        assert.equal(await nameOf(db), 'new', sql)
        for (const query of Object.values(queries)) {
          const cached = await db.get(query)
          assert.deepEqual(cached, await db.write((tx) => tx.get(query)), `${query} after ${sql}`)
        }
      }
    })

    it('does not cache queries that depend on more than rows', async () => {
      await using db = await open()
      const sql = 'select cast(random() as text) as n from item where id = 1'
      const seen = new Set<unknown>()
      for (let round = 0; round < 8; round++) seen.add((await db.get(sql))?.n)
      assert.equal(seen.size, 8)
    })

    it('freezes rows in tests, and detects changed bytes', async () => {
      await using db = await open()
      const detected = async () => {
        const row = await db.get<{ name: string; data: Uint8Array }>(queries.item)
        assert.ok(row !== undefined && process.env['CARREL_TEST_FREEZE_ROWS'] === '1')
        assert.throws(() => (row.name = 'mine'), TypeError)
        row.data[0] = 7
        return Promise.resolve(db.get(queries.item)).then(
          () => false,
          (error: unknown) => /bytes of a cached row were changed/.test(String(error)),
        )
      }
      // Transactions of other tests in the same PostgreSQL can invalidate the row between the two reads.
      let attempts = 1
      while (!(await detected())) assert.ok(attempts++ < 20, 'changed bytes were not detected')
    })
  })
}

async function saveFamily(server: Restorable): Promise<void> {
  const db = await openFamily(server.setting)
  await db[Symbol.asyncDispose]()
  await server.stop()
  await server.save()
  await server.start()
}

async function failOver(server: Restorable): Promise<void> {
  await server.stop()
  await server.restore()
  await server.start()
}

/** Closed connections of the pool fail once each. */
async function untilReachable<T>(read: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read()
    } catch (error) {
      if (attempt === 20) throw error
    }
  }
}
