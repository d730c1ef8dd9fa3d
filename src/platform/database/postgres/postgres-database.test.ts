import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { databaseContract } from '../../../../test/support/database/database.contract.ts'
import { findPostgres } from '../../../../test/support/postgres.ts'
import type { Transaction } from '../database.ts'
import { silentLogger } from '../logger.ts'
import { openDatabase } from '../open.ts'
import { openPostgres } from './postgres-database.ts'

const server = await findPostgres()
const skip = typeof server === 'string' ? server : undefined

after(async () => {
  if (typeof server !== 'string') await server[Symbol.asyncDispose]()
})

function createDatabase(): Promise<string> {
  if (typeof server === 'string') throw new Error(server)
  return server.createDatabase()
}

async function open(url?: string) {
  const db = await openPostgres({
    url: url ?? (await createDatabase()),
    onFatal: (error) => assert.fail(error),
  })
  await db.write((tx) => tx.run('create table if not exists note (id bigint primary key, body text)'))
  return db
}

databaseContract('PostgreSQL', async () => ({ kind: 'postgres', url: await createDatabase() }), { skip })

describe('PostgreSQL', skip ? { skip } : {}, () => {
  it('retries a transaction that the server aborted to break a deadlock', async () => {
    await using db = await open()
    await db.write((tx) =>
      tx.insert(
        'note',
        ['id', 'body'],
        [
          [1, ''],
          [2, ''],
        ],
      ),
    )
    const firstLocks = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let runs = 0
    const both = (first: number, second: number, me: number) =>
      db.write(async (tx) => {
        runs++
        await tx.run('update note set body = body || ? where id = ?', `${me}`, first)
        firstLocks[me]?.resolve()
        await firstLocks[1 - me]?.promise
        await tx.run('update note set body = body || ? where id = ?', `${me}`, second)
      })
    await Promise.all([both(1, 2, 0), both(2, 1, 1)])
    // Two at first; the aborted one can collide again before the other has finished.
    assert.ok(runs > 2, `the work ran ${runs} times`)
    const bodies = await db.all<{ body: string }>('select body from note')
    assert.deepEqual(
      bodies.map(({ body }) => body.split('').sort().join('')),
      ['01', '01'],
    )
  })

  it('says why its transaction failed, whichever statement is asked', async () => {
    await using db = await open()
    const work = db.write(async (tx) => {
      await tx.get(`select set_config('statement_timeout', '50ms', true)`)
      await tx.get('select pg_sleep(5)').catch(() => {})
      // The server says only that the transaction is aborted.
      await tx.get('select 1 as one')
    })
    await assert.rejects(work, { name: 'DatabaseError', reason: 'busy' })
  })

  it('prepares statements again whose columns another node has changed', async () => {
    const url = await createDatabase()
    await using db = await open(url)
    await using other = await open(url)
    await db.write((tx) => tx.insert('note', ['id', 'body'], [[1, 'first']]))
    const find = (id: number) => db.all('select * from note where id = ?', id)
    const change = (body: string) =>
      db.write(async (tx) => {
        const before = await tx.get('select * from note where id = 1')
        return [before, await tx.get('update note set body = ? where id = 1 returning *', body)]
      })
    // They are prepared after some uses, on the connection of fast reads and on others.
    for (let id = 100; id < 110; id++) await Promise.all([find(id), find(id + 100), change('second')])
    await other.write((tx) => tx.run('alter table note add column size bigint'))
    assert.deepEqual(await find(1), [{ id: 1, body: 'second', size: null }])
    assert.deepEqual(await change('third'), [
      { id: 1, body: 'second', size: null },
      { id: 1, body: 'third', size: null },
    ])
    for (let id = 300; id < 310; id++) await Promise.all([find(id), find(id + 100), change('fourth')])
    await other.write((tx) => tx.run('alter table note drop column size'))
    assert.deepEqual(await change('fifth'), [
      { id: 1, body: 'fourth' },
      { id: 1, body: 'fifth' },
    ])
    assert.deepEqual(await find(1), [{ id: 1, body: 'fifth' }])
  })

  it('lets others pass while a step of the schema waits for a table', async () => {
    const url = await createDatabase()
    await using db = await open(url)
    const [locked, waits, ended] = [0, 0, 0].map(() => Promise.withResolvers<void>())
    const reading = db.write(async (tx) => {
      await tx.all('select id from note')
      locked?.resolve()
      await ended?.promise
    })
    await locked?.promise
    const addColumn = {
      version: 1,
      name: 'add a column',
      up: async (tx: Transaction) => void (await tx.run('alter table note add column size bigint')),
    }
    const opening = openDatabase(
      { kind: 'postgres', url },
      {
        migrations: [addColumn],
        onFatal: (error) => assert.fail(error),
        logger: { ...silentLogger, warn: () => waits?.resolve() },
      },
    )
    await waits?.promise
    assert.deepEqual(await db.write((tx) => tx.all('select id from note')), [])
    ended?.resolve()
    await reading
    await using migrated = await opening
    assert.deepEqual(await migrated.all('select size from note'), [])
  })

  it('gives up on a transaction that always fails with a retryable error', async () => {
    await using db = await open()
    let runs = 0
    const doomed = db.write(async (tx) => {
      runs++
      await tx.run(`do $$ begin raise exception 'again' using errcode = '40001'; end $$`)
    })
    await assert.rejects(doomed, /again/)
    assert.equal(runs, 10)
  })

  it('waits for the disk only on request', async () => {
    await using db = await open()
    const ask = (durable: boolean) =>
      db.write((tx) => tx.get(`select current_setting('synchronous_commit') as mode`), { durable })
    assert.deepEqual(await ask(false), { mode: 'off' })
    assert.deepEqual(await ask(true), { mode: 'on' })
  })

  it('waits for the disk even if the server is configured not to', async () => {
    const url = await createDatabase()
    {
      await using db = await open(url)
      const name = new URL(url).pathname.slice(1)
      await db.write((tx) => tx.run(`alter database ${name} set synchronous_commit = off`))
    }
    await using db = await open(url)
    const mode = await db.write((tx) => tx.get(`select current_setting('synchronous_commit') as mode`))
    assert.deepEqual(mode, { mode: 'on' })
  })

  it('rejects a number that would lose digits', async () => {
    await using db = await open()
    await assert.rejects(
      async () => db.get('select 9007199254740993::bigint as n'),
      /9007199254740993 does not fit/,
    )
    await db.ping()
  })

  it('survives the loss of idle connections', async () => {
    const url = await createDatabase()
    await using db = await open(url)
    await using other = await open(url)
    const pid = await db.get<{ pid: number }>('select pg_backend_pid() as pid')
    await other.get('select pg_terminate_backend(?)', pid?.pid ?? 0)
    while ((await other.all('select 1 from pg_stat_activity where pid = ?', pid?.pid ?? 0)).length > 0);
    await db.ping().catch(() => {})
    await db.ping()
  })

  it('runs a transaction again whose connection was lost', async () => {
    const url = await createDatabase()
    await using db = await open(url)
    await using other = await open(url)
    let runs = 0
    await db.write(async (tx) => {
      runs += 1
      const own = await tx.get<{ pid: number }>('select pg_backend_pid() as pid')
      await tx.run(`insert into note values (1, ?)`, `run ${runs}`)
      if (runs === 1) await other.get('select pg_terminate_backend(?, 5000)', own?.pid ?? 0)
      await tx.run(`insert into note values (2, ?)`, `run ${runs}`)
    })
    assert.deepEqual(await db.all('select body from note order by id'), [
      { body: 'run 2' },
      { body: 'run 2' },
    ])
  })

  it('reads bytes in the escape format', async () => {
    const url = await createDatabase()
    const name = new URL(url).pathname.slice(1)
    {
      await using db = await open(url)
      await db.write((tx) => tx.run(`alter database ${name} set bytea_output = escape`))
    }
    await using db = await open(url)
    const all = Uint8Array.from({ length: 256 }, (_, byte) => byte)
    assert.deepEqual(await db.get('select ?::bytea as bytes', Buffer.from(all)), { bytes: all })
  })

  it('gives up on a lock that another transaction holds for too long', async () => {
    const url = await createDatabase()
    await using db = await open(url)
    await using other = await open(url)
    await db.write((tx) => tx.run(`insert into note values (1, '')`))
    const { promise: over, resolve: end } = Promise.withResolvers<void>()
    const { promise: locked, resolve: lock } = Promise.withResolvers<void>()
    const holder = other.write(async (tx) => {
      await tx.run(`update note set body = 'held'`)
      lock()
      await over
    })
    await locked
    const blocked = db.inRequest(() => db.write((tx) => tx.run(`update note set body = 'blocked'`)))
    await assert.rejects(blocked, { name: 'DatabaseError', reason: 'busy' })
    end()
    await holder
    assert.deepEqual(await db.get('select body from note'), { body: 'held' })
  })

  it('runs the work of a mutex in order, in one process at a time', async () => {
    const url = await createDatabase()
    await using db = await open(url)
    await using other = await open(url)
    const events: string[] = []
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const { promise: entered, resolve: enter } = Promise.withResolvers<void>()
    const first = db.withMutex(7, async () => {
      enter()
      await released
      events.push('first')
    })
    await entered
    const waiting = async (count: number) => {
      const sql = `select count(*) as n from pg_locks where locktype = 'advisory' and not granted`
      while ((await db.get<{ n: number }>(sql))?.n !== count);
    }
    const second = other.withMutex(7, async () => void events.push('second'))
    await waiting(1)
    const third = db.withMutex(7, async () => void events.push('third'))
    await waiting(2)
    await other.withMutex(8, async () => void events.push('other key'))
    release()
    await Promise.all([first, second, third])
    assert.deepEqual(events, ['other key', 'first', 'second', 'third'])
  })

  it('asks for a free mutex when it opens a transaction, and later', async () => {
    const url = await createDatabase()
    await using db = await open(url)
    await using other = await open(url)
    const ask = (durable: boolean) =>
      db.write(
        async (tx) => {
          const asked = [tx.mutexIsFree(7), tx.mutexIsFree(8)]
          return [...(await Promise.all(asked)), await tx.mutexIsFree(7)]
        },
        { durable },
      )
    assert.deepEqual(await ask(true), [true, true, true])
    await other.withMutex(7, async () => {
      assert.deepEqual(await ask(true), [false, true, false])
      assert.deepEqual(await ask(false), [false, true, false])
      assert.equal(await db.write((tx) => tx.mutexIsFree(7)), false)
    })
    // It keeps others out until it has ended.
    let isOver = false
    const { promise: asked, resolve: goOn } = Promise.withResolvers<void>()
    const holding = db.write(async (tx) => {
      assert.equal(await tx.mutexIsFree(7), true)
      goOn()
      const sql = `select count(*) as n from pg_locks where locktype = 'advisory' and not granted`
      while ((await tx.get<{ n: number }>(sql))?.n !== 1);
      isOver = true
    })
    await asked
    await other.withMutex(7, async () => assert.equal(isOver, true))
    await holding
  })

  it('ends a mutex with its work, if that throws, and with its connection', async () => {
    const url = await createDatabase()
    await using db = await open(url)
    await using other = await open(url)
    await assert.rejects(
      db.withMutex(7, async () => {
        throw new Error('a bug')
      }),
      /a bug/,
    )
    await db.withMutex(7, async () => {
      const sql = `select pg_terminate_backend(pid, 5000) from pg_locks where locktype = 'advisory' and granted`
      await other.all(sql)
      // The work goes on: its writes are conditional.
      await other.withMutex(7, async () => {})
    })
    await db.withMutex(7, async () => {})
  })

  it('keeps connections for the work of mutexes', async () => {
    await using db = await openPostgres({ url: await createDatabase(), poolSize: 2, onFatal: () => {} })
    await db.write((tx) => tx.run('create table note (id bigint primary key)'))
    await Promise.all(
      Array.from({ length: 20 }, (_, id) =>
        db.withMutex(id % 5, () => db.write((tx) => tx.insert('note', ['id'], [[id]]))),
      ),
    )
    assert.deepEqual(await db.get('select count(*) as n from note'), { n: 20 })
  })

  it('queues more writers than there are connections', async () => {
    await using db = await openPostgres({
      url: await createDatabase(),
      poolSize: 2,
      onFatal: () => {},
    })
    await db.write((tx) => tx.run('create table note (id bigint primary key)'))
    await Promise.all(
      Array.from({ length: 50 }, (_, id) => db.write((tx) => tx.insert('note', ['id'], [[id]]))),
    )
    assert.deepEqual(await db.get('select count(*) as n from note'), { n: 50 })
  })
})

it('reports an unreachable PostgreSQL without the password', async () => {
  const opening = openPostgres({
    url: 'postgres://me:hush-hush@127.0.0.1:1/library',
    onFatal: () => {},
  })
  await assert.rejects(opening, (error: Error) => {
    assert.equal(error.message, 'PostgreSQL at 127.0.0.1:1/library cannot be reached.')
    assert.match(String(error.cause), /ECONNREFUSED/)
    return true
  })
})
