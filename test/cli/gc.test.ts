import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import { Client } from '../support/client.ts'
import { carrel, carrelProcess, serve } from '../support/command.ts'
import { ADMIN, startServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'

// Most suites run each command in a process of its own, and so show that it ends. Those that collect again and again use a warm one.

// What one collection condemns is freed by one that begins in a later second, and several may run in one.
const MAX_RUNS = 100

describe('carrel gc', { timeout: 300_000 }, () => {
  it('collects beside a running server, and counts only in a dry run', async () => {
    const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-gc-'))
    try {
      const without = await carrelProcess(['gc', '--data', data])
      assert.deepEqual([without.code, /There is no data of Carrel/.test(without.stderr)], [1, true])
      await using server = await serve(['--data', data])
      const unknown = await carrelProcess(['gc', '--data', data, '--library', 'nonsense'])
      assert.deepEqual([unknown.code, /not the id of a library/.test(unknown.stderr)], [2, true])
      for (const options of [[], ['--dry-run']]) {
        const done = await carrelProcess(['gc', '--json', '--data', data, ...options])
        assert.equal(done.code, 0, done.stderr)
        const report = JSON.parse(done.stdout) as { dryRun: boolean; freedBytes: number }
        assert.deepEqual([report.dryRun, report.freedBytes], [options.length > 0, 0])
      }
      const printed = await carrelProcess(['gc', '--data', data])
      assert.match(printed.stdout, /^Deleted: 0 commits, 0 objects/m)
      assert.equal((await server.stop()).code, 0)
      assert.equal((await carrelProcess(['gc', '--data', data])).code, 0)
    } finally {
      await rm(data, { recursive: true })
    }
  })
})

describe('carrel backup, check and gc beside a server', { timeout: 300_000 }, () => {
  it('are shown on the status page of the server', async () => {
    const target = await mkdtemp(path.join(os.tmpdir(), 'carrel-backup-'))
    try {
      await using server = await startServer()
      const admin = await server.admin()
      const status = async () => (await admin.get('/api/v2.1/admin/status/')).body
      const before = await status()
      assert.deepEqual([before.gc.last_ended_at, before.last_backup, before.last_check], [null, null, null])
      for (const args of [['backup', target], ['check'], ['gc']]) {
        const done = await carrelProcess([...args, '--data', server.data])
        assert.equal(done.code, 0, done.stderr)
      }
      const after = await status()
      for (const time of [
        after.gc.last_began_at,
        after.gc.last_ended_at,
        after.last_backup,
        after.last_check,
      ])
        assert.match(time, /^20\d\d-/)
      assert.deepEqual(
        [after.gc.running, after.gc.failed, after.backup_unfinished_since, after.check_unfinished_since],
        [false, false, null, null],
      )
    } finally {
      await rm(target, { recursive: true })
    }
  })
})

describe('carrel gc without a server', { timeout: 300_000 }, () => {
  it('frees commits that the activity feed had not processed when the server stopped, and keeps the feed complete', async () => {
    const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-gc-'))
    try {
      const expected: string[] = []
      {
        await using server = await startServer({ data })
        const admin = await server.admin()
        const library = await admin.createLibrary('Plans')
        await admin.put(`/api2/repos/${library}/history-limit/`, { form: { keep_days: 0 } })
        for (const name of ['one', 'two', 'three']) {
          await uploadFile(admin, library, `/${name}`, randomBytes(200_000))
          await admin.delete(`/api/v2.1/repos/${library}/file/`, { query: { p: `/${name}` } })
        }
        expected.push(...(await feedOf(admin)))
      }
      // As if the server had been killed before it processed any commit.
      const db = new DatabaseSync(path.join(data, 'carrel.db'))
      db.exec(
        "delete from activity where seq is not null; update follower set seq = 0 where name like 'activity%'",
      )
      db.close()
      const collect = async (...options: string[]) => {
        const args = ['gc', '--json', '--gc-grace-seconds', '0', '--data', data, ...options]
        const { code, stdout, stderr } = await carrel(args)
        assert.equal(code, 0, stderr)
        return JSON.parse(stdout)
      }
      const [{ reasons }] = (await collect('--dry-run')).libraries
      assert.match(
        reasons.join(),
        /commits beyond the history limit wait until the activity feed has processed them/,
      )
      let freed = 0
      for (let run = 0; run < MAX_RUNS && freed < 600_000; run += 1) freed += (await collect()).freedBytes
      assert.equal(freed, 600_000)
      await using server = await startServer({ data })
      assert.deepEqual(await feedOf(await server.admin()), expected)
    } finally {
      await rm(data, { recursive: true })
    }
  })
})

describe('carrel gc after a crash of the server', { timeout: 300_000 }, () => {
  it('frees all that the server had given up, and does not wait until its lease lapses', async () => {
    const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-gc-'))
    try {
      const env = { CARREL_ADMIN_EMAIL: ADMIN.email, CARREL_ADMIN_PASSWORD: ADMIN.password }
      const server = await serve(['--data', data, '--rate-limit', 'off'], { env })
      const admin = await Client.signIn(server.url, ADMIN.email, ADMIN.password)
      const library = await admin.createLibrary('Plans')
      await admin.put(`/api2/repos/${library}/history-limit/`, { form: { keep_days: 0 } })
      await uploadFile(admin, library, '/a', randomBytes(200_000))
      await admin.delete(`/api/v2.1/repos/${library}/file/`, { query: { p: '/a' } })
      await server.stop('SIGKILL')
      using db = new DatabaseSync(path.join(data, 'carrel.db'), { readOnly: true })
      const held = db.prepare('select count(*) as leases from operation_lease')
      assert.equal(held.get()?.['leases'], 1)
      let freed = 0
      for (let run = 0; run < MAX_RUNS && freed < 200_000; run += 1) {
        const args = ['gc', '--json', '--gc-grace-seconds', '0', '--data', data]
        const { code, stdout, stderr } = await carrel(args)
        assert.equal(code, 0, stderr)
        freed += JSON.parse(stdout).freedBytes
      }
      assert.deepEqual([freed, held.get()?.['leases']], [200_000, 0])
    } finally {
      await rm(data, { recursive: true })
    }
  })
})

describe('carrel gc with a damaged library', { timeout: 300_000 }, () => {
  it('collects the others, names it and exits with 1', async () => {
    const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-gc-'))
    try {
      const ids: string[] = []
      {
        await using server = await startServer({ data })
        const admin = await server.admin()
        for (const name of ['Damaged', 'Sound']) {
          const library = await admin.createLibrary(name)
          ids.push(library)
          await admin.put(`/api2/repos/${library}/history-limit/`, { form: { keep_days: 0 } })
          await uploadFile(admin, library, '/kept', 'kept')
          await uploadFile(admin, library, '/file', randomBytes(200_000))
          await admin.delete(`/api/v2.1/repos/${library}/file/`, { query: { p: '/file' } })
        }
        await admin.get('/api/v2.1/activities/')
      }
      const db = new DatabaseSync(path.join(data, 'carrel.db'))
      const damaged = 'select key, root from library where id = ?'
      const lose = `delete from fs_object where (library_key, id) in (${damaged})`
      assert.equal(db.prepare(lose).run(ids[0] ?? '').changes, 1)
      db.close()
      let freed = 0
      for (let run = 0; run < MAX_RUNS && freed < 200_000; run += 1) {
        const done = await carrel(['gc', '--json', '--gc-grace-seconds', '0', '--data', data])
        assert.equal(done.code, 1, done.stdout)
        const report = JSON.parse(done.stdout)
        assert.deepEqual(
          report.failures.map(({ library }: { library: string }) => library),
          [ids[0]],
        )
        assert.match(
          done.stderr,
          /^The library Damaged \([-0-9a-f]{36}\) could not be collected, and nothing/,
        )
        freed += report.freedBytes
      }
      assert.equal(freed, 200_000)
      const sound = await carrel(['gc', '--library', ids[1] ?? '', '--data', data])
      assert.equal(sound.code, 0, sound.stderr)
      const unsound = await carrel(['gc', '--library', ids[0] ?? '', '--data', data])
      assert.equal(unsound.code, 1, unsound.stdout)
      const unknown = await carrel(['gc', '--library', crypto.randomUUID(), '--data', data])
      assert.deepEqual(
        [unknown.code, /not the id of a library of this server/.test(unknown.stderr)],
        [2, true],
      )
    } finally {
      await rm(data, { recursive: true })
    }
  })
})

/** What the activity feed shows. */
async function feedOf(client: Client): Promise<string[]> {
  const { body } = await client.get('/api/v2.1/activities/')
  return body.events.map((event: Record<string, string>) => `${event.op_type} ${event.name}`)
}

describe('carrel gc --compact', { timeout: 300_000 }, () => {
  let folder = ''
  let data = ''
  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-gc-'))
    data = path.join(folder, 'data')
  })
  after(() => rm(folder, { recursive: true }))

  const compact = () => carrelProcess(['gc', '--compact', '--json', '--data', data])
  const vacuum = async () => {
    const { stdout } = await carrelProcess(['doctor', '--json', '--data', data, '--port', '0'])
    const { checks } = JSON.parse(stdout) as { checks: { check: string; status: string; remedy?: string }[] }
    return checks.find(({ check }) => check === 'vacuum')
  }

  it('is refused while the server runs, and converts files of earlier versions when it is stopped', async () => {
    {
      await using server = await serve(['--data', data])
      const refused = await compact()
      assert.notEqual(refused.code, 0)
      assert.match(refused.stderr, /in use: stop the server/)
      assert.equal((await server.stop()).code, 0)
    }
    assert.equal((await vacuum())?.status, 'ok')
    // As an earlier version created it.
    const file = path.join(data, 'carrel.db')
    const old = new DatabaseSync(file)
    old.exec('pragma journal_mode = delete; pragma auto_vacuum = none; vacuum; pragma journal_mode = wal')
    old.close()
    const found = await vacuum()
    assert.equal(found?.status, 'warn')
    assert.match(found?.remedy ?? '', /carrel gc --compact/)
    const done = await compact()
    assert.equal(done.code, 0, done.stderr)
    const { files } = JSON.parse(done.stdout) as { files: { file: string; bytesAfter: number }[] }
    assert.equal(files[0]?.file, file)
    assert.equal((await vacuum())?.status, 'ok')
    await using server = await serve(['--data', data])
    assert.equal((await server.stop()).code, 0)
  })
})
