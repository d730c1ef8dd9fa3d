import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { after, it } from 'node:test'
import { findPostgres } from '../../../../test/support/postgres.ts'
import { Hosts } from './hosts.ts'
import { PostgresClient } from './postgres-client.ts'
import { connectPostgres } from './postgres-database.ts'
import { Statement } from './statements.ts'

const found = await findPostgres()
const skip = typeof found === 'string' ? found : false
after(async () => {
  if (typeof found !== 'string') await found[Symbol.asyncDispose]()
})

it('a batch is sent with one system call', { skip }, async (t) => {
  assert.ok(typeof found !== 'string')
  const client = new PostgresClient({ hosts: new Hosts(await found.createDatabase()) })
  await client.connect()
  try {
    // What a stream calls for each write to the system.
    const stream = client.connection.stream as unknown as Record<'_write' | '_writev', () => void>
    const writes = t.mock.method(stream, '_writev')
    const single = t.mock.method(stream, '_write')
    const add = new Statement('select $1::int + 1 as sum')
    const steps = [1, 2, 3].map((n) => ({ statement: add, values: [n] }))
    for (const round of [1, 2]) {
      const { outcomes, error } = await client.runBatch(steps, 10_000)
      assert.equal(error, undefined)
      assert.deepEqual(
        outcomes.map(({ rows }) => rows[0]?.['sum']),
        [2, 3, 4],
      )
      assert.equal(writes.mock.callCount(), round)
    }
    assert.equal(single.mock.callCount(), 0)
  } finally {
    await client.end()
  }
})

it('a connection that is ended with the message that opens it does not end the process', {
  skip,
}, async () => {
  assert.ok(typeof found !== 'string')
  const target = new URL(await found.createDatabase())
  const ready = Buffer.from('5a0000000549', 'hex')
  let toEnd = 1
  const proxy = createServer((client) => {
    const server = connect(Number(target.port), target.hostname)
    client.pipe(server).on('error', () => client.destroy())
    server.on('error', () => client.destroy())
    if (toEnd === 0) {
      server.pipe(client)
      return
    }
    toEnd -= 1
    // The message of a server that is restarted arrives together with that which opens the connection.
    server.on('data', (bytes) => {
      if (bytes.subarray(-ready.length).equals(ready)) client.end(Buffer.concat([bytes, fatal]))
      else client.write(bytes)
    })
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const url = new URL(target)
  url.port = String((proxy.address() as AddressInfo).port)
  try {
    await using db = connectPostgres({ url: url.href, onFatal: (error) => assert.fail(error) })
    const ask = () => db.write((tx) => tx.get('select 1 as one'))
    await assert.rejects(ask, { reason: 'unreachable' })
    assert.deepEqual(await ask(), { one: 1 })
  } finally {
    proxy.close()
  }
})

const fields = Buffer.from(
  ['SFATAL', 'VFATAL', 'C57P01', 'Mterminating connection due to administrator command', ''].join('\0') +
    '\0',
)
const fatal = Buffer.concat([Buffer.from('E'), Buffer.alloc(4), fields])
fatal.writeInt32BE(fatal.length - 1, 1)
