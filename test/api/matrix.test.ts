import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { testSeed } from '../support/random.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { sample } from '../support/tier.ts'
import { runMatrix } from './matrix/run.ts'
import { Cast } from './matrix/stage.ts'
import { table } from './matrix/table.ts'

let server: TestServer
let cast: Cast
before(async () => {
  server = await startServer({
    env: { CARREL_WEBHOOK_PRIVATE: 'on', CARREL_SECURITY_CONTACT: 'security@example.org' },
  })
  cast = await Cast.make(server)
})
after(() => server[Symbol.asyncDispose]())

describe('every route, called by every role', () => {
  it('follows its policy, and does nothing for callers it rejects', async (t) => {
    const seed = testSeed()
    t.diagnostic(`seed ${seed} (repeat with CARREL_TEST_SEED=${seed})`)
    const endpoints = sample(server.running.endpoints, 40, seed)
    const { routes, calls, surprises } = await runMatrix(cast, endpoints, table)
    t.diagnostic(`${calls} calls of ${routes} routes`)
    assert.ok(surprises.length === 0, surprises.join('\n'))
  })

  it('is in the table, and nothing else is', () => {
    const served = new Set(server.running.endpoints.map(({ method, path }) => `${method} ${path}`))
    assert.deepEqual([...served].sort(), Object.keys(table).sort())
  })
})
