import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { confirmTime } from '../../src/platform/clock/index.ts'
import { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { eventually, uploadFile } from '../support/transfer.ts'

const DAY = 86_400
const NOW = 1_790_000_000
const IN_2099 = Date.UTC(2099, 0, 1) / 1000
const PURGE = 'libraries deleted long ago'

describe('a clock that jumps ahead', () => {
  let data: string
  let clock = { now: NOW, monotonic: 0 }
  let ann: { email: string; library: string; deleted: string }
  const start = () =>
    startServer({
      data,
      now: () => clock.now,
      monotonic: () => clock.monotonic,
      env: { CARREL_HISTORY_DAYS: '30' },
    })
  const signedIn = (server: TestServer) => Client.signIn(server.url, ann.email, 'a long password')
  const pass = (seconds: number) => {
    clock = { now: clock.now + seconds, monotonic: clock.monotonic + seconds }
  }
  /** Restarts begin a new monotonic clock. */
  const turnOff = (seconds: number) => {
    clock = { now: clock.now + seconds, monotonic: 0 }
  }
  const purged = (server: TestServer) =>
    eventually(async () =>
      assert.ok(server.running.services.maintenanceLog.list().some(({ name }) => name === PURGE)),
    )
  const deletedLibraries = async (client: Client) =>
    (await client.get('/api/v2.1/deleted-repos/')).body.length
  const commitsOf = async (server: TestServer) => {
    const { db } = server.running.services
    const sql = `select count(*) as n from commit_object where library_key = (select key from library where id = ?)`
    return (await db.get<{ n: number }>(sql, ann.library))?.n
  }

  before(async () => {
    data = await mkdtemp(path.join(os.tmpdir(), 'carrel-clock-'))
    await using server = await start()
    const client = await server.signUp({ password: 'a long password' })
    const library = await client.createLibrary('Papers')
    await uploadFile(client, library, '/a.txt', 'one')
    pass(60)
    await uploadFile(client, library, '/a.txt', 'two', { replace: true })
    const deleted = await client.createLibrary('Old')
    await client.delete(`/api2/repos/${deleted}/`)
    ann = { email: client.email, library, deleted }
  })
  after(() => rm(data, { recursive: true, force: true }))

  it('deletes nothing, whether the server runs or starts, and goes on when it is right again', async () => {
    {
      await using server = await start()
      const { services } = server.running
      const commits = await commitsOf(server)
      const right = clock
      clock = { ...clock, now: IN_2099 }
      await assert.rejects(services.gc.runOnce(), /^ClockJumped: The clock says 2099-01-01/)
      clock = right
      pass(60)
      await services.gc.runOnce()
      assert.equal(await commitsOf(server), commits)
    }
    const right = clock.now
    clock = { now: IN_2099, monotonic: 0 }
    {
      await using server = await start()
      await purged(server)
      const client = await signedIn(server)
      assert.equal(await deletedLibraries(client), 1)
      await assert.rejects(server.running.services.gc.runOnce(), { name: 'ClockJumped' })
      const metrics = (await (await server.admin()).get('/metrics')).text
      const ahead = Number(/^carrel_clock_jump_seconds (\S+)$/m.exec(metrics)?.[1])
      assert.ok(ahead > IN_2099 - right - 60, String(ahead))
    }
    clock = { now: right + 60, monotonic: 0 }
    await using server = await start()
    await purged(server)
    assert.equal(await deletedLibraries(await signedIn(server)), 1)
    await server.running.services.gc.runOnce()
    assert.equal(await deletedLibraries(await signedIn(server)), 1)
  })

  it('may be a weekend without power', async () => {
    turnOff(2 * DAY)
    await using server = await start()
    await server.running.services.gc.runOnce()
  })

  it('is trusted once an operator confirms it, and what has expired is deleted', async () => {
    turnOff(40 * DAY)
    {
      await using server = await start()
      const { services } = server.running
      await assert.rejects(services.gc.runOnce(), { name: 'ClockJumped' })
      await services.db.write((tx) => confirmTime(tx, clock.now))
      await services.clock?.look()
      await services.gc.runOnce()
    }
    await using server = await start()
    await purged(server)
    const { db } = server.running.services
    const left = await db.all(
      'select 1 as one from library where id = ? and deleted_at is not null',
      ann.deleted,
    )
    assert.deepEqual(left, [])
  })
})
