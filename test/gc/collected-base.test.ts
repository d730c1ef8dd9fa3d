import assert from 'node:assert/strict'
import { it } from 'node:test'
import { startServer } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'

it('a sync client whose last known commit was deleted can still fetch and push, and loses nothing', async () => {
  let now = 1_800_000_000
  await using server = await startServer({ env: { CARREL_GC_GRACE_SECONDS: '100' }, now: () => now })
  const ann = await server.signUp()
  const id = await ann.createLibrary()
  const sync = await SyncClient.link(ann, id)
  const base = await sync.push({ a: 'first', b: 'second' })
  const next = await sync.push({ a: 'changed', c: 'third' }, base)
  await ann.put(`/api2/repos/${id}/history-limit/`, { form: { keep_days: 0 } })
  for (let n = 0; n < 4; n++) {
    await server.running.services.gc.runOnce()
    now += 1000
  }
  assert.equal((await sync.call('GET', `commit/${base}`)).status, 404)
  assert.ok((await sync.listIds(next, base)).length > 0)
  await sync.push({ a: 'first', b: 'second', d: 'offline' }, base)
  const files = [...(await sync.clone()).values()].map(String)
  for (const text of ['changed', 'third', 'offline']) assert.ok(files.includes(text), text)
})
