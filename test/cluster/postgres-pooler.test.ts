import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Connection } from 'pg'
import { openDatabase } from '../../src/platform/database/open.ts'
import { at, Nodes } from '../support/nodes.ts'
import { startPgBouncer } from '../support/pgbouncer.ts'
import { findPostgres, type PostgresServer } from '../support/postgres.ts'
import { filePart, intoRoot, namesIn, postForm, uploadLink } from '../support/transfer.ts'

const found = await findPostgres()
const skip = typeof found === 'string' ? found : false

describe('PgBouncer in transaction mode', { skip }, () => {
  let postgres: PostgresServer
  before(() => {
    postgres = found as PostgresServer
  })
  after(() => postgres[Symbol.asyncDispose]())

  it('serves several nodes over few connections, and their statements are not mixed up', {
    timeout: 180_000,
  }, async (t) => {
    await using stack = new AsyncDisposableStack()
    const pooler = await startPgBouncer(await postgres.createWithSchema(), 4)
    if (pooler === undefined) return t.skip('pgbouncer is not installed')
    stack.use(pooler)
    const nodes = stack.use(await Nodes.create(postgres, { CARREL_DATABASE: pooler.url }))
    const servers = [await nodes.start(), await nodes.start(), await nodes.start()]
    const [first] = servers
    assert.ok(first !== undefined)
    const user = await first.signUp()
    const library = await user.createLibrary('Pooled')
    const names = servers.flatMap((_, node) =>
      Array.from({ length: 10 }, (_, number) => `${node}-${number}.txt`),
    )
    await Promise.all(
      servers.map(async (server, node) => {
        const link = await uploadLink(at(server, user), library)
        for (let number = 0; number < 10; number++) {
          const { status, text } = await postForm(link, [intoRoot, filePart(`${node}-${number}.txt`)])
          assert.equal(status, 200, text)
        }
      }),
    )
    for (const server of servers) {
      assert.deepEqual(await namesIn(at(server, user), library), names.toSorted())
    }
  })

  it('is detected, and settings of a transaction do not leak into others', async (t) => {
    await using stack = new AsyncDisposableStack()
    const pooler = await startPgBouncer(await postgres.createWithSchema(), 1)
    if (pooler === undefined) return t.skip('pgbouncer is not installed')
    stack.use(pooler)
    const messages: string[] = []
    const note = (_: object, message: string) => void messages.push(message)
    const logger = { info: note, warn: note, error: note }
    const onFatal = (error: Error) => assert.fail(error)
    const db = stack.use(await openDatabase({ kind: 'postgres', url: pooler.url }, { onFatal, logger }))
    assert.equal(messages.filter((message) => message.includes('a pooler is in front')).length, 1)
    await db.write((tx) => tx.get(`select set_config('carrel.test', 'x', true)`), { durable: false })
    for (let round = 0; round < 5; round++) {
      const row = await db.write((tx) =>
        tx.get(
          `select current_setting('synchronous_commit') as commits, current_setting('carrel.test', true) as test`,
        ),
      )
      assert.deepEqual([row?.['commits'], row?.['test'] || ''], ['on', ''])
    }
    assert.deepEqual(await db.all('select name from pg_prepared_statements'), [])
  })

  it('passes on results with bytes in binary format', async (t) => {
    await using stack = new AsyncDisposableStack()
    const pooler = await startPgBouncer(await postgres.createWithSchema(), 2)
    if (pooler === undefined) return t.skip('pgbouncer is not installed')
    stack.use(pooler)
    const onFatal = (error: Error) => assert.fail(error)
    const open = async (results: 'binary' | 'text') =>
      stack.use(await openDatabase({ kind: 'postgres', url: pooler.url }, { onFatal, results }))
    const [binary, text] = [await open('binary'), await open('text')]
    const rows = Array.from({ length: 20 }, (_, row) => ({
      id: Uint8Array.from({ length: 20 }, () => row),
      data: Uint8Array.from({ length: 3000 * row }, (_, at) => (at * 7 + row) % 256),
    }))
    await binary.write((tx) =>
      tx.insert(
        'small_block',
        ['id', 'data'],
        rows.map(({ id, data }) => [id, data]),
      ),
    )
    const binds = t.mock.method(Connection.prototype, 'bind')
    const sql = 'select id, data from small_block order by id'
    for (const db of [binary, text]) {
      for (let round = 0; round < 3; round++) {
        assert.deepEqual(await db.all(sql), rows)
        assert.deepEqual(await db.write((tx) => tx.all(sql)), rows)
      }
    }
    const formats = binds.mock.calls.map(
      ({ arguments: [bind] }) => (bind as unknown as { binary?: boolean }).binary,
    )
    assert.ok(formats.includes(true), 'no result was in binary format')
  })
})
