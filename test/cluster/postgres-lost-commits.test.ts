import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { openDatabase } from '../../src/platform/database/open.ts'
import { Nodes } from '../support/nodes.ts'
import { findPostgres, type PostgresServer } from '../support/postgres.ts'
import { PostgresProxy, type ProtocolMessage } from '../support/postgres-proxy.ts'
import { filePart, intoRoot, namesIn, postForm, uploadLink } from '../support/transfer.ts'

const found = await findPostgres()
const skip = typeof found === 'string' ? found : false

describe('a connection to PostgreSQL that is cut during a transaction', { skip }, () => {
  let postgres: PostgresServer
  before(() => {
    postgres = found as PostgresServer
  })
  after(() => postgres[Symbol.asyncDispose]())

  it('leaves its changes exactly once, at whatever message', { timeout: 300_000 }, async () => {
    const url = await postgres.createWithSchema()
    await using proxy = await PostgresProxy.start(url)
    const onFatal = (error: Error) => assert.fail(error)
    await using db = await openDatabase({ kind: 'postgres', url: proxy.url }, { onFatal })
    await using direct = await openDatabase({ kind: 'postgres', url }, { onFatal })
    await db.write((tx) => tx.run('create table left_row (cut bigint not null, part bigint not null)'))
    const write = (cut: number) =>
      db.write(async (tx) => {
        await tx.run('insert into left_row values (?, 1)', cut)
        await tx.run('insert into left_row values (?, 2)', cut)
      })
    // The schema is known, and the statements have names.
    for (let round = 0; round < 5; round++) await write(-1)
    let cut = 0
    const kinds = new Set<string>()
    for (const verdict of ['cut-before', 'cut-after'] as const) {
      for (let position = 0; ; position++) {
        let seen = 0
        const cuts: ProtocolMessage[] = []
        proxy.judge = (message) => {
          if (cuts.length > 0 || 'Xp'.includes(message.type) || message.type === 'startup') return 'forward'
          if (seen++ < position) return 'forward'
          cuts.push(message)
          return verdict
        }
        cut += 1
        await write(cut)
        if (seen <= position) break
        for (const { from, type } of cuts) kinds.add(`${verdict} ${from} ${type}`)
      }
    }
    proxy.judge = () => 'forward'
    assert.ok(kinds.has('cut-after client S') && kinds.has('cut-before server C'), [...kinds].join(', '))
    const rows = await direct.all<{ cut: number; parts: number }>(
      'select cut, count(*) as parts from left_row where cut > 0 group by cut order by cut',
    )
    assert.deepEqual(
      rows,
      Array.from({ length: cut }, (_, index) => ({ cut: index + 1, parts: 2 })),
    )
  })

  it('answers an upload whose commit lost its response with success, and stores it once', async () => {
    await using stack = new AsyncDisposableStack()
    const url = await postgres.createWithSchema()
    const proxy = stack.use(await PostgresProxy.start(url))
    const nodes = stack.use(await Nodes.create(postgres, { CARREL_DATABASE: proxy.url }))
    const server = await nodes.start()
    const client = await server.signUp()
    const library = await client.createLibrary('Lost responses')
    const link = await uploadLink(client, library)
    const names: string[] = []
    for (const verdict of ['cut-before', 'cut-after'] as const) {
      for (let number = 0; number < 5; number++) {
        let isCut = false
        proxy.judge = ({ from, type, body }) => {
          if (isCut || from !== 'server' || type !== 'C' || !body.includes('COMMIT')) return 'forward'
          isCut = true
          return verdict
        }
        const name = `${verdict}-${number}.txt`
        const { status, text } = await postForm(link, [intoRoot, filePart(name)])
        assert.equal(status, 200, text)
        names.push(name)
      }
    }
    proxy.judge = () => 'forward'
    assert.deepEqual(await namesIn(client, library), names.toSorted())
  })
})
