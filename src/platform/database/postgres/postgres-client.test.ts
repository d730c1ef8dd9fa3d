import assert from 'node:assert/strict'
import { it } from 'node:test'
import { findPostgres } from '../../../../test/support/postgres.ts'
import { Hosts } from './hosts.ts'
import { PostgresClient } from './postgres-client.ts'
import { Statement } from './statements.ts'

const found = await findPostgres()
const skip = typeof found === 'string' ? found : false

it('a batch is sent with one system call', { skip }, async (t) => {
  assert.ok(typeof found !== 'string')
  await using postgres = found
  const client = new PostgresClient({ hosts: new Hosts(await postgres.createDatabase()) })
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
