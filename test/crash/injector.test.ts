import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { describe, it } from 'node:test'
import { spawnServer } from '../support/child-server.ts'
import { Client } from '../support/client.ts'
import { FaultInjector } from '../support/fault-injection.ts'
import { cannotBuildShim } from '../support/io-shim.ts'
import { ADMIN } from '../support/server.ts'
import { postForm, uploadLink } from '../support/transfer.ts'

describe('the fault injector', { skip: cannotBuildShim() }, () => {
  for (const disk of ['plain', 'fast']) {
    it(`reaches every kind of call of a server with the ${disk} disk store`, async () => {
      const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-injector-'))
      try {
        await using injector = await FaultInjector.create(data)
        await using server = await spawnServer(data, { ...injector.env, CARREL_DISK: disk })
        const client = await Client.signIn(server.url, ADMIN.email, ADMIN.password)
        const link = await uploadLink(client, await client.createLibrary())
        // Faults that never hit count the calls.
        const count = (operation: 'create' | 'write' | 'sync' | 'syncFolder' | 'rename', pattern: string) =>
          injector.inject({ operations: [operation], path: pattern, effect: 'EIO', count: 0 })
        const counted = [
          count('write', 'carrel.db-wal'),
          count('sync', 'carrel.db-wal'),
          count('create', 'blocks/tmp/*'),
          count('write', 'blocks/tmp/*'),
          count('sync', 'blocks/tmp/*'),
          count('rename', 'blocks/??/*'),
          count('syncFolder', 'blocks/??'),
        ]
        const bytes = Buffer.alloc(3_000_000, 7)
        assert.equal((await postForm(link, [['parent_dir', '/'], { filename: 'a', bytes }])).status, 200)
        assert.deepEqual(
          counted.map((fault) => fault.seen > 0),
          counted.map(() => true),
        )
      } finally {
        await rm(data, { recursive: true, force: true })
      }
    })
  }
})
