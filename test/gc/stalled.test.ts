import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, it } from 'node:test'
import { Client as PostgresSession } from 'pg'
import { lockOf } from '../../src/platform/database/postgres/mutex.ts'
import { spawnServer } from '../support/child-server.ts'
import { Client, type Reply } from '../support/client.ts'
import { ClockShim } from '../support/clock-shim.ts'
import { carrel, carrelProcess } from '../support/command.ts'
import { onBothDatabases } from '../support/databases.ts'
import { ADMIN } from '../support/server.ts'
import { makeTree, SyncClient } from '../support/sync-client.ts'
import { eventually, filePart, intoRoot, postForm, uploadLink } from '../support/transfer.ts'
import { DavClient } from '../webdav/dav-client.ts'

/** Longer than a lease. */
const STALL_SECONDS = 700
const LARGE = 200_000

/** What a client that writes needs. */
interface Writing {
  readonly client: Client
  readonly library: string
}

/** Stops the server where it has to wait for this, before the transaction that refers to what it has stored. */
interface Gate extends AsyncDisposable {
  close(): Promise<void>
  open(): Promise<void>
}

type Send = (bytes: Buffer) => Promise<Reply>

/** Each stores blocks before a transaction refers to them. What it needs before is done first. */
const writers: Record<string, (writing: Writing) => Promise<Send>> = {
  'an upload': async ({ client, library }) => {
    const link = await uploadLink(client, library)
    return (bytes) => postForm(link, [intoRoot, filePart('new.bin', bytes)])
  },
  'a chunk of an upload': async ({ client, library }) => {
    const link = await uploadLink(client, library)
    const headers = { 'Content-Range': `bytes 0-${LARGE - 1}/${2 * LARGE}` }
    return (bytes) => postForm(link, [intoRoot, filePart('chunks.bin', bytes)], { headers })
  },
  'a PUT over WebDAV': async ({ client }) => {
    const dav = new DavClient(client.url, ADMIN.email, ADMIN.password)
    await dav.names('/dav/')
    return (bytes) => dav.put(`/dav/Stalled/dav.bin`, bytes)
  },
  'a block of a sync client': async ({ client, library }) => {
    const sync = await SyncClient.link(client, library)
    await sync.head()
    return (bytes) => {
      const [[id, block] = assert.fail('no block')] = makeTree({ 'new.bin': bytes }, sync.email).blocks
      return sync.call('PUT', `block/${id}`, block)
    }
  },
}

onBothDatabases('a server that stood still for longer than its lease', (fresh) => {
  let clocks: ClockShim
  before(async () => {
    clocks = await ClockShim.build()
  })
  after(() => clocks[Symbol.asyncDispose]())

  it('refuses what it has stored blocks for, and takes it when repeated', { timeout: 300_000 }, async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using on = await start(database)
    const { server, client, data, env } = on
    const sync = await SyncClient.link(
      client,
      bodyOf(await client.post('/api2/repos/', { form: { name: 'Sync' } })).repo_id,
    )
    const pushed = { 'pushed.bin': randomBytes(LARGE) }
    const commit = await sync.send(pushed, await sync.head())
    const sent = await storedBlocks(data)
    const sends = new Map<string, () => Promise<Reply>>()
    for (const [name, prepare] of Object.entries(writers)) {
      const send = await prepare(on)
      const bytes = randomBytes(LARGE)
      sends.set(name, () => send(bytes))
    }
    await using gate = on.url === undefined ? gateOfSqlite(data) : await gateOfPostgres(on.url)
    await gate.close()
    const answers = [...sends].map(async ([name, send]) => ({ name, answer: await send() }))
    const answering = Promise.all(answers)
    answering.catch(() => {})
    await eventually(async () => assert.equal((await storedBlocks(data)).length, sent.length + sends.size))
    server.process.kill('SIGSTOP')
    await gate.open()
    for (let run = 0; (await storedBlocks(data)).length > sent.length; run += 1) {
      assert.ok(run < 10, 'nothing is collected')
      const shifted = { ...env, ...clocks.environment(STALL_SECONDS + 20 * run) }
      const done = await carrelProcess(['gc', '--json', '--data', data, '--gc-grace-seconds', '0'], {
        env: shifted,
      })
      assert.equal(done.code, 0, done.stderr)
    }
    server.process.kill('SIGCONT')
    for (const { name, answer } of await answering) {
      assert.equal(answer.status, 503, `${name}: ${answer.status} ${answer.text}`)
    }
    for (const [name, send] of sends) {
      await eventually(async () => {
        const { status, text } = await send()
        assert.ok(status === 200 || status === 201, `${name}: ${status} ${text}`)
      })
    }
    assert.equal((await storedBlocks(data)).length, sent.length + sends.size)
    assert.equal((await sync.putHead(commit)).status, 200)
    assert.deepEqual((await sync.clone()).get('/pushed.bin'), pushed['pushed.bin'])
    await server.stop()
    const check = await carrel(['check', '--read-data', '--data', data], { env })
    assert.equal(check.code, 0, check.stdout + check.stderr)
  })

  it('holds nothing back once it was killed', { timeout: 120_000 }, async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using on = await start(database)
    const { server, data, env } = on
    const send = await (writers['an upload'] ?? assert.fail())(on)
    await using gate = on.url === undefined ? gateOfSqlite(data) : await gateOfPostgres(on.url)
    await gate.close()
    const answering = assert.rejects(send(randomBytes(LARGE)))
    await eventually(async () => assert.equal((await storedBlocks(data)).length, 1))
    const collect = async () => {
      const done = await carrel(['gc', '--json', '--data', data, '--gc-grace-seconds', '0'], { env })
      assert.equal(done.code, 0, done.stderr)
      return JSON.parse(done.stdout) as { libraries: { reasons: string[] }[] }
    }
    await server.kill()
    await answering
    await gate.open()
    for (let run = 0; (await storedBlocks(data)).length > 0; run += 1) {
      // Each of the three steps is a second after the one before.
      assert.ok(run < 30, 'the lease of the killed server counts')
      const { libraries } = await collect()
      assert.doesNotMatch(JSON.stringify(libraries), /operation/)
    }
  })
})

type Fresh = NonNullable<Awaited<ReturnType<Parameters<Parameters<typeof onBothDatabases>[1]>[0]>>>

/** A server in a process of its own with one library. */
async function start({ setting }: Fresh) {
  await using opened = new AsyncDisposableStack()
  const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-stalled-'))
  opened.defer(() => rm(data, { recursive: true, force: true }))
  const url = setting?.kind === 'postgres' ? setting.url : undefined
  const env: Record<string, string> = url === undefined ? {} : { CARREL_DATABASE: url }
  const server = opened.use(await spawnServer(data, env))
  const client = await Client.signIn(server.url, ADMIN.email, ADMIN.password)
  const library: string = bodyOf(await client.post('/api2/repos/', { form: { name: 'Stalled' } })).repo_id
  const kept = opened.move()
  return { data, env, url, server, client, library, [Symbol.asyncDispose]: () => kept[Symbol.asyncDispose]() }
}

function bodyOf(reply: Reply) {
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

/** The names of the files of all blocks. */
async function storedBlocks(data: string): Promise<string[]> {
  const entries = await readdir(path.join(data, 'blocks'), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).flatMap(({ name }) => /^[0-9a-f]{30,40}$/.exec(name) ?? [])
}

/** The write lock. */
function gateOfSqlite(data: string): Gate {
  const db = new DatabaseSync(path.join(data, 'carrel.db'), { timeout: 10_000 })
  const open = async () => {
    if (db.isTransaction) db.exec('rollback')
  }
  return {
    close: async () => db.exec('begin immediate'),
    open,
    async [Symbol.asyncDispose]() {
      await open()
      db.close()
    },
  }
}

/** The turn of the library, before the transaction of an edit, and the tables of blocks, in other transactions. */
async function gateOfPostgres(url: string): Promise<Gate> {
  const session = new PostgresSession({ connectionString: url })
  await session.connect()
  return {
    async close() {
      await session.query('begin')
      const { rows } = await session.query<{ key: string }>(`select key from library where name = 'Stalled'`)
      await session.query('select pg_advisory_xact_lock($1::int, $2::int)', lockOf(Number(rows[0]?.key)))
      await session.query('lock table staged_block, library_block in share row exclusive mode')
    },
    open: async () => void (await session.query('rollback')),
    [Symbol.asyncDispose]: () => session.end(),
  }
}
