import assert from 'node:assert/strict'
import { cpSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { Client as PostgresClient } from 'pg'
import type { Row, Value } from '../../src/platform/database/database.ts'
import { migrations } from '../../src/platform/database/migrations/index.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { Client } from '../support/client.ts'
import { findPostgres } from '../support/postgres.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'

// Data folders as earlier versions left them, one for each set of schema steps that landed, written by the server of that
// time: accounts, libraries, shares, links and tokens of every kind. manifest.json has what clients kept of it. Not among them are schema 1, which had no server
// yet, and two states of the first day, before any release, whose steps 6 and 10 were still changed afterwards.

const FIXTURES = path.join(import.meta.dirname, '../fixtures/earlier-data')
/** The same, made on PostgreSQL: its dumps. */
const DUMPS = path.join(import.meta.dirname, '../fixtures/earlier-data-postgres')
/** When they were written: API tokens have not been idle for long. */
const THEN = 1_794_830_000
const SECRET = 'a secret for the fixture'
const LINK_PASSWORD = 'open sesame now'

/** What a version could not do yet is missing. */
interface Manifest {
  readonly library: string
  readonly sub?: string
  readonly link?: string
  readonly uploadLink?: string
  /** A tag of /docs/plan.md. */
  readonly tag?: string
  readonly tokens: Readonly<Record<'admin' | 'ann' | 'device' | 'bob', string>> &
    Readonly<Partial<Record<'personal' | 'library' | 'sync', string>>>
}

async function unpack(from: string): Promise<string> {
  const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-test-'))
  cpSync(path.join(from, 'manifest.json'), path.join(data, 'manifest.json'))
  for (const file of globSync('**/*.gz', { cwd: from })) {
    const to = path.join(data, file.slice(0, -'.gz'.length))
    mkdirSync(path.dirname(to), { recursive: true })
    writeFileSync(to, gunzipSync(readFileSync(path.join(from, file))))
  }
  return data
}

/** Puts the rows of a SQLite file into an empty PostgreSQL database of the same schema. */
async function moveToPostgres(file: string, url: string): Promise<void> {
  const source = new DatabaseSync(file, { readOnly: true })
  const all = (sql: string) => source.prepare(sql).all() as Row[]
  // Not all up to the newest: steps landed in another order than they are numbered.
  const applied = new Set(all('select version from schema_migration').map(({ version }) => version))
  const db = await openDatabase(
    { kind: 'postgres', url },
    { onFatal: () => {}, migrations: migrations.filter((step) => applied.has(step.version)) },
  )
  const tables = all("select name from sqlite_master where type = 'table' and name not like 'sqlite_%'").map(
    ({ name }) => String(name),
  )
  await db.write(async (tx) => {
    // Rows refer to each other, so the order would matter.
    await tx.run('set local session_replication_role = replica')
    for (const table of tables.filter((name) => name !== 'schema_migration')) {
      const rows = all(`select * from ${table}`)
      const columns = Object.keys(rows[0] ?? {})
      await tx.run(`delete from ${table}`)
      if (columns.length > 0) {
        await tx.insert(
          table,
          columns,
          rows.map((row) => columns.map((column): Value => row[column] ?? null)),
        )
      }
      if (columns.includes('key') && typeof rows[0]?.['key'] === 'number' && (await hasSequence(tx, table))) {
        await tx.get(
          `select setval(pg_get_serial_sequence('${table}', 'key'), (select max(key) from ${table}))`,
        )
      }
    }
  })
  await db[Symbol.asyncDispose]()
  source.close()
}

async function hasSequence(
  tx: { get<R extends object>(sql: string): Promise<R | undefined> },
  table: string,
): Promise<boolean> {
  const row = await tx.get<{ name: string | null }>(
    `select pg_get_serial_sequence('${table}', 'key') as name`,
  )
  return row?.name != null
}

async function expectEverything(server: TestServer, data: string): Promise<void> {
  const manifest = JSON.parse(readFileSync(path.join(data, 'manifest.json'), 'utf8')) as Manifest
  const { tokens, library } = manifest
  const by = (token: string) => new Client(server.url, token)
  for (const name of ['admin', 'ann', 'device', 'bob'] as const) {
    const reply = await by(tokens[name]).get('/api2/account/info/')
    assert.equal(reply.status, 200, `the API token of ${name}: ${reply.text}`)
  }
  const ann = by(tokens.ann)
  const names = async (client: Client, id: string) => {
    const { status, body, text } = await client.get(`/api2/repos/${id}/dir/`, { p: '/' })
    assert.equal(status, 200, text)
    return body.map((entry: { name: string }) => entry.name).sort()
  }
  assert.deepEqual(await names(ann, library), ['docs', 'note.txt'])
  if (manifest.sub !== undefined) {
    assert.deepEqual(await names(by(tokens.bob), library), ['docs', 'note.txt'])
    assert.deepEqual(await names(by(tokens.bob), manifest.sub), ['photo.bin', 'plan.md'])
  }
  if (tokens.personal !== undefined) {
    assert.deepEqual(await names(by(tokens.personal), library), ['docs', 'note.txt'])
  }
  if (tokens.library !== undefined) {
    const info = await by(tokens.library).get('/api/v2.1/via-repo-token/repo-info/')
    assert.equal(info.status, 200, info.text)
  }
  if (tokens.sync !== undefined) {
    const sync = new SyncClient(server.url, library, tokens.sync, 'ann@example.org')
    assert.match(await sync.head(), /^[0-9a-f]{40}$/)
  }

  const content = async (p: string) => {
    const link = await ann.get(`/api2/repos/${library}/file/`, { p })
    return Buffer.from(await (await fetch(link.body)).arrayBuffer())
  }
  assert.equal(String(await content('/note.txt')), 'second\n')
  assert.equal((await content('/docs/photo.bin')).length, 80_000)
  const history = await ann.get(`/api2/repos/${library}/file/history/`, { p: '/note.txt' })
  assert.equal(history.status, 200)

  if (manifest.tag !== undefined) {
    const { body } = await ann.get(`/api/v2.1/repos/${library}/dir/`, { p: '/docs' })
    const plan = body.dirent_list.find((entry: { name: string }) => entry.name === 'plan.md')
    assert.equal(plan.file_tags[0].tag_name, manifest.tag)
  }

  const visitor = new Client(server.url)
  if (manifest.link !== undefined) {
    const shared = await visitor.call('GET', `/api/v2.1/share-links/${manifest.link}/dirents/`, {
      headers: { 'X-Link-Password': LINK_PASSWORD },
    })
    assert.equal(shared.status, 200, shared.text)
    assert.equal((await visitor.get(`/u/d/${manifest.uploadLink}/`)).status, 200)
  }

  const made = await ann.post(`/api/v2.1/repos/${library}/file/`, {
    query: { p: '/new.txt' },
    form: { operation: 'create' },
  })
  assert.equal(made.status, 200, made.text)
  await Client.signIn(server.url, 'ann@example.org', 'a long password')
}

describe('data of an earlier version', () => {
  for (const name of readdirSync(DUMPS)) {
    it(`opens with everything in it: ${name}, a dump of PostgreSQL`, async (t) => {
      const found = await findPostgres()
      if (typeof found === 'string') return t.skip(found)
      await using postgres = found
      const data = await unpack(path.join(DUMPS, name))
      const url = await postgres.createDatabase()
      const client = new PostgresClient(url)
      await client.connect()
      await client.query(readFileSync(path.join(data, 'postgres.sql'), 'utf8'))
      await client.end()
      {
        const env = { CARREL_SECRET: SECRET, CARREL_DATABASE: url }
        await using server = await startServer({ data, env, now: () => THEN })
        await expectEverything(server, data)
      }
      await rm(data, { recursive: true })
    })
  }

  for (const name of readdirSync(FIXTURES)) {
    it(`opens with everything in it: ${name}, on SQLite`, async () => {
      const data = await unpack(path.join(FIXTURES, name))
      {
        await using server = await startServer({ data, env: { CARREL_SECRET: SECRET }, now: () => THEN })
        await expectEverything(server, data)
      }
      await rm(data, { recursive: true })
    })

    it(`opens with everything in it: ${name}, on PostgreSQL`, async (t) => {
      const found = await findPostgres()
      if (typeof found === 'string') return t.skip(found)
      await using postgres = found
      const data = await unpack(path.join(FIXTURES, name))
      const url = await postgres.createDatabase()
      await moveToPostgres(path.join(data, 'carrel.db'), url)
      {
        const env = { CARREL_SECRET: SECRET, CARREL_DATABASE: url }
        await using server = await startServer({ data, env, now: () => THEN })
        await expectEverything(server, data)
      }
      await rm(data, { recursive: true })
    })
  }
})
