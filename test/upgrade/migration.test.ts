import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { Client } from 'pg'
import type { Database } from '../../src/platform/database/database.ts'
import type { Migration } from '../../src/platform/database/migrations/types.ts'
import { type DatabaseSetting, openDatabase } from '../../src/platform/database/open.ts'
import { onBothDatabases } from '../support/databases.ts'
import { notes } from './notes-schema.ts'

const onFatal = (error: Error) => assert.fail(error)
const ROWS = [
  { key: 100, text: "it's a \\ and\na second line", picture: Buffer.from([0, 255, 39, 92]) },
  { key: 107, text: '', picture: null },
]

const titles = (version = 2): Migration => ({
  version,
  name: `titles ${version}`,
  up: async (tx) => void (await tx.run(`alter table note add column title${version} text`)),
})

async function fill(db: Database): Promise<void> {
  await db.write(async (tx) => {
    await tx.insert(
      'note',
      ['key', 'text', 'picture'],
      ROWS.map(({ key, text, picture }) => [key, text, picture]),
    )
    await tx.run("insert into remark (note_key, remark) values (107, 'seven')")
    await tx.run('insert into annex (note_key) values (100)')
  })
}

async function expectRows(db: Database): Promise<void> {
  const found = await db.all<{ key: number; text: string; picture: Uint8Array | null }>(
    'select key, text, picture from note order by key',
  )
  const rows = found.map((row) => ({ ...row, picture: row.picture && Buffer.from(row.picture) }))
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    ROWS,
  )
  assert.deepEqual(
    (await db.all<object>('select * from remark')).map((row) => ({ ...row })),
    [{ note_key: 107, remark: 'seven' }],
  )
}

onBothDatabases('a migration', (fresh) => {
  let folder = ''
  let count = 0
  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-migration-'))
  })
  after(() => rm(folder, { recursive: true }))

  /** An empty database and a folder for its backups. */
  const prepare = async (t: Parameters<typeof fresh>[0]) => {
    const made = await fresh(t)
    if (made === undefined) return undefined
    const data = path.join(folder, String(++count))
    const setting: DatabaseSetting = made.setting ?? { kind: 'sqlite', file: path.join(data, 'carrel.db') }
    if (setting.kind === 'postgres') await emptyDatabase(setting.url)
    const backupDirectory = path.join(data, 'before-migration')
    const open = (...migrations: Migration[]) =>
      openDatabase(setting, { migrations, onFatal, backupDirectory })
    return { setting, data, backupDirectory, open }
  }

  it('backs the data up first, and the program of the older schema can open the backup', async (t) => {
    const it = await prepare(t)
    if (it === undefined) return
    {
      await using db = await it.open(notes)
      await fill(db)
    }
    {
      await using db = await it.open(notes, titles())
      await db.write((tx) => tx.run("update note set text = 'newer'"))
    }
    const name = it.setting.kind === 'sqlite' ? 'schema-1.db' : 'schema-1.sql.gz'
    assert.deepEqual(readdirSync(it.backupDirectory), [name])
    const file = path.join(it.backupDirectory, name)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.equal(statSync(it.backupDirectory).mode & 0o777, 0o700)
    if (it.setting.kind === 'sqlite') {
      await using older = await openDatabase({ kind: 'sqlite', file }, { migrations: [notes], onFatal })
      await expectRows(older)
      return
    }
    await emptyDatabase(it.setting.url)
    {
      await using empty = await it.open(notes)
      await empty.write((tx) => tx.run("insert into note (text) values ('of the first start')"))
    }
    const client = new Client(it.setting.url)
    await client.connect()
    await client.query(gunzipSync(readFileSync(file)).toString())
    await client.end()
    await using older = await it.open(notes)
    await expectRows(older)
    const next = await older.write((tx) => tx.get("insert into note (text) values ('next') returning key"))
    assert.deepEqual({ ...next }, { key: 1 }, 'the sequence is where it was: rows were inserted with keys')
  })

  it('keeps the newest three backups', async (t) => {
    const it = await prepare(t)
    if (it === undefined) return
    const steps = [notes, titles(2), titles(3), titles(4), titles(5), titles(6)]
    for (let n = 1; n <= steps.length; n++) await (await it.open(...steps.slice(0, n)))[Symbol.asyncDispose]()
    const kept = readdirSync(it.backupDirectory).map((name) => /schema-\d/.exec(name)?.[0] ?? '')
    assert.deepEqual(kept.sort(), ['schema-3', 'schema-4', 'schema-5'])
  })

  it('keeps the backup made before its first step, however often it is interrupted', async (t) => {
    const it = await prepare(t)
    if (it === undefined) return
    await using _ = await it.open(notes)
    const kept = () => readdirSync(it.backupDirectory).map((name) => /schema-\d/.exec(name)?.[0] ?? name)
    const failing = (version: number): Migration => ({
      ...titles(version),
      up: () => Promise.reject(new Error('interrupted')),
    })
    // Each start applies one step more, as if the process had been killed after it.
    for (let reached = 1; reached <= 5; reached++) {
      const steps = Array.from({ length: reached - 1 }, (_, index) => titles(index + 2))
      const expected =
        reached === 1
          ? /failed; .* program of schema version 1 can still open it/
          : /program of schema version 1 cannot open it any more: to go back, restore \S+schema-1\./
      await assert.rejects(it.open(notes, ...steps, failing(reached + 1)), expected)
      // As above, at its first step.
      await assert.rejects(it.open(notes, ...steps, failing(reached + 1)), expected)
    }
    assert.deepEqual(kept().sort(), ['schema-1', 'schema-3', 'schema-4', 'schema-5', 'unfinished-upgrade'])
    await using db = await it.open(notes, titles(2), titles(3), titles(4), titles(5), titles(6))
    assert.equal(db.schemaVersion, 6)
    assert.deepEqual(kept().sort(), ['schema-1', 'schema-3', 'schema-4', 'schema-5'])
    await using later = await it.open(notes, ...[2, 3, 4, 5, 6, 7].map((version) => titles(version)))
    assert.equal(later.schemaVersion, 7)
    assert.deepEqual(kept().sort(), ['schema-4', 'schema-5', 'schema-6'])
  })

  it('does not begin if the backup fails', async (t) => {
    const it = await prepare(t)
    if (it === undefined) return
    await (await it.open(notes))[Symbol.asyncDispose]()
    const opening = openDatabase(it.setting, {
      migrations: [notes, titles()],
      onFatal,
      backupDirectory: path.join(import.meta.filename, 'no-folder'),
    })
    await assert.rejects(opening, /could not be backed up to .* so nothing was changed/)
    await using db = await openDatabase(it.setting, { migrations: [notes], onFatal })
    assert.equal(db.schemaVersion, 1)
  })

  it('that fails leaves the data usable', async (t) => {
    const it = await prepare(t)
    if (it === undefined) return
    {
      await using db = await it.open(notes)
      await fill(db)
    }
    const failing: Migration = {
      version: 3,
      name: 'failing',
      async up(tx) {
        await tx.run("update note set text = 'half migrated'")
        await tx.run('drop table remark')
        throw new Error('out of luck')
      },
    }
    await assert.rejects(it.open(notes, titles(), failing), /Schema step 3 \(failing\) failed/)
    await using db = await it.open(notes, titles())
    await expectRows(db)
  })

  it('that is killed leaves the data usable', async (t) => {
    const it = await prepare(t)
    if (it === undefined) return
    {
      await using db = await it.open(notes)
      await fill(db)
    }
    const program = path.join(import.meta.dirname, 'killed-migration.fixture.ts')
    const killed = spawnSync(process.execPath, [program, JSON.stringify(it.setting), it.backupDirectory])
    assert.equal(killed.signal, 'SIGKILL', String(killed.stderr))
    assert.equal(readdirSync(it.backupDirectory).filter((name) => name.startsWith('schema')).length, 1)
    {
      await using db = await it.open(notes)
      await expectRows(db)
    }
    await using db = await it.open(notes, titles())
    await expectRows(db)
  })

  it('is refused for data of a newer program, which stays as it is', async (t) => {
    const it = await prepare(t)
    if (it === undefined) return
    {
      await using db = await it.open(notes, titles(40))
      await fill(db)
    }
    const contents = () =>
      it.setting.kind === 'postgres'
        ? []
        : readdirSync(it.data).map((name) => [name, readFileSync(path.join(it.data, name), 'latin1')])
    const found = contents()
    await assert.rejects(it.open(notes), {
      name: 'NewerSchemaError',
      message: /^The data has schema version 40, and this version of Carrel knows only up to 1\. Start/,
    })
    assert.deepEqual(contents(), found)
  })
})

async function emptyDatabase(url: string): Promise<void> {
  const client = new Client(url)
  await client.connect()
  await client.query('drop schema public cascade; create schema public')
  await client.end()
}

describe('the names of backups', () => {
  it('are known to the documentation', () => {
    const page = readFileSync(path.join(import.meta.dirname, '../../docs/operation.md'), 'utf8')
    assert.match(page, /before-migration\/schema-\d+\.db/)
    assert.match(page, /before-migration\/schema-\d+\.sql\.gz/)
  })
})
