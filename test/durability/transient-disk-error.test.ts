import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { spawnServer } from '../support/child-server.ts'
import { Client } from '../support/client.ts'
import { FaultInjector } from '../support/fault-injection.ts'
import { cannotBuildShim } from '../support/io-shim.ts'
import { ADMIN } from '../support/server.ts'
import { eventually, filePart, intoRoot, namesIn, postForm, uploadLink } from '../support/transfer.ts'

it('a disk that fails once makes /readyz fail for half a minute, and the same process is ready again', {
  skip: cannotBuildShim(),
}, async () => {
  await using stack = new AsyncDisposableStack()
  const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-transient-'))
  stack.defer(() => rm(data, { recursive: true, force: true }))
  const injector = stack.use(await FaultInjector.create(data))
  const server = stack.use(await spawnServer(data, injector.env))
  const client = await Client.signIn(server.url, ADMIN.email, ADMIN.password)
  const library = await client.createLibrary()
  const link = await uploadLink(client, library)
  // Blocks of small files are in the database.
  const upload = async (name: string) =>
    (await postForm(link, [intoRoot, filePart(name, randomBytes(300_000))])).status
  const disk = async () => {
    const reply = await client.get('/readyz')
    return [reply.status, (reply.body as { checks: { disk: string } }).checks.disk]
  }
  assert.equal(await upload('before'), 200)
  assert.deepEqual(await disk(), [200, 'ok'])
  {
    using fault = injector.inject({ operations: ['create', 'write'], path: 'blocks/*', effect: 'EIO' })
    assert.equal(await upload('refused'), 503)
    assert.ok(fault.hits > 0)
  }
  assert.deepEqual(await disk(), [503, 'unwritable'])
  // What can be stored is stored meanwhile.
  assert.equal(await upload('after'), 200)
  await eventually(async () => assert.deepEqual(await disk(), [200, 'ok']))
  assert.equal(server.process.exitCode, null)
  assert.deepEqual((await namesIn(client, library)).toSorted(), ['after', 'before'])
})
