import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { beginRun, endRun } from '../../src/maintenance/backup/backup-run-store.ts'
import { finishPass, insertPass } from '../../src/maintenance/check/check-store.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { eventually, uploadFile } from '../support/transfer.ts'

const time = 1_754_000_000
const packageFile = path.join(import.meta.dirname, '../../package.json')

describe('the server status', () => {
  let server: TestServer
  let clock = time
  before(async () => {
    server = await startServer({ now: () => clock })
  })
  after(() => server[Symbol.asyncDispose]())

  const status = async () => {
    const reply = await (await server.admin()).get('/api/v2.1/admin/status/')
    assert.equal(reply.status, 200, reply.text)
    return reply.body
  }

  it('returns the version, the start time and the health', async () => {
    clock = time + 90
    const found = await status()
    const { version } = JSON.parse(readFileSync(packageFile, 'utf8'))
    const database = process.env['CARREL_TEST_DATABASE'] === 'postgres' ? 'postgres' : 'sqlite'
    assert.deepEqual(
      [found.version, found.database, found.blocks, found.uptime, found.started_at],
      [version, database, 'disk', 90, '2025-07-31T22:13:20+00:00'],
    )
    assert.equal(found.healthy, true)
    assert.deepEqual(found.checks, [
      { name: 'database', ok: true },
      { name: 'data-folder', ok: true },
    ])
    assert.ok(found.disk.free > 0 && found.disk.total >= found.disk.free)
    assert.deepEqual(found.tasks, { queued: 0, running: 0 })
    assert.deepEqual(
      [found.last_backup, found.last_verified_backup, found.backup_failure],
      [null, null, null],
    )
    assert.equal(found.last_check, null)
    assert.deepEqual([found.backup_unfinished_since, found.check_unfinished_since], [null, null])
  })

  it('returns since when a backup and a check have not finished', async () => {
    const { db } = server.running.services
    const unfinished = async () => {
      const { backup_unfinished_since, check_unfinished_since } = await status()
      return [backup_unfinished_since, check_unfinished_since].map((at) => at && Date.parse(at) / 1000)
    }
    const killed = await beginRun(db, { kind: 'backup', target: '/mnt/backup', now: time })
    const run = await beginRun(db, { kind: 'backup', target: '/mnt/backup', now: time + 10 })
    const pass = await insertPass(db, 'all', time + 20)
    assert.ok(killed < run)
    assert.deepEqual(await unfinished(), [time + 10, time + 20])
    await endRun(db, run, { outcome: 'failed', message: 'The disk is full.', now: time + 30 })
    await finishPass(db, pass.key, time + 30)
    assert.deepEqual(await unfinished(), [null, null])
  })

  it('returns the state of garbage collection', async () => {
    await server.running.services.gc.runOnce()
    const { gc } = await status()
    const { last_began_at, last_ended_at, ...rest } = gc
    assert.match(last_began_at, /^2025-/)
    assert.match(last_ended_at, /^2025-/)
    assert.deepEqual(rest, {
      running: false,
      failed: false,
      failure: null,
      deleted_blocks: 0,
      freed_bytes: 0,
      waiting_bytes: 0,
    })
  })

  it('sums up stored bytes by reason, with deleted libraries apart', async () => {
    const user = await server.signUp()
    const [kept, gone] = [await user.createLibrary(), await user.createLibrary()]
    await uploadFile(user, kept, '/a.bin', Buffer.alloc(1000, 1))
    await uploadFile(user, kept, '/a.bin', Buffer.alloc(3000, 2), { replace: true })
    await uploadFile(user, gone, '/b.bin', Buffer.alloc(500, 3))
    for (const id of [kept, gone]) await user.get(`/api/v2.1/repos/${id}/usage/`)
    await user.delete(`/api2/repos/${gone}/`)
    const { stored } = await status()
    assert.deepEqual(
      [stored.current, stored.history, stored.trash, stored.unreferenced, stored.deleted],
      [3000, 1000, 0, 0, 500],
    )
    assert.equal(stored.uncounted_repos, 0)
  })

  it('returns the progress of the index and the results of maintenance', async () => {
    await eventually(async () => {
      const { search, maintenance } = await status()
      assert.deepEqual(search, { commits_behind: 0, seconds_behind: 0, texts_waiting: 0, texts_failed: 0 })
      const names = maintenance.map(({ name }: { name: string }) => name)
      assert.ok(names.includes('expired tickets') && names.includes('libraries deleted long ago'))
    })
    const { maintenance, upkeep } = await status()
    assert.deepEqual(upkeep, maintenance, 'the former name')
    assert.ok(maintenance.every(({ failed }: { failed: boolean }) => !failed))
  })

  it('is for administrators only', async () => {
    const user = await server.signUp()
    assert.equal((await user.get('/api/v2.1/admin/status/')).status, 403)
    assert.equal((await server.anonymous.get('/api/v2.1/admin/status/')).status, 403)
  })
})
