import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import path from 'node:path'
import { it } from 'node:test'
import { condemnReferences, listReferencesAfter } from '../../src/libraries/content/condemned-store.ts'
import { Client } from '../support/client.ts'
import { carrel } from '../support/command.ts'
import { onBothDatabases } from '../support/databases.ts'
import { ADMIN, startServer, type TestServer } from '../support/server.ts'
import { makeTree, SyncClient } from '../support/sync-client.ts'
import { flagsOf, temporaryFolder } from './support.ts'

/** Enough to condemn objects, and then the references of those objects to blocks. Nothing is deleted within the grace period. */
const COLLECTIONS = 3

async function run(...args: string[]) {
  const done = await carrel(args)
  assert.equal(done.code, 0, `carrel ${args.join(' ')}: ${done.stdout}${done.stderr}`)
  return done.stdout
}

async function collect(server: TestServer): Promise<void> {
  for (let each = 0; each < COLLECTIONS; each++) await server.running.services.gc.runOnce()
}

/** Restores the newest snapshot into a new folder, checks it, and opens it with a server. */
async function restore(target: string, data: string): Promise<TestServer> {
  await run('restore', target, '--data', data)
  await run('check', '--read-data', '--data', data)
  return startServer({ data, env: {} })
}

onBothDatabases('a backup of a server with condemned blocks', (fresh) => {
  it('leaves them out, and stores them once they are in use again', { timeout: 300_000 }, async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using folder = await temporaryFolder()
    const target = path.join(folder.path, 'target')
    const env: Record<string, string> = {}
    if (database.setting?.kind === 'postgres') env['CARREL_DATABASE'] = database.setting.url
    await using server = await startServer({ env })
    const admin = await Client.signIn(server.url, ADMIN.email, ADMIN.password)
    const library = await admin.createLibrary()
    const sync = await SyncClient.link(admin, library)
    const kept = { 'kept.bin': randomBytes(900), 'large.bin': randomBytes(300_000) }
    const deleted = { 'small.bin': randomBytes(900), 'deleted.bin': randomBytes(400_000) }
    const all = { ...kept, folder: deleted }
    await sync.push(all)
    const limit = await admin.put(`/api2/repos/${library}/history-limit/`, { form: { keep_days: 0 } })
    assert.equal(limit.status, 200, limit.text)
    await sync.push(kept)
    await collect(server)

    const first = JSON.parse(await run('backup', target, '--json', ...flagsOf(server)))
    assert.equal(first.blocks.count, 2, 'only the blocks of the current files')
    assert.ok(first.addedBytes < 400_000, `${first.addedBytes} bytes were stored`)
    await run('backup', 'verify', target, '--read-data')
    {
      await using restored = await restore(target, path.join(folder.path, 'first'))
      const reader = await Client.signIn(restored.url, ADMIN.email, ADMIN.password)
      const client = await SyncClient.link(reader, library)
      const files = await client.clone()
      assert.deepEqual(files.get('/large.bin'), kept['large.bin'])
      assert.deepEqual([...files.keys()].sort(), ['/kept.bin', '/large.bin'])
      // A client that has them still is asked for them, objects and blocks alike, and can push them.
      const [then, now] = [makeTree(all, client.email), makeTree(kept, client.email)]
      const gone = (ids: Map<string, unknown>, left: Map<string, unknown>) =>
        [...ids.keys()].filter((id) => !left.has(id)).sort()
      const objects = [...then.objects.keys()]
      const blocks = [...then.blocks.keys()]
      const { body: missing } = await client.call('POST', 'check-fs/', JSON.stringify(objects))
      assert.deepEqual(missing.sort(), gone(then.objects, now.objects))
      const asked = await client.call('POST', 'check-blocks/', JSON.stringify(blocks))
      assert.deepEqual(asked.body.sort(), gone(then.blocks, now.blocks))
      await client.push(all, await client.head())
      assert.deepEqual((await client.clone()).get('/folder/deleted.bin'), deleted['deleted.bin'])
    }

    await sync.push(all, await sync.head())
    const second = JSON.parse(await run('backup', target, '--json', ...flagsOf(server)))
    assert.equal(second.blocks.count, 4)
    await run('backup', 'verify', target, '--read-data')
  })

  it('stores those that a commit reached after they were found unreachable', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using folder = await temporaryFolder()
    const target = path.join(folder.path, 'target')
    const env: Record<string, string> = {}
    if (database.setting?.kind === 'postgres') env['CARREL_DATABASE'] = database.setting.url
    await using server = await startServer({ env })
    const admin = await Client.signIn(server.url, ADMIN.email, ADMIN.password)
    const library = await admin.createLibrary()
    const sync = await SyncClient.link(admin, library)
    const files = { 'small.bin': randomBytes(900), 'large.bin': randomBytes(300_000) }
    await sync.push(files)
    await collect(server)
    // As a collection does whose mark ended before the push, and that writes its results after it.
    const { db } = server.running.services
    const { key } = (await db.get<{ key: number }>('select key from library where id = ?', library)) ?? {}
    assert.ok(key !== undefined)
    const held = await listReferencesAfter(db, key, new Uint8Array(0), 10)
    const condemned = held.map(({ id }) => id)
    assert.equal(await db.write((tx) => condemnReferences(tx, key, condemned, 1)), 2)
    const { blocks } = JSON.parse(await run('backup', target, '--json', ...flagsOf(server)))
    assert.equal(blocks.count, 2)
  })
})
