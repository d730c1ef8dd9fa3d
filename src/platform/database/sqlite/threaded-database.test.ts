import assert from 'node:assert/strict'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Transaction } from '../database.ts'
import { DatabaseError } from '../errors.ts'
import { ThreadedDatabase } from './threaded-database.ts'

let folder = ''
let files = 0
before(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-side-'))
})
after(() => rm(folder, { recursive: true, force: true }))

const newFile = () => path.join(folder, `${++files}.db`)

async function open(file = newFile()) {
  const db = new ThreadedDatabase(file)
  await db.write((tx) =>
    tx.run('create table if not exists note (id integer primary key, body text, data blob)'),
  )
  return db
}

const ids = async (db: ThreadedDatabase) =>
  (await db.all<{ id: number }>('select id from note order by id')).map(({ id }) => id)

describe('a side database', () => {
  it('returns and keeps stored values', async () => {
    const file = newFile()
    {
      await using db = await open(file)
      const rows = [
        [1, "it's 文件 🗂️", new Uint8Array([0, 1, 255])],
        [Number.MAX_SAFE_INTEGER, null, null],
      ]
      await db.write((tx) => tx.insert('note', ['id', 'body', 'data'], rows))
      assert.equal(await db.write((tx) => tx.insertNew('note', ['id'], [[1], [2]])), 1)
    }
    await using db = await open(file)
    assert.deepEqual(await db.get('select * from note where id = 1'), {
      id: 1,
      body: "it's 文件 🗂️",
      data: new Uint8Array([0, 1, 255]),
    })
    assert.deepEqual(await ids(db), [1, 2, Number.MAX_SAFE_INTEGER])
    assert.equal((await stat(file)).mode & 0o777, 0o600)
  })

  it('rolls back a failed transaction, even if its callback swallowed the error', async () => {
    await using db = await open()
    const put = (tx: Transaction, id: number) => tx.run('insert into note (id) values (?)', id)
    await assert.rejects(
      db.write(async (tx) => {
        await put(tx, 1)
        throw new Error('no')
      }),
      /^Error: no$/,
    )
    await assert.rejects(
      db.write(async (tx) => {
        await put(tx, 2)
        await put(tx, 2).catch(() => {})
      }),
      DatabaseError,
    )
    await assert.rejects(
      db.write((tx) => put(tx, 3).then(() => put(tx, 3))),
      (error) => error instanceof DatabaseError && error.reason === 'unique',
    )
    await assert.rejects(db.get('select nonsense'), DatabaseError)
    assert.deepEqual(await ids(db), [])
    await db.write((tx) => put(tx, 4))
    assert.deepEqual(await ids(db), [4])
  })

  it('serializes writers, and runs readers concurrently', async () => {
    await using db = await open()
    const begun: number[] = []
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        db.write(async (tx) => {
          const row = await tx.get<{ n: number }>('select count(*) as n from note')
          begun.push(row?.n ?? -1)
          assert.ok((await ids(db)).length <= n)
          await tx.run('insert into note (id) values (?)', n)
        }),
      ),
    )
    assert.deepEqual(
      begun,
      Array.from({ length: 20 }, (_, n) => n),
    )
  })

  it('rejects statements after the end of a transaction, and all after close', async () => {
    const db = await open()
    let kept: Transaction | undefined
    await db.write(async (tx) => {
      kept = tx
    })
    await assert.rejects(async () => kept?.run('delete from note'), DatabaseError)
    await db[Symbol.asyncDispose]()
    await assert.rejects(db.get('select 1'), DatabaseError)
    await assert.rejects(
      db.write((tx) => tx.run('select 1')),
      DatabaseError,
    )
  })

  it('moves an invalid database file away, because its content can be rebuilt', async () => {
    const file = newFile()
    await writeFile(file, 'this is no database'.repeat(500))
    await using db = await open(file)
    assert.deepEqual(await ids(db), [])
  })

  it('does not block the event loop during a query', async () => {
    await using db = await open()
    const long = db.get<{ n: number }>(
      'with recursive c (n) as (select 1 union all select n + 1 from c where n < 3000000) select count(*) as n from c',
    )
    let turns = 0
    const timer = setInterval(() => turns++, 1)
    assert.equal((await long)?.n, 3_000_000)
    clearInterval(timer)
    assert.ok(turns > 5, String(turns))
  })

  it('answers a short query during a long one', async () => {
    await using db = await open()
    const count = (most: number) =>
      db.get(
        'with recursive c (n) as (select 1 union all select n + 1 from c where n < ?) select count(*) from c',
        most,
      )
    // Both threads are running.
    await Promise.all([count(100_000), count(100_000)])
    const order: string[] = []
    await Promise.all([
      count(3_000_000).then(() => order.push('long')),
      count(10).then(() => order.push('short')),
    ])
    assert.deepEqual(order, ['short', 'long'])
  })
})
