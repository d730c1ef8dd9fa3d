import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { describe, it } from 'node:test'
import { spawnServer } from '../support/child-server.ts'
import { Client } from '../support/client.ts'
import { startPostgres } from '../support/postgres.ts'
import { ADMIN, startServer } from '../support/server.ts'

const ROUNDS = 40
const CROWD = 8

describe('two processes over one database', () => {
  it('answer a pipelined request with everything committed before it was sent', {
    timeout: 120_000,
  }, async () => {
    await using stack = new AsyncDisposableStack()
    const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-two-'))
    stack.defer(() => rm(data, { recursive: true, force: true }))
    const onPostgres = process.env['CARREL_TEST_DATABASE'] === 'postgres'
    const postgres = onPostgres ? stack.use(await startPostgres()) : undefined
    const env: Record<string, string> = postgres ? { CARREL_DATABASE: await postgres.createWithSchema() } : {}
    const here = stack.use(await startServer({ data, env, sharesDataFolder: true }))
    const there = stack.use(await spawnServer(data, env))
    const client = await Client.signIn(there.url, ADMIN.email, ADMIN.password)
    const created = await client.post('/api2/repos/', { form: { name: 'first' } })
    assert.equal(created.status, 200, created.text)
    const { repo_id: id } = created.body as { repo_id: string }

    const { hostname, port } = new URL(here.url)
    const socket = connect(Number(port), hostname).setNoDelay(true)
    stack.defer(() => {
      socket.destroy()
    })
    await once(socket, 'connect')
    const request = `GET /api2/repos/${id}/ HTTP/1.1\r\nHost: here\r\nAuthorization: Token ${client.token}\r\n\r\n`
    // Requests that arrive together share the question whether another process has committed.
    const others = Array.from({ length: CROWD }, () => connect(Number(port), hostname).resume())
    stack.defer(() => {
      for (const other of others) other.destroy()
    })
    let received = ''
    socket.setEncoding('utf8').on('data', (text: string) => {
      received += text
    })
    const names = () =>
      Array.from(received.matchAll(/"(?:repo_)?name": ?"((?:first|round)[^"]*)"/g), ([, name]) => name)
    for (let round = 0; round < ROUNDS; round++) {
      const name = `round ${round}`
      // In progress while the other process commits.
      for (const one of [socket, ...others]) one.write(request)
      const renamed = await client.post(`/api2/repos/${id}/?op=rename`, { form: { repo_name: name } })
      assert.equal(renamed.status, 200, renamed.text)
      for (const one of [...others, socket]) one.write(request)
      while (names().length < (round + 1) * 2) {
        assert.doesNotMatch(received, /HTTP\/1.1 [^2]/)
        await once(socket, 'data')
      }
      assert.equal(names().at(-1), name)
    }
  })
})

describe('/metrics', () => {
  it('counts hits, misses, invalidations and evictions of the row cache', async () => {
    await using server = await startServer()
    const user = await server.signUp()
    const admin = await server.admin()
    const read = async () => {
      const { text } = await admin.get('/metrics')
      const value = (name: string) => {
        const line = text.split('\n').find((one) => one.startsWith(`${name} `))
        return Number(line?.slice(name.length + 1) ?? Number.NaN)
      }
      return {
        hits: value('carrel_row_cache_hits_total'),
        misses: value('carrel_row_cache_misses_total'),
        tables: value('carrel_row_cache_invalidations_total{scope="tables"}'),
        all: value('carrel_row_cache_invalidations_total{scope="all"}'),
        evictions: value('carrel_row_cache_evictions_total'),
        bytes: value('carrel_row_cache_bytes'),
      }
    }
    const before = await read()
    for (const value of Object.values(before)) assert.ok(value >= 0, JSON.stringify(before))
    for (let round = 0; round < 10; round++) assert.equal((await user.get('/api2/repos/')).status, 200)
    assert.equal((await user.post('/api2/repos/', { form: { name: 'one more' } })).status, 200)
    const after = await read()
    // Not 9: background jobs of the server commit as well, and each commit may invalidate what the next request reads.
    assert.ok(after.hits > before.hits, JSON.stringify([before, after]))
    assert.ok(after.misses > before.misses && after.bytes > 0)
    assert.ok(after.tables + after.all > before.tables + before.all)
  })
})
