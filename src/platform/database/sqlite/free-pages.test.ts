import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import type { Database } from '../database.ts'
import { compactSqlite } from './compact.ts'
import { openSqlite } from './sqlite-database.ts'
import { ThreadedDatabase } from './threaded-database.ts'

let folder = ''
let files = 0
before(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-free-pages-'))
})
after(() => rm(folder, { recursive: true, force: true }))

const newFile = () => path.join(folder, `${++files}.db`)
const { signal } = new AbortController()
const onFatal = (error: Error) => assert.fail(error)
const MARKER = 'marker of a deleted row'

const open: Record<string, (file: string) => Promise<Database>> = {
  'the main database': (file) => openSqlite({ file, onFatal }),
  'a side database': async (file) => new ThreadedDatabase(file),
}

async function fill(db: Database): Promise<void> {
  await db.write(async (tx) => {
    await tx.run('create table note (id integer primary key, data blob)')
    const row = (id: number) => [id, Buffer.alloc(40 * id, id % 2 ? MARKER : 'kept ')]
    await tx.insert(
      'note',
      ['id', 'data'],
      Array.from({ length: 400 }, (_, id) => row(id)),
    )
  })
}

const hasMarker = async (file: string) => (await readFile(file)).includes(MARKER)

for (const [name, openFile] of Object.entries(open)) {
  describe(`free pages of ${name}`, () => {
    it('are given back to the file system, and no deleted content is left in its files', async () => {
      const file = newFile()
      await using db = await openFile(file)
      await fill(db)
      await db.write((tx) => tx.run('delete from note where id % 2 = 1'))
      assert.ok((await hasMarker(file)) || (await hasMarker(`${file}-wal`)))
      const released = await db.releaseFreePages(signal)
      assert.ok(released > 1_000_000, `${released} bytes`)
      assert.equal(await hasMarker(file), false)
      assert.equal((await stat(`${file}-wal`)).size, 0)
      const kept = await db.get<{ n: number; bytes: number }>(
        'select count(*) as n, sum(length(data)) as bytes from note',
      )
      assert.deepEqual({ ...kept }, { n: 200, bytes: 1_592_000 })
      assert.ok((await stat(file)).size < 1_592_000 * 1.3)
    })

    it('are kept while a reader uses the log, which is truncated the next time', async () => {
      const file = newFile()
      await using db = await openFile(file)
      await fill(db)
      const reader = new DatabaseSync(file, { readOnly: true })
      reader.exec('begin; select count(*) from note')
      reader.prepare('select count(*) from note').get()
      await db.write((tx) => tx.run('delete from note'))
      await db.releaseFreePages(signal)
      assert.ok((await stat(`${file}-wal`)).size > 0)
      reader.close()
      await db.releaseFreePages(signal)
      assert.equal((await stat(`${file}-wal`)).size, 0)
      assert.ok((await stat(file)).size < 50_000)
    })

    it('are left alone in a file that was created without incremental vacuum', async () => {
      const file = newFile()
      new DatabaseSync(file).exec('create table note (id integer primary key, data blob)')
      await using db = await openFile(file)
      await db.write((tx) => tx.run('insert into note values (1, zeroblob(100000))'))
      await db.write((tx) => tx.run('delete from note'))
      assert.equal(await db.releaseFreePages(signal), 0)
    })
  })
}

describe('compacting a file', () => {
  it('rewrites it with incremental vacuum, without deleted content', async () => {
    const file = newFile()
    {
      const old = new DatabaseSync(file)
      old.exec(`create table note (id integer primary key, data text); insert into note values (1, 'kept')`)
      old.prepare('insert into note values (2, ?)').run(MARKER.repeat(10_000))
      old.exec('delete from note where id = 2')
      old.close()
    }
    assert.equal(await hasMarker(file), true)
    const { before = 0, after = 0 } = (await compactSqlite(file)) ?? {}
    assert.ok(before > 200_000 && after < 20_000, `${before} and ${after} bytes`)
    assert.equal(await hasMarker(file), false)
    const db = new DatabaseSync(file)
    assert.equal(db.prepare('pragma auto_vacuum').get()?.['auto_vacuum'], 2)
    assert.equal(db.prepare('select data from note').get()?.['data'], 'kept')
    db.close()
  })

  it('is refused while another process uses the file', async () => {
    const file = newFile()
    await using db = await openSqlite({ file, onFatal })
    await fill(db)
    await assert.rejects(compactSqlite(file), { reason: 'busy' })
    assert.equal((await db.get<{ n: number }>('select count(*) as n from note'))?.n, 400)
    assert.equal(await compactSqlite(newFile()), undefined)
  })
})

describe('a step of releasing free pages', () => {
  it('leaves cached reads valid and other writers a turn', async () => {
    await using db = await openSqlite({ file: newFile(), onFatal })
    await fill(db)
    await db.write((tx) => tx.run('delete from note where id > 0'))
    const { fullInvalidations } = db.cacheStatistics
    const [released] = await Promise.all([
      db.releaseFreePages(signal),
      db.write((tx) => tx.run("insert into note values (1000, 'meanwhile')")),
    ])
    assert.ok(released > 2_000_000)
    assert.equal(db.cacheStatistics.fullInvalidations, fullInvalidations)
    assert.equal((await db.get<{ n: number }>('select count(*) as n from note'))?.n, 2)
  })
})
