import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { Client } from '../support/client.ts'
import { carrelProcess, serve } from '../support/command.ts'
import { eventually, uploadFile } from '../support/transfer.ts'

const admin = { CARREL_ADMIN_EMAIL: 'root@example.org', CARREL_ADMIN_PASSWORD: 'correct horse battery' }

describe('carrel reindex', { timeout: 300_000 }, () => {
  it('rebuilds indexes while a server runs and without one', async () => {
    const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-reindex-'))
    const settings = ['--data', data, '--rate-limit', 'off']
    const start = async () => {
      const server = await serve(settings, { env: admin })
      return { server, client: await Client.signIn(server.url, 'root@example.org', 'correct horse battery') }
    }
    const findsIt = (client: Client) =>
      eventually(async () => {
        assert.equal((await client.get('/api2/search/', { q: 'lake' })).body.total, 1)
        assert.equal((await client.get('/api2/search/', { q: 'gone' })).body.total, 0)
      })
    try {
      const { server, client } = await start()
      const library = await client.createLibrary('Plans')
      await uploadFile(client, library, '/trip.txt', 'to the lake')
      await uploadFile(client, library, '/gone.txt', 'away')
      await client.delete(`/api2/repos/${library}/file/`, { query: { p: '/gone.txt' } })
      await findsIt(client)
      const trashed = async (from: Client) => (await from.get(`/api/v2.1/repos/${library}/trash/`)).body.data
      const trash = await trashed(client)
      const beside = await carrelProcess(['reindex', '--data', data])
      assert.deepEqual([beside.code, beside.stderr], [0, ''])
      assert.match(
        beside.stdout,
        /^Made the index search of 1 library again\.\nMade the index paths of 1 library again\.\nMade the index photos of 1 library again\.\n$/,
      )
      await findsIt(client)
      assert.deepEqual(await trashed(client), trash)
      await uploadFile(client, library, '/later.txt', 'later')
      assert.equal((await server.stop()).code, 0)

      // Whatever became of the file, it is made again.
      for (const ending of ['-wal', '-shm']) await rm(path.join(data, `search.db${ending}`), { force: true })
      await writeFile(path.join(data, 'search.db'), 'no database at all'.repeat(1000))
      const without = await carrelProcess(['reindex', 'search', '--json', '--data', data])
      assert.deepEqual([without.code, without.stderr], [0, ''])
      assert.deepEqual(JSON.parse(without.stdout), { libraries: { search: 1 }, failures: [] })
      const again = await start()
      await findsIt(again.client)
      assert.deepEqual(await trashed(again.client), trash)
      assert.equal((await again.server.stop()).code, 0)
    } finally {
      await rm(data, { recursive: true, force: true })
    }
  })

  it('continues after a damaged library, names it, and exits with 1', async () => {
    const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-reindex-'))
    try {
      const server = await serve(['--data', data, '--rate-limit', 'off'], { env: admin })
      const client = await Client.signIn(server.url, admin.CARREL_ADMIN_EMAIL, admin.CARREL_ADMIN_PASSWORD)
      const damaged = await client.createLibrary('Damaged')
      const sound = await client.createLibrary('Sound')
      // Different contents, because two equal trees of the same second have the same root.
      await uploadFile(client, damaged, '/lake.txt', 'to the lake')
      await uploadFile(client, sound, '/lake.txt', 'from the lake')
      assert.equal((await server.stop()).code, 0)
      {
        using db = new DatabaseSync(path.join(data, 'carrel.db'))
        const lost = db
          .prepare('delete from fs_object where id = (select root from library where id = ?)')
          .run(damaged)
        assert.equal(lost.changes, 1)
      }
      const { code, stdout, stderr } = await carrelProcess(['reindex', '--json', '--data', data])
      assert.equal(code, 1)
      const { libraries, failures } = JSON.parse(stdout)
      assert.deepEqual(libraries, { search: 1, paths: 1, photos: 1 })
      assert.deepEqual(
        failures.map(({ index, library }: { index: string; library: string }) => [index, library]),
        ['search', 'paths', 'photos'].map((index) => [index, damaged]),
      )
      assert.match(stderr, /The index search of the library Damaged .* could not be made: .*carrel check/)
    } finally {
      await rm(data, { recursive: true, force: true })
    }
  })

  it('lists the indexes when the name is unknown, and reports a folder without data', async () => {
    const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-reindex-'))
    try {
      const unknown = await carrelProcess(['reindex', 'everything', '--data', data])
      assert.notEqual(unknown.code, 0)
      assert.match(unknown.stderr, /search, paths/)
      const empty = await carrelProcess(['reindex', '--data', data])
      assert.notEqual(empty.code, 0)
      assert.match(empty.stderr, /There is no data of Carrel/)
    } finally {
      await rm(data, { recursive: true, force: true })
    }
  })
})
