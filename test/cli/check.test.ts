import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from '../support/client.ts'
import { carrelProcess, serve, start as spawnCommand } from '../support/command.ts'
import { uploadFile } from '../support/transfer.ts'

const admin = { CARREL_ADMIN_EMAIL: 'root@example.org', CARREL_ADMIN_PASSWORD: 'correct horse battery' }

describe('carrel check and carrel repair', { timeout: 300_000 }, () => {
  it('find and repair damage beside a server and without one, and report it by exit codes', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-check-'))
    const [data, backup] = [path.join(folder, 'data'), path.join(folder, 'backup')]
    try {
      const server = await serve(['--data', data, '--rate-limit', 'off'], { env: admin })
      const client = await Client.signIn(server.url, 'root@example.org', 'correct horse battery')
      const library = await client.createLibrary('Plans')
      await uploadFile(client, library, '/trip/photo.bin', Buffer.alloc(100_000, 'photo'))
      const fine = await carrelProcess(['check', '--read-data', '--data', data])
      assert.deepEqual([fine.code, fine.stderr], [0, ''])
      assert.match(
        fine.stdout,
        /^Checked \d+ libraries, \d+ objects and 1 blocks, 100 kB read: 0 findings\.$/m,
      )
      assert.equal((await carrelProcess(['backup', backup, '--data', data])).code, 0)

      for (const name of await readdir(path.join(data, 'blocks'))) {
        if (!/^[0-9a-f]{2}$/.test(name)) continue
        for (const file of await readdir(path.join(data, 'blocks', name))) {
          await rm(path.join(data, 'blocks', name, file))
        }
      }
      const lost = await carrelProcess(['check', '--library', library, '--json', '--data', data])
      assert.equal(lost.code, 1)
      const { ok, findings } = JSON.parse(lost.stdout)
      assert.deepEqual(
        [ok, findings.length, findings[0].kind, findings[0].path],
        [false, 1, 'block-missing', '/trip/photo.bin'],
      )
      assert.deepEqual([findings[0].library, findings[0].current, findings[0].versions], [library, true, 1])
      assert.match(
        (await carrelProcess(['doctor', '--data', data, '--port', '0'])).stdout,
        /^fail {2}stored data {2}1 block is missing or damaged/m,
      )

      const without = await carrelProcess(['repair', '--data', data])
      assert.equal(without.code, 1)
      assert.match(
        without.stdout,
        /Could not be saved:\n {2}block-missing .*\/trip\/photo\.bin \[1 version, current\]/,
      )
      assert.equal((await server.stop()).code, 0)
      const from = await carrelProcess(['repair', '--from', backup, '--json', '--data', data])
      assert.deepEqual([from.code, from.stderr], [0, ''])
      const { repaired, lost: left } = JSON.parse(from.stdout)
      assert.deepEqual([repaired.length, repaired[0].action, left], [1, 'block-restored', []])
      assert.equal((await carrelProcess(['check', '--read-data', '--data', data])).code, 0)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  it('a killed check continues in the library it was in', async () => {
    const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-check-'))
    try {
      const server = await serve(['--data', data, '--rate-limit', 'off'], { env: admin })
      const client = await Client.signIn(server.url, 'root@example.org', 'correct horse battery')
      const library = await client.createLibrary('Plans')
      const files = 20
      for (let number = 0; number < files; number++) {
        await uploadFile(client, library, `/${number}/photo.bin`, randomBytes(100_000))
      }
      assert.equal((await server.stop()).code, 0)
      // Two blocks a second, so that it is killed in the middle.
      const child = spawnCommand(['check', '--rate', '0.2', '--data', data])
      const ended = once(child, 'exit')
      const db = new DatabaseSync(path.join(data, 'carrel.db'), { readOnly: true })
      const saved = db.prepare('select count(*) as n from check_progress')
      while (saved.get()?.['n'] === 0 && child.exitCode === null) await wait(50)
      child.kill('SIGKILL')
      await ended
      assert.notEqual(saved.get()?.['n'], 0)
      const { code, stdout } = await carrelProcess(['check', '--read-data', '--json', '--data', data])
      const { ok, complete, resumed, blocks } = JSON.parse(stdout)
      assert.deepEqual([code, ok, complete, resumed], [0, true, true, true])
      assert.ok(blocks > 0 && blocks < files, `${blocks} of ${files} blocks`)

      const stopped = spawnCommand(['check', '--rate', '0.2', '--json', '--data', data])
      const output = text(stopped.stdout ?? assert.fail())
      while (saved.get()?.['n'] === 0 && stopped.exitCode === null) await wait(50)
      stopped.kill('SIGTERM')
      const [partial] = await once(stopped, 'exit')
      const report = JSON.parse(await output)
      assert.deepEqual([partial, report.ok, report.complete, report.findings], [3, false, false, []])
      db.close()
      // A server was started since, which is reason enough not to trust what was seen before.
      const again = await serve(['--data', data, '--rate-limit', 'off'], { env: admin })
      const anew = JSON.parse(
        (await carrelProcess(['check', '--read-data', '--json', '--data', data])).stdout,
      )
      assert.deepEqual([anew.ok, anew.resumed, anew.blocks], [true, false, files])
      assert.equal((await again.stop()).code, 0)
    } finally {
      await rm(data, { recursive: true, force: true })
    }
  })

  it('exit with 2 where there is nothing to check', async () => {
    const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-check-'))
    try {
      for (const command of ['check', 'repair']) {
        const outcome = await carrelProcess([command, '--data', data])
        assert.equal(outcome.code, 2)
        assert.match(outcome.stderr, /There is no data of Carrel/)
      }
    } finally {
      await rm(data, { recursive: true, force: true })
    }
  })
})
