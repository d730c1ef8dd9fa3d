import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readSync } from 'node:fs'
import { copyFile, mkdtemp, open, readdir, readFile, rm, stat } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { databaseContract } from '../../../../test/support/database/database.contract.ts'
import type { Database, Transaction } from '../database.ts'
import { migrate } from '../migrate.ts'
import type { Migration } from '../migrations/types.ts'
import { openDatabase } from '../open.ts'
import { Connection } from './connection.ts'
import { openSqlite, type SqliteOptions } from './sqlite-database.ts'

const run = promisify(execFile)
const notes: Migration = {
  version: 1,
  name: 'notes',
  async up(tx) {
    await tx.run('create table note (id integer primary key, body text)')
  },
}
const titles: Migration = {
  version: 2,
  name: 'titles',
  async up(tx) {
    await tx.run('alter table note add column title text')
  },
}

let folder = ''
let files = 0
const newFile = () => path.join(folder, `${++files}.db`)

before(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-sqlite-'))
})
after(() => rm(folder, { recursive: true, force: true }))

databaseContract('SQLite', async () => ({ kind: 'sqlite', file: newFile() }))

async function openNotes(options: Partial<SqliteOptions> = {}) {
  const onFatal = (error: Error) => assert.fail(error)
  const db = await openSqlite({ file: newFile(), onFatal, ...options })
  await migrate(db, [notes])
  return db
}

const addNote = (db: Database, id: number, options?: { durable: boolean }) =>
  db.write((tx) => tx.run('insert into note (id, body) values (?, ?)', id, `note ${id}`), options)

describe('rows that are rarely there', () => {
  const deleting = (id: number) => async (tx: Transaction) =>
    tx.mayHaveRows('note') ? tx.deleteRare([{ table: 'note', where: 'id = ?', parameters: [id] }]) : 0

  it('cost no statement while the table is empty', async (t) => {
    await using db = await openNotes()
    await db.write(deleting(1))
    const get = t.mock.method(Connection.prototype, 'get')
    assert.equal(await db.write(deleting(1)), 0)
    assert.deepEqual(
      get.mock.calls.map(({ arguments: [sql] }) => sql),
      [],
    )
  })

  it('are deleted if the transaction, another one or another process made them', async () => {
    const file = newFile()
    await using db = await openNotes({ file })
    const other = new Connection(file, 1000)
    assert.equal(await db.write(deleting(1)), 0)
    await addNote(db, 1)
    assert.equal(await db.write(deleting(1)), 1)
    await db.write(async (tx) => {
      assert.equal(await deleting(2)(tx), 0)
      await tx.insert('note', ['id', 'body'], [[2, 'note 2']])
      assert.equal(await deleting(2)(tx), 1)
    })
    other.run('insert into note (id, body) values (3, null)', [])
    assert.equal(await db.write(deleting(3)), 1)
    other.close()
  })
})

describe('the version of the data', () => {
  it('is read once in a callback of the event loop and all its promises, and again in the next', async (t) => {
    await using db = await openNotes()
    const read = t.mock.method(Connection.prototype, 'dataVersion')
    const countOf = async (callback: () => Promise<unknown>) => {
      await nextTurn()
      read.mock.resetCalls()
      await callback()
      return read.mock.callCount()
    }
    const once = async () => {
      for (let n = 0; n < 3; n++) await Promise.all([listIds(db), db.get('select 1')])
    }
    assert.equal(await countOf(once), 1)
    const twice = async () => {
      await once()
      await nextTurn()
      await once()
    }
    assert.equal(await countOf(twice), 2)
  })
})

async function listIds(db: Database): Promise<number[]> {
  return (await db.all<{ id: number }>('select id from note order by id')).map((row) => row.id)
}

describe('cached rows of SQLite', () => {
  const body = (db: Database, id: number | string) =>
    db.get<{ body: string }>('select body from note where id = ? and 1 = 1', id)

  it('equal the last commit of any connection', async () => {
    const file = newFile()
    await using db = await openNotes({ file })
    await using other = await openSqlite({ file, onFatal: (error) => assert.fail(error) })
    assert.equal(await body(db, 1), undefined)
    await addNote(db, 1)
    assert.equal((await body(db, 1))?.body, 'note 1')
    for (const [n, writer] of [db, other, other, db].entries()) {
      await writer.write((tx) => tx.run('update note set body = ? where id = 1', `text ${n}`))
      for (const reader of [db, other]) {
        assert.equal((await body(reader, 1))?.body, `text ${n}`)
        assert.equal((await body(reader, 1))?.body, `text ${n}`)
      }
    }
    await other.write((tx) => tx.run('delete from note'))
    assert.equal(await body(db, 1), undefined)
  })

  it('equal a commit of this process in the same turn of the event loop', async () => {
    await using db = await openNotes()
    await addNote(db, 1)
    let turnEnded = false
    setImmediate(() => (turnEnded = true))
    for (let n = 0; n < 5; n += 1) {
      await db.write((tx) => tx.run('update note set body = ? where id = 1', `${n}`), { durable: false })
      assert.equal((await body(db, 1))?.body, `${n}`)
    }
    assert.equal(turnEnded, false)
  })

  it('equal a commit of another process after any await', async () => {
    const file = newFile()
    await using db = await openNotes({ file })
    await addNote(db, 1)
    // A connection whose commits this process is not notified of, like one of another process.
    const other = new DatabaseSync(file)
    const update = other.prepare('update note set body = ? where id = 1')
    const phases = [turn, () => delay(1), () => stat(file)]
    for (const [n, phase] of [...phases, ...phases].entries()) {
      await phase()
      await body(db, 1)
      update.run(`text ${n}`)
      await stat(file)
      assert.equal((await body(db, 1))?.body, `text ${n}`)
    }
    other.close()
  })

  it('equal a commit of another process that made a transaction fail, in the same turn', async () => {
    const file = newFile()
    await using db = await openNotes({ file })
    await addNote(db, 1)
    const other = new DatabaseSync(file)
    await turn()
    assert.equal((await body(db, 1))?.body, 'note 1')
    let turnEnded = false
    setImmediate(() => (turnEnded = true))
    other.exec("update note set body = 'theirs' where id = 1")
    const move = db.write(async (tx) => {
      const sql = "update note set body = 'ours' where id = 1 and body = 'note 1'"
      if ((await tx.run(sql)) === 0) throw new Error('moved')
    })
    await assert.rejects(move, /moved/)
    assert.equal((await body(db, 1))?.body, 'theirs')
    assert.equal(turnEnded, false)
    other.close()
  })

  it('survive a commit to other tables, unless rows were deleted', async () => {
    await using db = await openNotes()
    await db.write((tx) =>
      tx.run('create table tag (note_id integer references note (id) on delete cascade)'),
    )
    await addNote(db, 1)
    const addTag = () => db.write((tx) => tx.insert('tag', ['note_id'], [[1]]))
    const countTags = () => db.get<{ tags: number }>('select count(*) as tags from tag where note_id = ?', 1)
    const first = await body(db, 1)
    assert.equal((await countTags())?.tags, 0)
    await addTag()
    assert.equal(await body(db, 1), first)
    assert.equal((await countTags())?.tags, 1)
    await db.write((tx) => tx.get("update note set body = 'new' where id = 1 returning id"))
    assert.equal((await body(db, 1))?.body, 'new')
    assert.equal((await countTags())?.tags, 1)
    await db.write((tx) =>
      tx.run('with gone (id) as (select 1) update note set body = (select id from gone)'),
    )
    assert.equal((await body(db, 1))?.body, '1')
    await db.write((tx) => tx.run('delete from note'))
    assert.equal((await countTags())?.tags, 0)
  })

  it('are listed as of the last commit, and the list is a copy for the caller', async () => {
    await using db = await openNotes()
    const list = () => db.all<{ id: number }>('select id from note where id < ? order by id', 10)
    assert.deepEqual(await list(), [])
    for (const id of [1, 2, 3]) {
      await addNote(db, id)
      const found = await list()
      assert.equal(found.length, id)
      found.reverse()
      assert.equal((await list())[0]?.id, 1)
    }
    await db.write((tx) => tx.run('delete from note'))
    assert.deepEqual(await list(), [])
  })

  it('are distinguished by the type of the parameters', async () => {
    await using db = await openNotes()
    const typeOf = async (value: string | number | null) =>
      (await db.get<{ type: string }>('select typeof(?) as type', value))?.type
    assert.equal(await typeOf(1), 'integer')
    assert.equal(await typeOf('1'), 'text')
    assert.equal(await typeOf(null), 'null')
    assert.equal(await typeOf('null'), 'text')
    const blob = await db.get<{ type: string }>('select typeof(?) as type', Buffer.from('1'))
    assert.equal(blob?.type, 'blob')
    assert.equal(await typeOf('\0b1:1'), 'text')
  })
})

describe('SQLite files', () => {
  it('are accessible to their owner only', async () => {
    const file = newFile()
    await using _db = await openNotes({ file })
    for (const name of [file, `${file}-wal`, `${file}-shm`])
      assert.equal((await stat(name)).mode & 0o777, 0o600)
  })

  it('are backed up before a data migration, and the older version can open the backup', async () => {
    const file = newFile()
    const onFatal = (error: Error) => assert.fail(error)
    const setting = { kind: 'sqlite', file } as const
    {
      await using db = await openDatabase(setting, { migrations: [notes], onFatal })
      await addNote(db, 1)
    }
    assert.deepEqual(await copiesOf(file), [])
    const backupDirectory = `${file}.backups`
    await using newer = await openDatabase(setting, { migrations: [notes, titles], onFatal, backupDirectory })
    await addNote(newer, 2)
    const copy = path.join(backupDirectory, 'schema-1.db')
    assert.deepEqual(await readdir(backupDirectory), ['schema-1.db'])
    assert.equal((await stat(copy)).mode & 0o777, 0o600)
    await using older = await openDatabase({ kind: 'sqlite', file: copy }, { migrations: [notes], onFatal })
    assert.deepEqual(await listIds(older), [1])
  })

  it('are rejected with a reason if they are something else', async () => {
    const file = newFile()
    await copyFile(import.meta.filename, file)
    await assert.rejects(openNotes({ file }), /not a database/)
  })

  async function copiesOf(file: string): Promise<string[]> {
    return (await readdir(folder)).filter((name) => name.startsWith(`${path.basename(file)}.`))
  }
})

describe('SQLite durability', () => {
  it('shares flushes among waiting writers', async () => {
    let syncs = 0
    await using db = await openNotes({
      async syncLog(log) {
        syncs++
        await log.datasync()
      },
    })
    syncs = 0
    await Promise.all(Array.from({ length: 200 }, (_, i) => addNote(db, i)))
    assert.ok(syncs >= 1 && syncs < 20, `${syncs} syncs for 200 writes`)
  })

  it('acknowledges a write only after a flush that began after its commit', async () => {
    const syncs: PromiseWithResolvers<void>[] = []
    let holding = false
    await using db = await openNotes({
      async syncLog() {
        if (!holding) return
        const sync = Promise.withResolvers<void>()
        syncs.push(sync)
        await sync.promise
      },
    })
    holding = true
    const acknowledged: number[] = []
    const write = (id: number) => addNote(db, id).then(() => acknowledged.push(id))
    const first = write(1)
    while (syncs.length < 1) await turn()
    const second = write(2)
    while ((await listIds(db)).length < 2) await turn()
    assert.deepEqual(acknowledged, [])
    syncs[0]?.resolve()
    await first
    while (syncs.length < 2) await turn()
    assert.deepEqual(acknowledged, [1])
    holding = false
    syncs[1]?.resolve()
    await second
    assert.deepEqual(acknowledged, [1, 2])
  })

  it('has every acknowledged write in the log as of the start of a finished flush', async () => {
    const file = newFile()
    const lost = newFile()
    await using db = await openNotes({
      file,
      async syncLog(log) {
        await copyFile(`${file}-wal`, `${lost}-wal.next`)
        await log.datasync()
        await copyFile(`${lost}-wal.next`, `${lost}-wal`)
      },
    })
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let i = 0; i < 25; i++) await addNote(db, writer * 25 + i)
    })
    await Promise.all(writers)
    // By another process: SQLite's locks are released when any handle of the file is closed in this one.
    await run('cp', [file, lost])
    await using afterPowerCut = await openNotes({ file: lost })
    assert.deepEqual(
      await listIds(afterPowerCut),
      Array.from({ length: 200 }, (_, i) => i),
    )
  })

  it('acknowledges what a request found at once, or refused, only after a flush', async () => {
    let held: PromiseWithResolvers<void> | undefined
    await using db = await openNotes({ syncLog: async () => held?.promise })
    for (const [id, refuses] of [
      [1, false],
      [2, true],
    ] as const) {
      held = Promise.withResolvers()
      await addNote(db, id, { durable: false })
      let isAnswered = false
      const answer = db.inRequest(
        () => {
          const found = db.get('select body from note where id = ?', id)
          if (refuses) throw new Error('found it')
          return found
        },
        { acknowledges: true },
      )
      const answered = Promise.resolve(answer)
        .then(
          () => 'found',
          (error: Error) => error.message,
        )
        .finally(() => {
          isAnswered = true
        })
      for (let n = 0; n < 10; n++) await turn()
      assert.equal(isAnswered, false)
      held.resolve()
      assert.equal(await answered, refuses ? 'found it' : 'found')
    }
  })

  it('does not delay a non-durable write', async () => {
    let held: PromiseWithResolvers<void> | undefined
    await using db = await openNotes({ syncLog: async () => held?.promise })
    held = Promise.withResolvers()
    await addNote(db, 1, { durable: false })
    assert.deepEqual(await listIds(db), [1])
    held.resolve()
  })

  it('stops permanently when a flush fails, and acknowledges nothing more', async () => {
    const file = newFile()
    const fatal: Error[] = []
    let broken = false
    const db = await openNotes({
      file,
      onFatal: (error) => fatal.push(error),
      async syncLog(log) {
        if (broken) throw new Error('EIO: i/o error, fdatasync')
        await log.datasync()
      },
    })
    await addNote(db, 1)
    broken = true
    const results = await Promise.allSettled([addNote(db, 2), addNote(db, 3)])
    assert.deepEqual(
      results.map((result) => result.status),
      ['rejected', 'rejected'],
    )
    broken = false
    await assert.rejects(addNote(db, 4), /disk failed/)
    await assert.rejects(db.ping(), /disk failed/)
    assert.equal(fatal.length, 1)
    assert.match(String(fatal[0]?.cause), /EIO/)
    await assert.rejects(async () => db[Symbol.asyncDispose](), /disk failed/)
  })
})

describe('a log that could not be flushed', () => {
  /** A database as the kernel shows it after the flush of its second note failed, and the part of the log that is not on disk. */
  async function withHole() {
    const file = newFile()
    let broken = false
    const db = await openNotes({
      file,
      onFatal: () => {},
      async syncLog(log) {
        if (broken) throw new Error('EIO: i/o error, fdatasync')
        await log.datasync()
      },
    })
    await addNote(db, 1)
    const start = (await stat(`${file}-wal`)).size
    broken = true
    await assert.rejects(addNote(db, 2))
    const end = (await stat(`${file}-wal`)).size
    const shown = newFile()
    // By another process: SQLite's locks are released when any handle of the file is closed in this one.
    await run('sh', ['-c', 'cp "$1" "$2" && cp "$1-wal" "$2-wal"', 'sh', file, shown])
    return { shown, lost: { start, end } }
  }

  const saltOf = async (file: string) => (await readFile(`${file}-wal`)).subarray(16, 24).toString('hex')

  it('is not built upon by the next start', async () => {
    const { shown, lost } = await withHole()
    const salt = await saltOf(shown)
    await using db = await openNotes({ file: shown })
    await addNote(db, 3)
    const disk = newFile()
    await run('sh', ['-c', 'cp "$1" "$2" && cp "$1-wal" "$2-wal"', 'sh', shown, disk])
    // In a log that still begins with the old frames, the lost ones are missing on disk.
    if ((await saltOf(disk)) === salt) {
      await using log = await open(`${disk}-wal`, 'r+')
      await log.write(Buffer.alloc(lost.end - lost.start), 0, lost.end - lost.start, lost.start)
    }
    await using afterPowerCut = await openNotes({ file: disk })
    assert.deepEqual(await listIds(afterPowerCut), [1, 2, 3])
  })

  it('is flushed again before anything is copied from it, and stops the start if that fails', async () => {
    const { shown } = await withHole()
    const before = await readFile(shown)
    const failing = openNotes({
      file: shown,
      async syncLog() {
        throw new Error('EIO: i/o error, fdatasync')
      },
    })
    await assert.rejects(failing, /log .* could not be flushed: see that the disk is sound/)
    assert.deepEqual(await readFile(shown), before)
  })
})

describe('the write-ahead log of SQLite', () => {
  it('grows during a long read without delaying a writer, is reported, and restarts afterwards', async () => {
    const file = newFile()
    const warnings: string[] = []
    const logger = { info() {}, error() {}, warn: (_: object, message: string) => warnings.push(message) }
    await using db = await openNotes({ file, checkpointBytes: 64 * 1024, largeLogBytes: 512 * 1024, logger })
    await addNote(db, 0)
    const reader = new DatabaseSync(file, { readOnly: true })
    reader.exec('begin')
    reader.prepare('select count(*) from note').get()
    let slowest = 0
    const body = 'x'.repeat(3000)
    const write = async (id: number) => {
      const began = performance.now()
      await db.write((tx) => tx.run('insert into note (id, body) values (?, ?)', id, body))
      slowest = Math.max(slowest, performance.now() - began)
    }
    let next = 1
    while (next <= 400 || warnings.length === 0) await write(next++)
    assert.ok(slowest < 2000, `a write took ${Math.round(slowest)} ms`)
    assert.ok((db.logBytes ?? 0) > 512 * 1024, `${db.logBytes} bytes in the log`)
    reader.close()
    while ((db.logBytes ?? 0) > 512 * 1024) await write(next++)
    assert.deepEqual(
      warnings.map((one) => /write-ahead log/.test(one)),
      [true],
    )
  })

  it('restarts repeatedly while writers continue', async () => {
    const file = newFile()
    await using db = await openNotes({ file, checkpointBytes: 256 * 1024 })
    await using log = await open(`${file}-wal`)
    const body = 'x'.repeat(3000)
    let id = 0
    // The header of the log has a new salt after each restart.
    const salts = new Set<string>()
    const salt = Buffer.alloc(8)
    // About 1,200 rows are enough. If writers never waited for a complete checkpoint, no number would be.
    const writer = async () => {
      while (salts.size < 12 && id < 20_000) {
        const number = id
        id += 1
        const insert = (tx: Transaction) => tx.run('insert into note (id, body) values (?, ?)', number, body)
        await db.write(insert, { durable: false })
        readSync(log.fd, salt, 0, salt.length, 16)
        salts.add(salt.toString('hex'))
        await turn()
      }
    }
    await Promise.all(Array.from({ length: 16 }, writer))
    assert.equal(salts.size, 12, `the log started over ${salts.size - 1} times in ${id} rows`)
    assert.equal((await listIds(db)).length, id)
  })

  it('is copied after a large commit, without another one', { timeout: 60_000 }, async () => {
    const file = newFile()
    const checkpointBytes = 2 ** 21
    await using db = await openNotes({ file, checkpointBytes })
    // The length of the log is not asked for after each small commit.
    await addNote(db, 0)
    const body = 'x'.repeat(3000)
    const rows = Array.from({ length: 1000 }, (_, n) => [n + 1, body])
    await db.write((tx) => tx.insert('note', ['id', 'body'], rows))
    while ((await stat(file)).size < checkpointBytes) await turn()
  })

  it('is removed by an orderly close', async () => {
    const file = newFile()
    const db = await openNotes({ file })
    await addNote(db, 1)
    await db[Symbol.asyncDispose]()
    assert.deepEqual(
      (await readdir(folder)).filter((name) => name.startsWith(path.basename(file))),
      [path.basename(file)],
    )
  })
})

describe('SQLite in more than one process', () => {
  // Adds `count` notes starting with `first`, eight at a time, and prints each id once acknowledged.
  const child = (file: string, first: number, count: number) => {
    const url = new URL('./sqlite-database.ts', import.meta.url).href
    const code = `
      import { openSqlite } from ${JSON.stringify(url)}
      const db = await openSqlite({ file: ${JSON.stringify(file)}, onFatal: (error) => { throw error } })
      let next = ${first}
      const writer = async () => {
        while (next < ${first + count}) {
          const id = next++
          await db.write(async (tx) => {
            await tx.run('update note set body = cast(body as integer) + 1 where id = 0')
            await tx.run('insert into note (id, body) values (?, ?)', id, 'from a child')
          })
          process.stdout.write(id + '\\n')
        }
      }
      await Promise.all(Array.from({ length: 8 }, writer))
      await db[Symbol.asyncDispose]()
    `
    return spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  }

  it('loses nothing when two write to the same file concurrently', async () => {
    const file = newFile()
    await using db = await openNotes({ file })
    await db.write((tx) => tx.run(`insert into note (id, body) values (0, '0')`))
    const children = [child(file, 1, 300), child(file, 301, 300)]
    const ended = children.map((process) => once(process, 'exit'))
    for (const process of children) process.stdout.resume()
    for (let id = 601; id <= 700; id++) await addNote(db, id)
    for (const [code] of await Promise.all(ended)) assert.equal(code, 0)
    assert.deepEqual(
      await listIds(db),
      Array.from({ length: 701 }, (_, i) => i),
    )
    assert.deepEqual(await db.get('select body from note where id = 0'), { body: '600' })
  })

  it('keeps every write acknowledged before a process was killed', async () => {
    const file = newFile()
    {
      await using db = await openNotes({ file })
      await db.write((tx) => tx.run(`insert into note (id, body) values (0, '0')`))
    }
    const victim = child(file, 1, 1_000_000)
    const ended = once(victim, 'exit')
    const acknowledged: number[] = []
    for await (const line of createInterface({ input: victim.stdout })) {
      acknowledged.push(Number(line))
      if (acknowledged.length === 300) victim.kill('SIGKILL')
    }
    await ended
    await using db = await openNotes({ file })
    const kept = new Set(await listIds(db))
    assert.deepEqual(
      acknowledged.filter((id) => !kept.has(id)),
      [],
    )
    assert.deepEqual(await db.get('select body from note where id = 0'), { body: String(kept.size - 1) })
    assert.deepEqual(await db.all('pragma integrity_check'), [{ integrity_check: 'ok' }])
  })
})

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
