import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import { Client as PostgresClient } from 'pg'
import { type DatabaseSetting, openDatabase } from '../../src/platform/database/index.ts'
import { moveDatabase } from '../../src/programs/assembly/index.ts'
import { Client } from '../support/client.ts'
import { carrel, environment, program } from '../support/command.ts'
import { download } from '../support/encrypted.ts'
import { dumpRows, fillEveryTable } from '../support/every-row.ts'
import { findPostgres, type PostgresServer } from '../support/postgres.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'
import { uploadFile } from '../support/transfer.ts'
import { temporaryFolder } from './support.ts'

const found = await findPostgres()
const skip = typeof found === 'string' ? found : false

/** Settings of servers on a SQLite file in the folder, whatever database the test run is on. */
const onSqlite = { CARREL_DATABASE: 'sqlite', CARREL_SECRET: 'a secret of the test' }
const onPostgres = (url: string) => ({ ...onSqlite, CARREL_DATABASE: url })
const sqliteIn = (data: string): DatabaseSetting => ({ kind: 'sqlite', file: path.join(data, 'carrel.db') })
const postgresAt = (url: string): DatabaseSetting => ({ kind: 'postgres', url })

describe('carrel migrate --database', { skip }, () => {
  let postgres: PostgresServer
  before(() => {
    postgres = typeof found === 'string' ? assert.fail(found) : found
  })
  after(() => postgres[Symbol.asyncDispose]())

  it('moves a server to PostgreSQL and back, with what clients keep of it', async () => {
    await using folder = await temporaryFolder()
    const data = folder.path
    const url = await postgres.createDatabase()
    const kept = await makeServer(data)
    const there = await carrel(['migrate', '--data', data, '--database', url, '--json'], { env: onSqlite })
    assert.equal(there.code, 0, there.stderr)
    // Some fifty, a few more or less: events are logged together or one by one.
    assert.ok((JSON.parse(there.stdout) as { rows: number }).rows > 30)
    const again = await carrel(['migrate', '--data', data, '--database', url], { env: onSqlite })
    assert.equal(again.code, 0, again.stderr)
    assert.match(again.stdout, /by an earlier run/)

    const refused = await carrel(['serve', '--data', data, '--port', '0'], { env: onSqlite })
    assert.equal(refused.code, 1)
    assert.match(
      refused.stderr,
      /The data was moved to the database postgres 127\.0\.0\.1:\d+\/carrel_test_\w+: set CARREL_DATABASE to it/,
    )
    assert.doesNotMatch(refused.stderr, /postgres:\/\//)
    assert.equal((await carrel(['user', 'list', '--data', data], { env: onSqlite })).code, 1)

    const later = randomBytes(70_000)
    {
      await using server = await startServer({ data, env: onPostgres(url) })
      await expectEverything(server, kept)
      await uploadFile(new Client(server.url, kept.token), kept.library, '/later.bin', later)
      await expectSound(data, onPostgres(url))
      const running = await carrel(['migrate', '--data', data, '--database', 'sqlite'], {
        env: onPostgres(url),
      })
      assert.equal(running.code, 3, running.stderr)
      await using other = await temporaryFolder()
      const elsewhere = await carrel(['migrate', '--data', other.path, '--database', 'sqlite'], {
        env: onPostgres(url),
      })
      assert.equal(elsewhere.code, 1)
      // The next heartbeat brings the port.
      assert.match(
        elsewhere.stderr,
        /Servers still use the database \((?:http:\/\/)?127\.0\.0\.1:\d+\): stop them/,
      )
    }

    const back = await carrel(['migrate', '--data', data, '--database', 'sqlite'], { env: onPostgres(url) })
    assert.equal(back.code, 0, back.stderr)
    assert.ok(existsSync(path.join(data, 'carrel.db.moved')), 'the older copy is kept')
    const refusedThere = await carrel(['serve', '--data', data, '--port', '0'], { env: onPostgres(url) })
    assert.match(refusedThere.stderr, /The data was moved to the database sqlite/)
    {
      await using server = await startServer({ data, env: onSqlite })
      await expectEverything(server, kept)
      assert.deepEqual(await download(new Client(server.url, kept.token), kept.library, '/later.bin'), later)
      await expectSound(data, onSqlite)
    }

    // The former database is known as such, and replaced.
    const third = await carrel(['migrate', '--data', data, '--database', url], { env: onSqlite })
    assert.equal(third.code, 0, third.stderr)
    await using server = await startServer({ data, env: onPostgres(url) })
    await expectEverything(server, kept)
  })

  it('copies every kind of row, in both directions', async () => {
    await using folder = await temporaryFolder()
    const data = folder.path
    await makeServer(data)
    await fillEveryTable(path.join(data, 'carrel.db'))
    const before = await dumpRows(sqliteIn(data))
    assert.deepEqual(
      Object.keys(before).filter((table) => before[table]?.length === 0),
      [],
      'a table has no row',
    )
    const there = postgresAt(await postgres.createDatabase())
    await moveDatabase({ from: sqliteIn(data), to: there })
    assert.deepEqual(await dumpRows(there), before)
    await using other = await temporaryFolder()
    await moveDatabase({ from: there, to: sqliteIn(other.path) })
    assert.deepEqual(await dumpRows(sqliteIn(other.path)), before)
    assert.deepEqual(await dumpRows(sqliteIn(data)), before, 'the source is unchanged')
    const keys = await nextKeys(sqliteIn(other.path))
    assert.deepEqual(keys, await nextKeys(sqliteIn(data)), 'keys of deleted rows are not used again')
  })

  it('goes on after it was killed at any step', async () => {
    await using folder = await temporaryFolder()
    const data = folder.path
    await makeServer(data)
    insertManyRows(path.join(data, 'carrel.db'))
    const before = await dumpRows(sqliteIn(data))
    const there = postgresAt(await postgres.createDatabase())
    await moveKilled(sqliteIn(data), there)
    assert.deepEqual(await dumpRows(there), before)
    await using other = await temporaryFolder()
    await moveKilled(there, sqliteIn(other.path))
    assert.deepEqual(await dumpRows(sqliteIn(other.path)), before)
  })

  it('finds a row that differs in the copy, and starts over', async () => {
    await using folder = await temporaryFolder()
    const data = folder.path
    const { library } = await makeServer(data)
    const url = await postgres.createDatabase()
    const there = postgresAt(url)
    const tamper = async () => {
      const client = new PostgresClient(url)
      await client.connect()
      await client.query("update library set name = 'Damaged' where id = $1", [library])
      await client.query('delete from audit_entry')
      await client.end()
    }
    let isTampered = false
    const onStep = async ({ table }: { table: string }) => {
      // After the tables that are changed, and before they are compared.
      if (table !== 'sync_token' || isTampered) return
      isTampered = true
      await tamper()
    }
    await assert.rejects(
      moveDatabase({ from: sqliteIn(data), to: there, onStep }),
      /\(the table library has other rows; the table audit_entry has 0 rows instead of \d+\)\. The original is unchanged/,
    )
    const unfinished = await carrel(['serve', '--data', data, '--port', '0'], { env: onPostgres(url) })
    assert.match(unfinished.stderr, /This database is an unfinished copy/)
    const being = await carrel(['serve', '--data', data, '--port', '0'], { env: onSqlite })
    assert.match(being.stderr, /The data is being moved to the database postgres/)
    await moveDatabase({ from: sqliteIn(data), to: there })
    assert.deepEqual(await dumpRows(there), await dumpRows(sqliteIn(data)))
  })

  it('refuses a target with other data, and changes nothing', async () => {
    await using folder = await temporaryFolder()
    const data = folder.path
    const kept = await makeServer(data)
    const foreign = await postgres.createDatabase()
    const client = new PostgresClient(foreign)
    await client.connect()
    await client.query('create table shopping (item text)')
    await client.end()
    const used = await postgres.createDatabase()
    await using otherData = await temporaryFolder()
    {
      await using _other = await startServer({ data: otherData.path, env: onPostgres(used) })
    }
    for (const url of [foreign, used]) {
      const refused = await carrel(['migrate', '--data', data, '--database', url], { env: onSqlite })
      assert.equal(refused.code, 1)
      assert.match(
        refused.stderr,
        /There is other data in the database postgres .*: name an empty one\. Nothing was changed/,
      )
    }
    await using server = await startServer({ data, env: onSqlite })
    await expectEverything(server, kept)
  })

  it('is cancelled by one command', async () => {
    await using folder = await temporaryFolder()
    const data = folder.path
    const kept = await makeServer(data)
    const url = await postgres.createDatabase()
    const nothing = await carrel(['migrate', '--cancel', '--data', data], { env: onSqlite })
    assert.match(nothing.stderr, /nothing to cancel/)
    assert.equal((await carrel(['migrate', '--data', data, '--database', url], { env: onSqlite })).code, 0)
    const other = await carrel(['migrate', '--data', data, '--database', await postgres.createDatabase()], {
      env: onSqlite,
    })
    assert.match(other.stderr, /A move to the database postgres .* was begun/)
    const cancelled = await carrel(['migrate', '--cancel', '--data', data], { env: onSqlite })
    assert.equal(cancelled.code, 0, cancelled.stderr)
    {
      await using server = await startServer({ data, env: onSqlite })
      await expectEverything(server, kept)
    }
    // The copy may have been in use since.
    const again = await carrel(['migrate', '--data', data, '--database', url], { env: onSqlite })
    assert.match(again.stderr, /There is other data/)
  })
})

/** What clients keep of a server. */
interface Kept {
  readonly library: string
  readonly token: string
  readonly link: string
  readonly sync: string
  readonly files: ReadonlyMap<string, Buffer>
}

/** Starts a server on SQLite, uses it, and stops it. */
async function makeServer(data: string): Promise<Kept> {
  await using server = await startServer({ data, env: onSqlite })
  const ann = await server.signUp({ email: 'ann@example.org', password: 'a long password' })
  const library = await ann.createLibrary('Papers')
  const files = new Map<string, Buffer>()
  // Small blocks are rows, large ones are files.
  for (const [name, size] of [
    ['/small.bin', 900],
    ['/medium.bin', 60_000],
    ['/large.bin', 300_000],
  ] as const) {
    files.set(name, randomBytes(size))
    await uploadFile(ann, library, name, files.get(name) ?? assert.fail())
  }
  const link = await ann.post('/api/v2.1/share-links/', {
    form: { repo_id: library, path: '/', password: 'link password' },
  })
  assert.equal(link.status, 200, link.text)
  const sync = await SyncClient.link(ann, library)
  const admin = await server.admin()
  const made = await admin.post('/api/v2.1/admin/users/', {
    form: { email: 'bob@example.org', password: 'a long password' },
  })
  assert.equal(made.status, 200, made.text)
  return { library, token: ann.token ?? assert.fail(), link: link.body.token, sync: sync.token, files }
}

async function expectEverything(
  server: TestServer,
  { library, token, link, sync, files }: Kept,
): Promise<void> {
  const ann = new Client(server.url, token)
  for (const [name, bytes] of files) assert.deepEqual(await download(ann, library, name), bytes, name)
  const shared = await new Client(server.url).call('GET', `/api/v2.1/share-links/${link}/dirents/`, {
    headers: { 'X-Link-Password': 'link password' },
  })
  assert.equal(shared.status, 200, shared.text)
  const client = new SyncClient(server.url, library, sync, 'ann@example.org')
  assert.match(await client.head(), /^[0-9a-f]{40}$/)
  await Client.signIn(server.url, 'bob@example.org', 'a long password')
  const found = await ann.get('/api2/search/', { q: 'medium' })
  assert.equal(found.status, 200, found.text)
}

async function expectSound(data: string, env: Record<string, string>): Promise<void> {
  const checked = await carrel(['check', '--read-data', '--data', data], { env })
  assert.equal(checked.code, 0, checked.stdout + checked.stderr)
}

/** Several transactions of one table. */
function insertManyRows(file: string): void {
  using db = new DatabaseSync(file)
  const insert = db.prepare('insert into small_block (id, data) values (?, ?)')
  db.exec('begin')
  for (let row = 0; row < 400; row++) insert.run(randomBytes(20), randomBytes(60_000))
  db.exec('commit')
}

/** Kills the move after more and more steps until it ends by itself. */
async function moveKilled(from: DatabaseSetting, to: DatabaseSetting): Promise<void> {
  const script = path.join(import.meta.dirname, 'killed-move.fixture.ts')
  let kills = 0
  for (let steps = 0; ; steps = steps * 3 + 2) {
    const run = spawnSync(
      process.execPath,
      [...nodeFlags(), script, JSON.stringify(from), JSON.stringify(to), String(steps)],
      {
        env: { ...process.env, ...environment },
        encoding: 'utf8',
      },
    )
    if (run.signal === null) {
      assert.equal(run.status, 0, run.stderr)
      break
    }
    assert.equal(run.signal, 'SIGKILL')
    kills++
  }
  assert.ok(kills >= 4, `only ${kills} kills`)
}

/** The flags of the launcher before the program. */
function nodeFlags(): string[] {
  return program.filter((part) => part.startsWith('--'))
}

async function nextKeys(setting: DatabaseSetting): Promise<unknown> {
  await using db = await openDatabase(setting, { onFatal: (error) => assert.fail(error) })
  return await db.all('select name, seq from sqlite_sequence where seq > 0 order by name')
}
