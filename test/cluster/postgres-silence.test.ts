import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { openDatabase } from '../../src/platform/database/open.ts'
import { silence } from '../../src/platform/database/postgres/deadlines.ts'
import { waitLimits } from '../../src/platform/database/request-waits.ts'
import { Nodes } from '../support/nodes.ts'
import { findPostgres, type PostgresServer } from '../support/postgres.ts'
import { PostgresProxy, type ProtocolMessage } from '../support/postgres-proxy.ts'
import { eventually, filePart, intoRoot, namesIn, postForm, uploadLink } from '../support/transfer.ts'

const found = await findPostgres()
const skip = typeof found === 'string' ? found : false
const onFatal = (error: Error) => assert.fail(error)

/** Far below those of a server, and above what a busy machine needs. */
const REQUEST_MS = 6000
const SILENT_MS = 100

describe('a connection to PostgreSQL that goes silent', { skip }, () => {
  const usual = { requestMs: waitLimits.requestMs, silentMs: silence.ms }
  let postgres: PostgresServer
  before(() => {
    postgres = found as PostgresServer
    waitLimits.requestMs = REQUEST_MS
    silence.ms = SILENT_MS
  })
  after(async () => {
    waitLimits.requestMs = usual.requestMs
    silence.ms = usual.silentMs
    await postgres[Symbol.asyncDispose]()
  })

  it('during a transaction is replaced within seconds, at whatever message, and its changes are made once', {
    timeout: 300_000,
  }, async () => {
    const url = await postgres.createWithSchema()
    await using proxy = await PostgresProxy.start(url)
    await using db = await openDatabase({ kind: 'postgres', url: proxy.url }, { onFatal })
    await using direct = await openDatabase({ kind: 'postgres', url }, { onFatal })
    await db.write((tx) => tx.run('create table silent_row (cut bigint not null, part bigint not null)'))
    const write = (cut: number) =>
      db.write(async (tx) => {
        await tx.run('insert into silent_row values (?, 1)', cut)
        await tx.run('insert into silent_row values (?, 2)', cut)
      })
    for (let round = 0; round < 5; round++) await write(-1)
    let cut = 0
    let slowestMs = 0
    const kinds = new Set<string>()
    for (const verdict of ['silence-before', 'silence-after'] as const) {
      for (let position = 0; ; position++) {
        let seen = 0
        const silenced: ProtocolMessage[] = []
        proxy.judge = (message) => {
          if (silenced.length > 0 || 'Xp'.includes(message.type) || message.type === 'startup')
            return 'forward'
          if (seen++ < position) return 'forward'
          silenced.push(message)
          return verdict
        }
        cut += 1
        const began = performance.now()
        await write(cut)
        slowestMs = Math.max(slowestMs, performance.now() - began)
        if (seen <= position) break
        for (const { from, type } of silenced) kinds.add(`${verdict} ${from} ${type}`)
      }
    }
    proxy.judge = () => 'forward'
    assert.ok(
      kinds.has('silence-after client S') && kinds.has('silence-before server C'),
      [...kinds].join(', '),
    )
    // 5 s of it if the silent one is being opened.
    assert.ok(slowestMs < REQUEST_MS + 5000, `a transaction took ${slowestMs} ms`)
    const rows = await direct.all<{ cut: number; parts: number }>(
      'select cut, count(*) as parts from silent_row where cut > 0 group by cut order by cut',
    )
    assert.deepEqual(
      rows,
      Array.from({ length: cut }, (_, index) => ({ cut: index + 1, parts: 2 })),
    )
  })

  it('leaves a slow statement alone, on which the server works', async () => {
    const url = await postgres.createWithSchema()
    await using db = await openDatabase({ kind: 'postgres', url }, { onFatal })
    let runs = 0
    await db.write(async (tx) => {
      runs += 1
      await tx.get('select pg_sleep(2)')
    })
    assert.equal(runs, 1)
  })

  it('is no reason to take a commit for lost whose receipt may have been deleted', async () => {
    const url = await postgres.createWithSchema()
    await using proxy = await PostgresProxy.start(url)
    await using db = await openDatabase({ kind: 'postgres', url: proxy.url }, { onFatal })
    await using direct = await openDatabase({ kind: 'postgres', url }, { onFatal })
    await db.write((tx) => tx.run('create table late_row (name text not null)'))
    const write = (name: string) => db.write((tx) => tx.run('insert into late_row values (?)', name))
    for (let round = 0; round < 5; round++) await write('known')
    // The time at which the transaction began is changed on its way to the node, as if the node had been suspended for ten minutes since.
    let isSilent = false
    let isDeleted = false
    // Others may commit meanwhile: old receipts are deleted beside the first writes.
    let written: number | undefined
    proxy.judge = ({ from, type, body }, connection) => {
      if (body.includes('carrel_claim_receipt') && !isDeleted) return 'cut-before'
      if (type === 'B' && body.includes('late and lost')) written = connection
      if (isSilent || from !== 'server') return 'forward'
      if (type === 'D') shiftTime(body)
      isSilent = connection === written && type === 'C' && body.includes('COMMIT')
      return isSilent ? 'silence-before' : 'forward'
    }
    const outcome = assert.rejects(write('late and lost'), { reason: 'uncertain' })
    await eventually(async () => assert.ok(isSilent))
    await direct.write((tx) => tx.run('delete from committed_transaction'))
    isDeleted = true
    await outcome
    const rows = await direct.all("select name from late_row where name = 'late and lost'")
    assert.equal(rows.length, 1)
  })

  it('with each transaction refuses edits at the deadline of their requests, says so in /readyz, and goes on', {
    timeout: 120_000,
  }, async () => {
    await using stack = new AsyncDisposableStack()
    const url = await postgres.createWithSchema()
    const proxy = stack.use(await PostgresProxy.start(url))
    const nodes = stack.use(await Nodes.create(postgres, { CARREL_DATABASE: proxy.url }))
    const server = await nodes.start()
    const client = await server.signUp()
    const library = await client.createLibrary('Silent')
    const link = await uploadLink(client, library)
    const upload = (name: string) => postForm(link, [intoRoot, filePart(name)])
    assert.equal((await upload('before.txt')).status, 200)
    // Reads are answered, so that only writers are stuck.
    proxy.judge = ({ from, type, body }) =>
      from === 'client' && type === 'B' && body.includes('carrel_durably') ? 'silence-before' : 'forward'
    const began = performance.now()
    const answers = Promise.all(['a.txt', 'b.txt', 'c.txt'].map(upload))
    await eventually(async () => {
      const ready = await fetch(`${server.url}/readyz`)
      const { reason, checks } = (await ready.json()) as { reason?: string; checks: { writers: string } }
      assert.deepEqual([ready.status, checks.writers], [503, 'stuck'])
      assert.equal(reason, 'Changes of libraries wait for the database.')
    })
    for (const { status, text } of await answers)
      assert.ok(status === 503 || status === 504, `${status} ${text}`)
    const ms = performance.now() - began
    assert.ok(ms < 3 * REQUEST_MS, `answered after ${ms} ms`)
    proxy.judge = () => 'forward'
    proxy.cut()
    await eventually(async () => assert.equal((await fetch(`${server.url}/readyz`)).status, 200))
    assert.equal((await upload('after.txt')).status, 200)
    const names = await namesIn(client, library)
    assert.equal(new Set(names).size, names.length)
    assert.ok(names.includes('before.txt') && names.includes('after.txt'))
  })
})

/** Ten minutes earlier, where a row has one column that is a time of now. */
function shiftTime(body: Buffer): void {
  const now = Math.floor(Date.now() / 1000)
  const text = body.toString('latin1')
  for (const match of text.matchAll(/1\d{9}/g)) {
    const found = Number(match[0])
    if (Math.abs(found - now) < 5) body.write(String(found - 600), match.index, 'latin1')
  }
}
