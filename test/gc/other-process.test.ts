import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { carrel } from '../support/command.ts'
import { onBothDatabases } from '../support/databases.ts'
import { startServer } from '../support/server.ts'
import { makeTree, SyncClient } from '../support/sync-client.ts'

onBothDatabases('what another process has deleted', (fresh) => {
  it('is not served from the caches of this one, which keep the rest', { timeout: 300_000 }, async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    const { setting } = database
    const env: Record<string, string> = {}
    if (setting?.kind === 'postgres') env['CARREL_DATABASE'] = setting.url
    await using server = await startServer({ env })
    const ann = await server.signUp()
    const library = await ann.createLibrary()
    const sync = await SyncClient.link(ann, library)
    const kept = { 'kept.bin': randomBytes(900) }
    const deleted = { 'small.bin': randomBytes(900), 'large.bin': randomBytes(150_000) }
    const before = makeTree({ ...kept, folder: deleted }, sync.email)
    await sync.push({ ...kept, folder: deleted })
    // Reads everything, so that the caches of the server have it.
    assert.equal((await sync.clone()).size, 4)
    for (const id of before.blocks.keys()) assert.equal((await sync.call('GET', `block/${id}`)).status, 200)
    const history = await ann.put(`/api2/repos/${library}/history-limit/`, { form: { keep_days: 0 } })
    assert.equal(history.status, 200, history.text)
    await sync.push(kept)
    // The server renews its lease every 10 seconds. What was condemned since then waits for a later collection.
    for (let waiting = true; waiting; await delay(waiting ? 1000 : 0)) {
      const done = await carrel(['gc', '--json', '--data', server.data, '--gc-grace-seconds', '0'], { env })
      assert.equal(done.code, 0, done.stderr)
      waiting = JSON.parse(done.stdout).waitingBytes > 0
    }
    const after = makeTree(kept, sync.email)
    for (const id of before.blocks.keys()) {
      const { status } = await sync.call('GET', `block/${id}`)
      assert.equal(status === 200, after.blocks.has(id), `the block ${id} was answered with ${status}`)
    }
    for (const id of before.objects.keys()) {
      const found = await sync.call('POST', 'pack-fs/', JSON.stringify([id]))
      assert.equal(found.status === 200, after.objects.has(id), `the object ${id}: ${found.status}`)
    }
    assert.deepEqual([...(await sync.clone()).keys()], ['/kept.bin'])
  })
})
