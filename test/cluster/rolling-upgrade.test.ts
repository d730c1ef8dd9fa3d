import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { Client as PostgresClient } from 'pg'
import { knownSchemaVersion, openDatabase } from '../../src/platform/database/index.ts'
import { Client } from '../support/client.ts'
import { environment, serve } from '../support/command.ts'
import { findPostgres, type PostgresServer, startPostgres } from '../support/postgres.ts'
import { ADMIN, startServer } from '../support/server.ts'
import { eventually, uploadFile } from '../support/transfer.ts'

const found = await findPostgres()
const skip = typeof found === 'string' ? found : false
const [EXPANDED, CONTRACTED] = [knownSchemaVersion + 1, knownSchemaVersion + 2]

/** A server of a later version in a process of its own. */
interface NextVersion extends AsyncDisposable {
  readonly url: string
  /** Its log entries so far. */
  readonly lines: readonly Record<string, unknown>[]
  /** Its exit code. */
  readonly ended: Promise<number | null>
}

describe('a rolling upgrade', { skip }, () => {
  let postgres: PostgresServer
  let data: string
  let env: Record<string, string>
  let sql: PostgresClient

  before(async () => {
    postgres = typeof found === 'string' ? assert.fail(found) : found
    data = await mkdtemp(path.join(os.tmpdir(), 'carrel-upgrade-'))
    const url = await postgres.createDatabase()
    env = {
      CARREL_DATABASE: url,
      CARREL_SECRET: 'a secret of the test',
      CARREL_ADMIN_EMAIL: ADMIN.email,
      CARREL_ADMIN_PASSWORD: ADMIN.password,
      CARREL_PRE_MIGRATION_BACKUP: 'off',
    }
    sql = new PostgresClient(url)
    await sql.connect()
  })
  after(async () => {
    await sql.end()
    await postgres[Symbol.asyncDispose]()
    await rm(data, { recursive: true, force: true })
  })

  const startOld = () => serve(['--data', data], { env })
  const hasStep = async (version: number) =>
    (await sql.query('select 1 from schema_migration where version = $1', [version])).rowCount === 1

  /** Resolves to what it said if it was refused. */
  async function startNext(...steps: string[]): Promise<NextVersion | string> {
    const script = path.join(import.meta.dirname, 'next-version.fixture.ts')
    const settings = {
      CARREL_DATA: data,
      CARREL_PORT: '0',
      CARREL_TEST_RESERVE_MB: '0',
      CARREL_UNSAFE_STORAGE: 'allow',
    }
    const child = spawn(process.execPath, [script, ...steps], {
      env: { ...environment, PATH: process.env['PATH'] ?? '', ...settings, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const errors = text(child.stderr)
    const ended = once(child, 'close').then(([code]: (number | null)[]) => code ?? null)
    const lines: Record<string, unknown>[] = []
    const ready = Promise.withResolvers<string | undefined>()
    createInterface({ input: child.stdout })
      .on('line', (line) => {
        const entry = JSON.parse(line) as Record<string, unknown>
        if (typeof entry['url'] === 'string') ready.resolve(entry['url'])
        else lines.push(entry)
      })
      .once('close', () => ready.resolve(undefined))
    const url = await ready.promise
    if (url === undefined) return errors
    return {
      url,
      lines,
      ended,
      async [Symbol.asyncDispose]() {
        if (child.exitCode === null) child.kill('SIGTERM')
        await ended
      },
    }
  }

  async function startWorking(...steps: string[]): Promise<NextVersion> {
    const started = await startNext(...steps)
    return typeof started === 'string' ? assert.fail(started) : started
  }

  async function expectWorking(url: string, name: string): Promise<void> {
    const admin = await Client.signIn(url, ADMIN.email, ADMIN.password)
    const library = await admin.createLibrary(name)
    await uploadFile(admin, library, '/a.txt', Buffer.from(name))
  }

  it('goes on with nodes of both versions, and contracts when the last older one has stopped', async () => {
    await using old = await startOld()
    // PostgreSQL has prepared the statements of the old node when the new one changes the table that they read.
    for (let i = 1; i <= 4; i++) await expectWorking(old.url, `made before the upgrade ${i}`)
    await using next = await startWorking('expand', 'contract')
    const waits = () => next.lines.filter(({ step }) => step === CONTRACTED).map(({ nodes }) => nodes)
    // The step that older nodes can work with is applied, the other one waits, and says for whom.
    const { rows } = await sql.query('select kind from schema_migration where version = $1', [EXPANDED])
    assert.equal(rows[0]?.kind, 'expand')
    assert.match(String(waits()[0]), /^\S*127\.0\.0\.1:\d+ \(version \d+\.\d+\.\d+\S*\)$/)
    for (let i = 1; i <= 2; i++) {
      await expectWorking(old.url, `made by the old version ${i}`)
      await expectWorking(next.url, `made by the next version ${i}`)
    }
    {
      // An older node may also start after the first step.
      await using another = await startWorking()
      await eventually(async () => assert.equal((waits().at(-1) as string[]).length, 2))
      await old.stop()
      await eventually(async () => assert.equal((waits().at(-1) as string[]).length, 1))
      assert.equal(await hasStep(CONTRACTED), false)
      await expectWorking(another.url, 'made by another node of the old version')
    }
    await eventually(async () => assert.ok(await hasStep(CONTRACTED)))
    await expectWorking(next.url, 'made after the contraction')
    await assert.rejects(
      startOld(),
      new RegExp(
        `schema version ${CONTRACTED}, and this version of Carrel knows only up to ${knownSchemaVersion}`,
      ),
    )
  })

  it('refuses a version whose next step is needed, and says which nodes are too old for it', async () => {
    {
      await using _running = await startWorking('expand', 'contract')
      for (const steps of [
        ['expand', 'contract', 'exclusive'],
        ['expand', 'contract', 'contract', 'expand'],
      ]) {
        const refused = await startNext(...steps)
        assert.match(
          typeof refused === 'string' ? refused : 'it started',
          new RegExp(
            `needs step ${CONTRACTED + 1} of the schema .*could not work: (?:http://)?127\\.0\\.0\\.1:\\d+ \\(version`,
          ),
        )
        assert.equal(await hasStep(CONTRACTED + 1), false)
      }
    }
    await using alone = await startWorking('expand', 'contract', 'exclusive')
    assert.ok(await hasStep(CONTRACTED + 1))
    await expectWorking(alone.url, 'made alone')
  })

  it('stops a node that was paused while another one contracted the schema', async () => {
    await using paused = await startWorking('expand', 'contract', 'exclusive')
    await sql.query('insert into schema_migration (version, name, applied_at, kind) values ($1, $2, 0, $3)', [
      CONTRACTED + 2,
      'contract by another node',
      'contract',
    ])
    assert.equal(await paused.ended, 9)
    assert.ok(paused.lines.some(({ msg }) => msg === 'another node changed the schema; stopping'))
  })
})

describe('an upgrade of a database from before nodes had rows', { skip }, () => {
  it('is refused while an older server is connected, and changes nothing', async () => {
    await using postgres = await startPostgres()
    const url = await postgres.createDatabase()
    const setting = { kind: 'postgres', url } as const
    const onFatal = (error: Error) => assert.fail(error)
    const before = await openDatabase(setting, { onFatal, upToVersion: 33 })
    await before[Symbol.asyncDispose]()
    const older = new PostgresClient({ connectionString: url, application_name: 'carrel' })
    older.on('error', () => {})
    await older.connect()
    const start = () => startServer({ env: { CARREL_DATABASE: url, CARREL_PRE_MIGRATION_BACKUP: 'off' } })
    await assert.rejects(
      start,
      /these servers could not work: an older Carrel at 127\.0\.0\.1\. Stop them, and start again/,
    )
    const { rows } = await older.query('select max(version)::int as version from schema_migration')
    assert.deepEqual(rows, [{ version: 33 }])
    await older.end()
    // PostgreSQL ends the session a moment later.
    await eventually(async () => {
      await using server = await start()
      assert.equal((await fetch(`${server.url}/readyz`)).status, 200)
    })
  })
})
