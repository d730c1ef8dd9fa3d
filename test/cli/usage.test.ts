import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { Client } from '../support/client.ts'
import { carrelProcess, serve } from '../support/command.ts'
import { uploadFile } from '../support/transfer.ts'

const admin = { CARREL_ADMIN_EMAIL: 'root@example.org', CARREL_ADMIN_PASSWORD: 'correct horse battery' }

describe('carrel usage', { timeout: 300_000 }, () => {
  it('counts while a server runs, as text and as JSON', async () => {
    const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-usage-'))
    const without = await carrelProcess(['usage', '--data', data])
    assert.equal(without.code, 1)
    assert.match(without.stderr, /There is no data of Carrel/)
    const server = await serve(['--data', data, '--rate-limit', 'off'], { env: admin })
    const root = await Client.signIn(server.url, 'root@example.org', 'correct horse battery')
    const library = await root.createLibrary()
    await uploadFile(root, library, '/a.txt', 'x'.repeat(1500))
    await uploadFile(root, library, '/b.txt', 'y'.repeat(500))
    await root.delete(`/api/v2.1/repos/${library}/file/?p=/b.txt`)
    const printed = await carrelProcess(['usage', '--data', data])
    assert.equal(printed.code, 0, printed.stderr)
    assert.match(printed.stdout, /root@example\.org\s+1\s+1\.5 kB\s+500 bytes/)
    assert.match(printed.stdout, /Stored: 2 kB in 2 blocks, each counted once\./)
    const json = JSON.parse((await carrelProcess(['usage', '--data', data, '--json'])).stdout) as object
    assert.deepEqual(json, {
      storedBytes: 2000,
      storedBlocks: 2,
      accounts: [
        {
          email: 'root@example.org',
          libraries: 1,
          currentBytes: 1500,
          trashBytes: 500,
          historyBytes: 0,
          unreferencedBytes: 0,
          sharedBytes: 0,
          deletedBytes: 0,
        },
      ],
    })
    const why = await carrelProcess(['usage', '--data', data, '--why', library])
    assert.equal(why.code, 0, why.stderr)
    assert.match(why.stdout, /current\s+1\.5 kB {2}in files as they are now/)
    assert.match(why.stdout, /trash\s+500 bytes {2}in deleted files that can be restored; kept for ever/)
    await root.delete(`/api2/repos/${library}/`)
    const deleted = await carrelProcess(['usage', '--data', data, '--json', '--why', library])
    const { kept } = JSON.parse(deleted.stdout) as { kept: { what: string; bytes: number; why: string }[] }
    assert.deepEqual(
      kept.map(({ what, bytes }) => [what, bytes]),
      [
        ['current', 1500],
        ['trash', 500],
      ],
    )
    assert.match(kept[0]?.why ?? '', /was deleted on .*; purged on /)
    const unknown = await carrelProcess([
      'usage',
      '--data',
      data,
      '--why',
      '00000000-0000-4000-8000-000000000000',
    ])
    assert.equal(unknown.code, 1)
    assert.match(unknown.stderr, /There is no library/)
    assert.equal((await server.stop()).code, 0)
    await rm(data, { recursive: true })
  })

  it('says since when bytes are condemned, when they are freed, and who holds them back', async () => {
    const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-usage-'))
    {
      await using server = await serve(['--data', data, '--rate-limit', 'off'], { env: admin })
      const root = await Client.signIn(server.url, 'root@example.org', 'correct horse battery')
      const library = await root.createLibrary()
      await uploadFile(root, library, '/a.txt', 'x'.repeat(1500))
      await root.delete(`/api/v2.1/repos/${library}/file/?p=/a.txt`)
      await root.put(`/api2/repos/${library}/history-limit/`, { form: { keep_days: 0 } })
      const began = Math.floor(Date.now() / 1000)
      const grace = ['--gc-grace-seconds', '5000']
      assert.equal((await carrelProcess(['gc', '--data', data, ...grace])).code, 0)
      using database = new DatabaseSync(path.join(data, 'carrel.db'), { timeout: 30_000 })
      const soon = Math.floor(Date.now() / 1000) + 60
      database
        .prepare('insert into operation_lease (node, oldest_at, renewed_at) values (?, ?, ?)')
        .run('backup or restore/4711/archive/1', began - 100, soon)
      const why = ['usage', '--why', library, '--data', data, ...grace]
      const printed = await carrelProcess(why)
      assert.match(
        printed.stdout,
        /condemned\s+1\.5 kB {2}in a block that nothing refers to, condemned since 20/,
      )
      assert.match(printed.stdout, /operation of a backup or restore began \(process 4711 on archive\)/)
      const { kept } = JSON.parse((await carrelProcess([...why, '--json'])).stdout) as {
        kept: { what: string; bytes: number; since?: number; goesAt?: number }[]
      }
      const condemned = kept.find(({ what }) => what === 'condemned')
      assert.equal(condemned?.bytes, 1500)
      assert.ok(Number(condemned.since) >= began)
      // The grace period, and that of the bytes, twice.
      assert.ok(Number(condemned.goesAt) >= Number(condemned.since) + 5000 + 2 * 900)
      assert.deepEqual(
        kept.filter(({ what }) => what === 'in use').map(({ bytes, since }) => [bytes, since]),
        [[1500, began - 100]],
      )
      assert.equal(
        kept.find(({ what }) => what === 'unreferenced'),
        undefined,
      )
    }
    await rm(data, { recursive: true })
  })
})
